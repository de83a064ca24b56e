/**
 * The place of the quickstart: one directory with an upstream registry that calls itself quay.io, a mirror with TLS and a
 * password, and the files that an administrator would have on both sides of the gap.
 */
import { mkdir, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { Log } from '../host/log.ts'
import { parseMirrorTarget } from '../mirror/destination.ts'
import { type Workspace, workspaceAt } from '../mirror/workspace.ts'
import type { Digest } from '../oci/digest.ts'
import { releaseSources } from '../quickstart/sample-release.ts'
import type { RegistriesConf } from '../registries/registries-conf.ts'
import { renderRegistriesConf } from '../registries/render.ts'
import { createAccount } from '../registry/account.ts'
import { selfSignedCertificate } from '../registry/certificate.ts'
import { type RunningRegistry, startRegistry } from '../registry/server.ts'
import { credentialsFromFiles } from '../remote/auth-file.ts'
import { createRegistryClient, type RegistryClient } from '../remote/client.ts'
import { createWebClient } from '../remote/web-client.ts'
import { loadReleaseKeys } from '../trust/release-key.ts'
import { makeSampleSigner } from '../trust/sample-signer.ts'
import { SignatureStore, signatureStores } from '../trust/signature-store.ts'
import { ReleaseTrust } from './release-trust.ts'

export interface SiteOptions {
  /** An empty directory, or one to be made. */
  readonly directory: string
  readonly clock: Clock
  readonly log: Log
}

/** Where everything is. */
export interface SiteFiles {
  readonly directory: string
  readonly config: string
  readonly workspace: string
  readonly clusterResources: string
  /** Directory of the mirror's registry. */
  readonly mirrorStore: string
  readonly ca: string
  readonly username: string
  readonly passwordFile: string
  readonly authFile: string
  /** What the installer would have made for a cluster of this site. */
  readonly bootstrap: string
  /** Signatures of releases, as a store has them, and the key that they are verified with. */
  readonly signatures: string
  readonly releaseKey: string
  /** registries.conf by which quay.io is the upstream. */
  readonly upstreamConf: string
  /** registries.conf that the cluster resources give to every node. */
  readonly nodeConf: string
}

const username = 'admin'
/** What a cluster calls the mirror: on the machines of a cluster, 127.0.0.1 would be these machines. */
export const mirrorName = 'mirror.quickstart.test'
const hosts = ['localhost', '127.0.0.1', '::1', mirrorName]
/** Two stores of some 30 MiB, and room for what a file system adds to 3000 small files. */
const neededBytes = 128 * 1024 * 1024

export class QuickstartSite {
  readonly files: SiteFiles
  readonly workspace: Workspace
  readonly mirror: RunningRegistry
  /** Talks to both registries: it trusts the CA of the mirror and knows its password. */
  readonly client: RegistryClient
  readonly #options: SiteOptions
  #upstream: RunningRegistry | undefined
  #upstreamPort = 0

  private constructor(options: SiteOptions, files: SiteFiles, mirror: RunningRegistry) {
    this.#options = options
    this.files = files
    this.mirror = mirror
    this.workspace = workspaceAt(files.workspace, options.directory)
    this.client = createRegistryClient({
      ...options,
      credentials: credentialsFromFiles({ env: {}, authFile: files.authFile }),
      tls: { certsDirs: [], caFile: files.ca },
      proxies: { noProxy: '' },
    })
  }

  /**
   * Makes the directory and starts the mirror.
   *
   * @throws KnownError USAGE for a directory with something in it, FILE_UNREADABLE, DISK_FULL, LISTEN_FAILED
   */
  static async open(options: SiteOptions): Promise<QuickstartSite> {
    const { directory, clock, log } = options
    await prepareDirectory(directory)
    const root = join(directory, 'mirror')
    const [tls, account] = await Promise.all([
      selfSignedCertificate({ root, hosts, clock }),
      createAccount(root, username),
    ])
    if (account === undefined) throw notEmpty(directory)
    const mirror = await startRegistry({ root, tls, htpasswd: account.htpasswd, clock, log })
    const files: SiteFiles = {
      directory,
      config: join(directory, 'isc.yaml'),
      workspace: join(directory, 'workspace'),
      clusterResources: join(directory, 'workspace', 'working-dir', 'cluster-resources'),
      mirrorStore: root,
      ca: tls.caFile,
      username,
      passwordFile: account.passwordFile,
      authFile: join(directory, 'auth.json'),
      bootstrap: join(directory, 'bootstrap.ign'),
      signatures: join(directory, 'signatures'),
      releaseKey: join(directory, 'release-key.asc'),
      upstreamConf: join(directory, 'upstream-registries.conf'),
      nodeConf: join(directory, 'node-registries.conf'),
    }
    try {
      const password = (await readFile(account.passwordFile, 'utf8')).trim()
      await writeFile(files.authFile, authFileText(mirror.address, password), { mode: 0o600 })
      return new QuickstartSite(options, files, mirror)
    } catch (error) {
      await mirror.close(0)
      throw error
    }
  }

  /** `HOST:PORT/ocp`, where the release goes. */
  get target(): ReturnType<typeof parseMirrorTarget> {
    return parseMirrorTarget(`docker://${this.mirror.address}/ocp`)
  }

  get upstreamAddress(): string | undefined {
    return this.#upstream?.address
  }

  /** Starts the upstream, the second time where it was before, and writes the registries.conf that leads to it. */
  async startUpstream(): Promise<string> {
    if (this.#upstream) return this.#upstream.address
    const { directory, clock, log } = this.#options
    const listen = { host: '127.0.0.1', port: this.#upstreamPort }
    const upstream = await startRegistry({ root: join(directory, 'upstream'), listen, clock, log })
    this.#upstream = upstream
    this.#upstreamPort = Number(new URL(upstream.url).port)
    await writeFile(this.files.upstreamConf, renderRegistriesConf(asQuay(upstream.address)))
    return upstream.address
  }

  /** Signs a release with a key of this run; gives the id of the key. */
  async publishSignature(digest: Digest, reference: string): Promise<string> {
    const signer = await makeSampleSigner('Sallyport quickstart')
    const directory = join(this.files.signatures, digest.replace(':', '='))
    await mkdir(directory, { recursive: true })
    await writeFile(this.files.releaseKey, signer.publicKey)
    await writeFile(join(directory, 'signature-1'), await signer.sign(digest, reference))
    return signer.keyId
  }

  /** Reads signatures from this directory, and nothing from the web. */
  openTrust(): { readonly trust: ReleaseTrust; readonly close: () => void } {
    const { clock, log } = this.#options
    const web = createWebClient({ clock, log, tls: { certsDirs: [] }, proxies: { noProxy: '' } })
    const trust = new ReleaseTrust({
      signatures: new SignatureStore({ client: web, stores: signatureStores(this.files.signatures) }),
      keys: () => loadReleaseKeys(this.files.releaseKey),
      clock,
      isIgnored: false,
    })
    return { trust, close: () => web.close() }
  }

  async stopUpstream(): Promise<void> {
    const upstream = this.#upstream
    this.#upstream = undefined
    await upstream?.close(0)
  }

  async close(): Promise<void> {
    this.client.close()
    await Promise.all([this.stopUpstream(), this.mirror.close(0)])
  }
}

function asQuay(address: string): RegistriesConf {
  const prefix = releaseSources.registry
  const entry = { prefix, location: address, insecure: true, blocked: false, mirrorByDigestOnly: false, mirrors: [] }
  return { registries: [{ ...entry, origin: 'quickstart' }] }
}

function authFileText(address: string, password: string): string {
  const auth = Buffer.from(`${username}:${password}`).toString('base64')
  return `${JSON.stringify({ auths: { [address]: { auth } } }, undefined, 2)}\n`
}

async function prepareDirectory(directory: string): Promise<void> {
  const elsewhere = 'Name a directory on a disk with room that this user may write to: --dir DIR.'
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    if ((await readdir(directory)).length > 0) throw notEmpty(directory)
    const { bavail, bsize } = await statfs(directory)
    if (bavail * bsize >= neededBytes) return
    const free = Math.floor((bavail * bsize) / 1024 / 1024)
    const message = `${directory}: ${free} MiB are free, the quickstart needs ${neededBytes / 1024 / 1024} MiB`
    throw new KnownError('DISK_FULL', message, { hint: elsewhere, details: { directory } })
  } catch (cause) {
    if (cause instanceof KnownError) throw cause
    if (!hasSystemCode(cause, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOSPC', 'EDQUOT')) throw cause
    throw new KnownError('FILE_UNREADABLE', `Cannot make files in ${directory}`, { hint: elsewhere, cause })
  }
}

function notEmpty(directory: string): KnownError {
  return new KnownError('USAGE', `${directory} is not empty`, {
    hint: 'Name a new directory with --dir, or remove this one if nothing in it is needed.',
    details: { directory },
  })
}

/** Removes what `QuickstartSite.open` made. */
export async function removeSite(directory: string): Promise<void> {
  await rm(directory, { recursive: true, force: true, maxRetries: 3 })
}
