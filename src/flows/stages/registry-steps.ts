/** Stage 05: the mirror registry: served here, or one that is there already and is asked whether it will do. */
import { resolve } from 'node:path'
import { z } from 'zod'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { machineAddresses } from '../../host/network.ts'
import { secretBytes } from '../../host/random.ts'
import { digestOf } from '../../oci/digest.ts'
import { selfSignedCertificate } from '../../registry/certificate.ts'
import { credentialsFromFiles } from '../../remote/auth-file.ts'
import { createRegistryClient } from '../../remote/client.ts'
import { tlsOptionsFromEnv } from '../../remote/tls-settings.ts'
import { defineStep, type StepContext } from '../../workflow/step.ts'
import { CredentialsMade, MirrorMade } from './bastion-outputs.ts'
import { NetworkMade } from './infrastructure-outputs.ts'
import { machineOf } from './machine.ts'
import { pathAt } from './places.ts'
import { makingOf, type StageParts, splitHost } from './stage-parts.ts'

const serverName = 'mirror'

/** With TLS by a CA of its own, and a password. */
export function serveMirrorStep(parts: StageParts) {
  return defineStep({
    title: 'the mirror registry, with TLS and a password',
    version: 1,
    where: 'bastion',
    input: z.strictObject({
      network: NetworkMade.optional(),
      credentials: CredentialsMade,
      registry: z.string(),
      path: z.string(),
      /** Place of its store. */
      root: z.string(),
    }),
    output: MirrorMade,
    policy: { timeoutMs: 10 * 60_000 },
    async apply({ network, registry, path, root: place }, context) {
      const root = pathAt(parts, context, place)
      const { host, port } = splitHost(registry)
      const hosts = [...new Set([host, ...(network?.addresses.bastion ?? machineAddresses())])]
      const tls = await selfSignedCertificate({ root, hosts, clock: parts.clock })
      const reached = reachedAt(registry, network)
      const listen = reached ?? `0.0.0.0:${port}`
      const names = hosts.flatMap((name) => ['--san', name])
      const words = ['registry', 'serve', '--root', root, '--listen', listen, '--self-signed', ...names]
      const argv = [...parts.self, ...words]
      const server = { site: 'bastion', name: serverName, argv, env: {}, ports: [port] } as const
      await (await machineOf(parts, context)).serve(server, makingOf(context, 'bastion'))
      return { registry, target: targetOf(registry, path), ca: tls.caFile, ...(reached !== undefined && { reached }) }
    },
    holds: async (_, __, context) => (await machineOf(parts, context)).isServing(serverName),
  })
}

/** Of a lab without a network of its own. */
export function reachedAt(registry: string, network: NetworkMade | undefined): string | undefined {
  return network?.mode === 'loopback' ? `127.0.0.1:${splitHost(registry).port}` : undefined
}

function targetOf(registry: string, path: string): string {
  return path === '' ? registry : `${registry}/${path}`
}

/** Reachable, trusted, and ready to take a push: asked before the images are carried to it. */
export function givenMirrorStep(parts: StageParts) {
  return defineStep({
    title: 'the mirror registry: reached, trusted, may push',
    version: 1,
    where: 'bastion',
    input: z.strictObject({
      credentials: CredentialsMade,
      registry: z.string(),
      path: z.string(),
      /** As `sallyport.yaml` names it. */
      ca: z.string().optional(),
    }),
    output: MirrorMade,
    policy: { timeoutMs: 10 * 60_000, retry: { attempts: 3, firstDelayMs: 5_000 } },
    async apply({ credentials, registry, path, ca }, context) {
      const caFile = ca === undefined ? undefined : resolve(parts.directory, ca)
      const target = targetOf(registry, path)
      await probePush(parts, { target, caFile, authFile: credentials.authFile }, context).catch((error: unknown) => {
        throw saidOfSite(parts.site, error)
      })
      context.print(`${target} takes a push\n`)
      return { registry, target, ...(ca !== undefined && { ca: `site:${ca}` }) }
    },
  })
}

/** What Node says of a chain that ends in an authority that nobody named. */
const untrusted = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

/** The registry client knows flags and certs.d; the files of this mirror are those that `sallyport.yaml` names. */
function saidOfSite({ mirror, secrets }: StageParts['site'], error: unknown): unknown {
  if (!(error instanceof KnownError) || mirror === undefined) return error
  const { registry, ca, credentials } = mirror
  const [host = ''] = registry.split('/')
  const told = (hint: string) =>
    new KnownError(error.code, error.message, { hint, details: error.details, cause: error })
  if (error.code === 'FILE_UNREADABLE') return told('It is the one that sallyport.yaml names: mirror.ca.')
  if (error.code === 'REGISTRY_TLS' && hasSystemCode(error.cause, ...untrusted)) {
    return told(
      ca === undefined
        ? 'Name the PEM file of the authority that its certificate is from in sallyport.yaml: mirror.ca.'
        : `The authority that its certificate is from is not in ${ca} (mirror.ca of sallyport.yaml): put it there, as PEM.`,
    )
  }
  if (error.code !== 'REGISTRY_UNAUTHORIZED') return error
  const file = credentials === undefined ? undefined : (secrets[credentials]?.file ?? 'FILE')
  return told(
    file === undefined
      ? 'Name a secret with a login for it in sallyport.yaml: mirror.credentials.'
      : `podman login --authfile ${file} ${host} writes another login to where sallyport.yaml has it (secrets.${credentials}).`,
  )
}

interface Probe {
  readonly target: string
  readonly caFile: string | undefined
  readonly authFile: string
}

/** An upload that is begun and given up: the registry says whether it would take one, and keeps nothing. */
async function probePush({ clock, log, env }: StageParts, probe: Probe, { signal }: StepContext): Promise<void> {
  const { target, caFile, authFile } = probe
  const client = createRegistryClient({
    clock,
    log,
    credentials: credentialsFromFiles({ env: {}, authFile }),
    tls: { ...tlsOptionsFromEnv(env), ...(caFile !== undefined && { extraCaFiles: [caFile] }) },
    proxies: { noProxy: '' },
  })
  try {
    await client.ping(target, signal)
    const [registry = '', ...path] = target.split('/')
    const repository = [...path, 'openshift', 'release'].join('/')
    const place = { registry, repository }
    const digest = digestOf(secretBytes(16))
    const nothing = { mediaType: 'application/octet-stream', digest, size: 16 }
    await client.mountBlob(place, nothing, place, signal)
  } finally {
    client.close()
  }
}
