/**
 * A site in which a cluster could be bootstrapped: a mirror that holds a release under the paths of oc-mirror, and a
 * bootstrap.ign made for it. Nothing of it needs a DNS server: `via` says where its names are.
 *
 *     const site = await startBootstrapSite(t)
 *     sallyport rehearse site.path --via mirror.lab.test=127.0.0.1 …
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../src/host/clock.ts'
import { bootstrapComponents } from '../src/quickstart/sample-bootstrap/bootkube-script.ts'
import { sampleBootstrap } from '../src/quickstart/sample-bootstrap/bootstrap-config.ts'
import type { BootstrapEra, SampleBootstrapOptions } from '../src/quickstart/sample-bootstrap/bootstrap-options.ts'
import { sampleTlsAssets } from '../src/quickstart/sample-bootstrap/tls-assets.ts'
import { releaseSources, type SampleRelease } from '../src/quickstart/sample-release.ts'
import { type ScriptedMirror, startScriptedMirror } from './bootstrap-mirror.ts'
import { makeSignature } from './image.ts'
import { makeRelease } from './release-payload.ts'
import type { ScriptedContent } from './scripted-protocol.ts'
import type { RepositoryContent } from './seed.ts'
import { makeSiteAuthority, type SiteAuthority } from './site-certificates.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'

export interface BootstrapSiteOptions {
  /** Default: 4.21. */
  readonly era?: BootstrapEra
  /** `small`: what the bootstrap host asks for, and a few more. `whole`: 190. Default: small. */
  readonly components?: 'small' | 'whole'
  /** Of the payload. Default: amd64. */
  readonly architecture?: string
  /** When the bootstrap.ign was made, what the mirror's certificate is valid around, and what the mirror takes for now. */
  readonly clock?: Clock
  /** What stands in the bootstrap.ign otherwise. */
  readonly bootstrap?: Partial<SampleBootstrapOptions>
}

export interface BootstrapSite {
  readonly era: BootstrapEra
  readonly clock: Clock
  /** `127.0.0.1:PORT` */
  readonly address: string
  /** `mirror.lab.test:PORT`, as references write it. */
  readonly mirrorHost: string
  readonly mirror: ScriptedMirror
  readonly authority: SiteAuthority
  /** PEM: what the trust bundle of the bootstrap.ign holds. */
  readonly ca: string
  readonly credentials: { readonly username: string; readonly password: string }
  readonly release: SampleRelease
  /** By digest, with the name that the installer has. */
  readonly releaseImage: string
  /** Text, and where it is. */
  readonly ignition: string
  readonly path: string
  /** Address by host name: the mirror's, `api` and `api-int`. */
  readonly via: Readonly<Record<string, string>>
}

export const mirrorName = 'mirror.lab.test'
/** Where oc-mirror puts a release below `ocp`. */
export const mirrorRepositories = {
  images: 'ocp/openshift/release-images',
  components: 'ocp/openshift/release',
} as const

const credentials = { username: 'mirror', password: 'opens the mirror' }

export async function startBootstrapSite(t: Cleanup, options: BootstrapSiteOptions = {}): Promise<BootstrapSite> {
  const { era = '4.21', clock = systemClock } = options
  const authority = await makeSiteAuthority({ now: clock.now(), name: 'Lab mirror CA' })
  const certificate = await authority.issue({ hosts: [mirrorName], commonName: mirrorName })
  const mirror = await startScriptedMirror(t, { certificate, auth: { kind: 'basic', ...credentials }, clock })
  const release = siteRelease(era, options)
  await fill(mirror.content, contentOf(release))
  const mirrorHost = `${mirrorName}:${mirror.port}`
  const releaseImage = `${releaseSources.registry}/${releaseSources.images}@${release.image.digest}`
  const { bootstrap = {} } = options
  const tls = await sampleTlsAssets({ ...bootstrap, seed: 'site', notBefore: clock.now() })
  const ignition = sampleBootstrap({
    era,
    releaseImage,
    tls,
    trustBundle: authority.pem,
    pullSecret: pullSecretFor(mirrorHost, credentials),
    digestSources: digestSourcesFor(mirrorHost),
    sshKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNhbXBsZSBrZXkgdGhhdCBvcGVucyBub3RoaW5nICAg core@lab.test'],
    ...bootstrap,
  })
  const path = join(await tempDir(t), 'bootstrap.ign')
  await writeFile(path, ignition, { mode: 0o600 })
  return {
    era,
    clock,
    address: `127.0.0.1:${mirror.port}`,
    mirrorHost,
    mirror,
    authority,
    ca: authority.pem,
    credentials,
    release,
    releaseImage,
    ignition,
    path,
    via: { [mirrorName]: '127.0.0.1', 'api.demo.lab.test': '127.0.0.1', 'api-int.demo.lab.test': '127.0.0.1' },
  }
}

/** Text of a pull secret for one host. */
export function pullSecretFor(host: string, { username, password }: BootstrapSite['credentials']): string {
  return JSON.stringify({ auths: { [host]: { auth: Buffer.from(`${username}:${password}`).toString('base64') } } })
}

function digestSourcesFor(mirrorHost: string) {
  const source = (name: string) => `${releaseSources.registry}/${name}`
  return [
    { source: source(releaseSources.images), mirrors: [`${mirrorHost}/${mirrorRepositories.images}`] },
    { source: source(releaseSources.components), mirrors: [`${mirrorHost}/${mirrorRepositories.components}`] },
  ]
}

const releases = new Map<string, SampleRelease>()

/** Releases are determined by their options: each is made once in a process. */
function siteRelease(era: BootstrapEra, options: BootstrapSiteOptions): SampleRelease {
  const { components = 'small', architecture = 'amd64' } = options
  const key = `${era} ${components} ${architecture}`
  const names = [...new Set([...bootstrapComponents(era), ...furtherComponents])]
  const made =
    releases.get(key) ??
    makeRelease({
      seed: 'bootstrap site',
      version: `${era}.9`,
      architecture,
      components: components === 'small' ? names : 190,
      sharedBases: 3,
      sharedLayerBytes: 2000,
      layerBytes: 300,
    })
  releases.set(key, made)
  return made
}

/** On the host of a bootstrap only where the platform is one without load balancers, or on nodes. */
const furtherComponents = [
  'baremetal-runtimecfg',
  'cli',
  'cluster-version-operator',
  'coredns',
  'haproxy-router',
  'keepalived-ipfailover',
  'rhel-coreos',
]

function contentOf(release: SampleRelease): readonly RepositoryContent[] {
  return [
    { repository: mirrorRepositories.components, images: release.components.map(({ image }) => image) },
    { repository: mirrorRepositories.images, images: [release.image, makeSignature(release.image)] },
  ]
}

async function fill(content: ScriptedContent, repositories: readonly RepositoryContent[]): Promise<void> {
  for (const { repository, images } of repositories) {
    for (const { descriptor, open } of images.flatMap(({ blobs }) => blobs)) {
      if (!content.blobs.has(descriptor.digest))
        content.blobs.set(descriptor.digest, Buffer.concat(await Array.fromAsync(open())))
      content.links.add(`${repository}@${descriptor.digest}`)
    }
    for (const { descriptor, bytes, tag } of images.flatMap(({ manifests }) => manifests)) {
      content.manifests.set(`${repository}@${descriptor.digest}`, { bytes, mediaType: descriptor.mediaType })
      if (tag !== undefined) content.tags.set(`${repository}:${tag}`, descriptor.digest)
    }
  }
}
