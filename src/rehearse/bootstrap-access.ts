/**
 * The network as the bootstrap host of a config would see it: its registries.conf, its trust, its credentials, its proxies and
 * its hosts file; of the machine that rehearses only the names that nothing else knows.
 */
import { lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { Log } from '../host/log.ts'
import { tls } from '../host/web-modules.ts'
import type { BootstrapConfig } from '../openshift/bootstrap/bootstrap-config.ts'
import type { RegistriesConf } from '../registries/registries-conf.ts'
import { readPayloadFolder } from '../release/extract-payload.ts'
import { credentialsFromText } from '../remote/auth-file.ts'
import { createRegistryClient, type RegistryClient } from '../remote/client.ts'
import { type CredentialsProvider, noCredentials } from '../remote/credentials.ts'
import { type ProxySettings, proxiesFromEnv } from '../remote/proxy.ts'
import { mirrorsOfFile } from './mirror-file.ts'
import { isPublicRegistry } from './public-registries.ts'
import { type ProbedHost, probeHost } from './pull/host-probe.ts'
import { ImagePuller, type Pull } from './pull/image-puller.ts'
import { trustedAuthorities } from './pull/judge-certificate.ts'
import type { ReadRelease, StandInWorld } from './stand-ins/world.ts'

export interface AccessSettings {
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  /** Of the bootstrap host, as Go names it. */
  readonly architecture: string
  /** Addresses of names that the machine here cannot resolve: `--via`. */
  readonly via: ReadonlyMap<string, string>
  /** For a connection, and for every answer, in milliseconds. */
  readonly timeoutMs: number
  /** Ask registries of the Internet too. */
  readonly isConnected: boolean
}

export type BootstrapAccess = Pick<StandInWorld, 'pull' | 'pullAsOc' | 'release' | 'resolveName' | 'architecture'> & {
  readonly puller: ImagePuller
  /** Of every host that was looked at so far. */
  readonly probed: () => Promise<readonly ProbedHost[]>
  readonly probe: (host: string, insecure: boolean) => Promise<ProbedHost>
  readonly isOutside: (registry: string) => boolean
  readonly close: () => void
}

/** Nothing is asked before the first question. */
export function openBootstrapAccess(bootstrap: BootstrapConfig, settings: AccessSettings): BootstrapAccess {
  const { clock, signal, architecture, timeoutMs, isConnected } = settings
  const credentials = credentialsOf(bootstrap)
  const roots = [...tls().rootCertificates, ...anchorsOf(bootstrap)]
  const proxies = proxiesOf(bootstrap)
  const resolveName = nameResolver(bootstrap, settings.via)
  const lookup = lookupFunction(resolveName)
  const client = createRegistryClient({
    clock,
    log: settings.log,
    credentials,
    tls: { certsDirs: [], roots },
    proxies,
    lookup,
    limits: {
      connectTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      retries: { attempts: 2, connectAttempts: 1, firstDelayMs: 100, maxDelayMs: 200, maxRetryAfterMs: 500 },
    },
  })
  const probes = new Map<string, Promise<ProbedHost>>()
  const probe = (host: string, insecure: boolean) => {
    const key = `${insecure} ${host}`
    const known = probes.get(key)
    if (known !== undefined) return known
    const asked = probeHost(host, insecure, { roots, proxies, lookup, clock, timeoutMs, signal })
    probes.set(key, asked)
    return asked
  }
  const isOutside = (registry: string) => !isConnected && isPublicRegistry(registry)
  const pullerFor = (conf: RegistriesConf) =>
    new ImagePuller({ conf, client, credentials, probe, isOutside, architecture, signal })
  const { conf } = bootstrap.registries
  const puller = pullerFor(conf)
  const ocPullers = new Map<string | undefined, ImagePuller>()
  return {
    architecture,
    puller,
    probe,
    isOutside,
    resolveName,
    probed: () => Promise.all(probes.values()),
    pull: async (reference) => refusedBy(bootstrap, reference) ?? puller.pull(reference),
    pullAsOc: (reference, file) => {
      const known = ocPullers.get(file) ?? pullerFor(mirrorsOfFile(bootstrap, file))
      ocPullers.set(file, known)
      return known.pull(reference)
    },
    release: once(() => readRelease(bootstrap, { puller, client, architecture, signal })),
    close: () => client.close(),
  }
}

/** podman, CRI-O and ostree end with a registries.conf that does not load before they ask anybody. */
function refusedBy({ registries }: BootstrapConfig, reference: string): Pull | undefined {
  const [error] = registries.errors
  if (error === undefined) return undefined
  const message = `initializing source docker://${reference}: loading registries configuration: ${error.message}`
  return { kind: 'failed', reference, message, endpoints: [], error }
}

function credentialsOf({ credentials }: BootstrapConfig): CredentialsProvider {
  if (credentials === undefined || credentials.flaw !== undefined) return noCredentials
  try {
    return credentialsFromText(credentials.secretText, credentials.path)
  } catch (error) {
    if (error instanceof KnownError) return noCredentials
    throw error
  }
}

function anchorsOf({ trustAnchors }: BootstrapConfig): readonly string[] {
  return trustAnchors.flatMap(({ pem, registry }) => (registry === undefined ? trustedAuthorities(pem) : [pem]))
}

function proxiesOf({ proxy }: BootstrapConfig): ProxySettings {
  const { secretHttpProxy, secretHttpsProxy, noProxy = [] } = proxy ?? {}
  return proxiesFromEnv({ HTTP_PROXY: secretHttpProxy, HTTPS_PROXY: secretHttpsProxy, NO_PROXY: noProxy.join(',') })
}

type ResolveName = StandInWorld['resolveName']

/** `--via` first, then the hosts file of the config, then the machine here. */
function nameResolver({ hosts }: BootstrapConfig, via: ReadonlyMap<string, string>): ResolveName {
  return async (name) => {
    if (isIP(name) !== 0) return [name]
    const given = via.get(name)
    if (given !== undefined) return [given]
    const own = hosts.filter(({ names }) => names.includes(name)).map(({ address }) => address)
    if (own.length > 0) return own
    try {
      return (await systemLookup(name, { all: true })).map(({ address }) => address)
    } catch {
      return []
    }
  }
}

function lookupFunction(resolveName: ResolveName): LookupFunction {
  return (hostname, options, callback) => {
    void resolveName(hostname).then((addresses) => {
      const [first] = addresses
      if (first === undefined) {
        const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: 'ENOTFOUND', hostname })
        return callback(error, '')
      }
      if (options.all !== true) return callback(null, first, isIP(first))
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      )
    })
  }
}

interface ReleaseAccess {
  readonly puller: ImagePuller
  readonly client: RegistryClient
  readonly architecture: string
  readonly signal: AbortSignal
}

/** What the release image says of itself, read from the place that serves it. */
async function readRelease(bootstrap: BootstrapConfig, access: ReleaseAccess): Promise<ReadRelease | KnownError> {
  const { puller, client, architecture, signal } = access
  const named = bootstrap.releaseImage
  if (named === undefined) return new KnownError('RELEASE_ABSENT', `${bootstrap.fileName} names no release image`)
  const pull: Pull = await puller.pull(named.text)
  if (pull.kind === 'failed') return pull.error ?? new KnownError('RELEASE_ABSENT', pull.message)
  try {
    const { registry, repository } = pull.endpoint
    const place = { registry, repository, digest: pull.digest }
    const source = pull.insecure ? client.insecurely() : client
    const { payload, files } = await readPayloadFolder(place, { source, signal, architecture })
    return { payload, imageReferences: files.get('image-references')?.toString('utf8') ?? '' }
  } catch (error) {
    if (error instanceof KnownError && error.code !== 'INTERRUPTED') return error
    throw error
  }
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
