/**
 * Whom to trust, host by host: the machine's CAs, plus `certs.d/HOST[:PORT]/*.crt`; client certificates are
 * `*.cert` with the `*.key` of the same name.
 *
 * Source: containers-certs.d(5); containers/image pkg/tlsclientconfig and docker/docker_client.go:dockerCertDir (the first
 * directory that has the host is used alone). Bundle files: Go crypto/x509/root_linux.go.
 */
import { X509Certificate } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SecureContext, SecureContextOptions } from 'node:tls'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Env } from '../host/env.ts'
import { tls } from '../host/web-modules.ts'

export interface TlsOptions {
  /** `certs.d` directories, the first that knows a host wins. */
  readonly certsDirs: readonly string[]
  /** A directory with the files of every host: no `certs.d` is looked at then. */
  readonly certDir?: string | undefined
  /** Replaces the machine's bundle, as SSL_CERT_FILE does. */
  readonly caFile?: string | undefined
  /** Further bundles, trusted for every host. */
  readonly extraCaFiles?: readonly string[]
  /** PEM texts in the place of the machine's bundle: what another machine trusts. */
  readonly roots?: readonly string[] | undefined
}

const systemBundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
]

/** What containers/image looks at: the user's own directory first. */
export function tlsOptionsFromEnv(env: Env): TlsOptions {
  const config = env['XDG_CONFIG_HOME'] || (env['HOME'] ? join(env['HOME'], '.config') : undefined)
  const user = config === undefined ? [] : [join(config, 'containers', 'certs.d')]
  return {
    certsDirs: [...user, '/etc/containers/certs.d', '/etc/docker/certs.d'],
    caFile: env['SSL_CERT_FILE'] || undefined,
  }
}

export class TlsSettings {
  readonly #options: TlsOptions
  readonly #contexts = new Map<string, Promise<SecureContext>>()
  #roots: Promise<readonly string[]> | undefined

  constructor(options: TlsOptions) {
    this.#options = options
  }

  /**
   * @param host `host` or `host:port`, as in the URL
   * @param isInsecure nobody's word is asked for, so that the bundles need not be read
   * @throws KnownError FILE_UNREADABLE, REGISTRY_TLS
   */
  contextFor(host: string, isInsecure = false): Promise<SecureContext> {
    const key = `${isInsecure} ${host}`
    const known = this.#contexts.get(key)
    if (known !== undefined) return known
    const made = this.#makeContext(host, isInsecure)
    this.#contexts.set(key, made)
    return made
  }

  async #makeContext(host: string, isInsecure: boolean): Promise<SecureContext> {
    if (!isInsecure) this.#roots ??= this.#loadRoots()
    const roots = isInsecure ? [] : await this.#roots
    const own = await this.#hostFiles(host)
    try {
      // OpenSSL passes over what is no certificate, and the handshake would fail without saying why.
      for (const pem of own.ca) new X509Certificate(pem)
      const ca = [...(roots ?? []), ...own.ca]
      // Go, as which such a machine's podman decides, takes any certificate of its pool for the end of a chain.
      return tls().createSecureContext({ ...own, ca, allowPartialTrustChain: this.#options.roots !== undefined })
    } catch (cause) {
      throw new KnownError('REGISTRY_TLS', `${host}: a certificate file for this host cannot be used`, {
        details: { host },
        cause,
        hint: `Look at the files in ${this.#options.certDir ?? this.#options.certsDirs.join(', ')} for ${host}: they must be PEM.`,
      })
    }
  }

  async #loadRoots(): Promise<readonly string[]> {
    const { caFile, extraCaFiles = [], roots } = this.#options
    if (roots !== undefined) return roots
    const base = caFile === undefined ? await firstBundle() : [await readPem(caFile)]
    return [...base, ...(await Promise.all(extraCaFiles.map(readPem)))]
  }

  async #hostFiles(host: string): Promise<HostFiles> {
    const { certDir, certsDirs } = this.#options
    if (certDir !== undefined) return (await hostFilesIn(certDir)) ?? unreadable(certDir)
    for (const directory of certsDirs) {
      const files = await hostFilesIn(join(directory, host))
      if (files !== undefined) return files
    }
    return { ca: [] }
  }
}

type HostFiles = Pick<SecureContextOptions, 'cert' | 'key'> & { ca: string[] }

/** The files for one host; undefined where there is no such directory. */
async function hostFilesIn(directory: string): Promise<HostFiles | undefined> {
  const names = await list(directory)
  if (names === undefined) return undefined
  const read = (name: string) => readPem(join(directory, name))
  const ca = await Promise.all(names.filter((name) => name.endsWith('.crt')).map(read))
  const certificates = names.filter((name) => name.endsWith('.cert'))
  const cert = await Promise.all(certificates.map(read))
  const key = await Promise.all(certificates.map((name) => read(name.replace(/\.cert$/, '.key'))))
  return { ca, ...(cert.length > 0 && { cert, key }) }
}

function unreadable(directory: string): never {
  throw new KnownError('FILE_UNREADABLE', `${directory}: the directory with the certificates cannot be read`, {
    details: { file: directory },
  })
}

async function firstBundle(): Promise<readonly string[]> {
  for (const path of systemBundles) {
    try {
      return [await readFile(path, 'utf8')]
    } catch (error) {
      if (!hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) throw error
    }
  }
  return tls().rootCertificates
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new KnownError('FILE_UNREADABLE', `${path}: the certificate file cannot be read`, {
      details: { file: path },
      cause,
    })
  }
}

/** File names in a fixed order, or undefined where there is no such directory (or none that this user may see). */
async function list(directory: string): Promise<readonly string[] | undefined> {
  try {
    return (await readdir(directory)).toSorted()
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return undefined
    throw error
  }
}
