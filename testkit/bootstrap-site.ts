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
import { componentNames } from '../src/quickstart/component-names.ts'
import { bootstrapComponents } from '../src/quickstart/sample-bootstrap/bootkube-script.ts'
import { sampleBootstrap } from '../src/quickstart/sample-bootstrap/bootstrap-config.ts'
import type { BootstrapEra, SampleBootstrapOptions } from '../src/quickstart/sample-bootstrap/bootstrap-options.ts'
import { sampleTlsAssets } from '../src/quickstart/sample-bootstrap/tls-assets.ts'
import { releaseSources, type SampleRelease } from '../src/quickstart/sample-release.ts'
import { type BootstrapMirror, type ScriptedMirror, startScriptedMirror } from './bootstrap-mirror.ts'
import { startEmbeddedMirror } from './embedded-mirror.ts'
import { makeSignature } from './image.ts'
import { makeRelease } from './release-payload.ts'
import type { ScriptedContent } from './scripted-protocol.ts'
import type { RepositoryContent } from './seed.ts'
import { makeSiteAuthority, type SiteAuthority, type SiteCertificate } from './site-certificates.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'

export interface BootstrapSiteOptions {
  /** Default: 4.21. */
  readonly era?: BootstrapEra
  /** `small`: what the bootstrap host asks for, and a few more. `whole`: 190. Default: small. */
  readonly components?: 'small' | 'whole'
  /** Of the payload. Default: amd64. */
  readonly architecture?: string
  /** What the mirror takes for now, and what its certificate is valid around. Default: that of the system. */
  readonly clock?: Clock
  /** How long before `clock` the installer ran. Default: a minute. */
  readonly bootstrapAgeMs?: number
  /** What stands in the bootstrap.ign otherwise. */
  readonly bootstrap?: Partial<SampleBootstrapOptions>
}

export interface BootstrapSite<Mirror extends BootstrapMirror = ScriptedMirror> {
  readonly era: BootstrapEra
  readonly clock: Clock
  /** `127.0.0.1:PORT` */
  readonly address: string
  /** `mirror.lab.test:PORT`, as references write it. */
  readonly mirrorHost: string
  readonly mirror: Mirror
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

/** With a mirror that can lie, and be broken while it runs. */
export function startBootstrapSite(t: Cleanup, options: BootstrapSiteOptions = {}): Promise<BootstrapSite> {
  const { clock = systemClock } = options
  return siteAround(t, options, async (certificate, content) => {
    const mirror = await startScriptedMirror(t, { certificate, auth: { kind: 'basic', ...credentials }, clock })
    await fill(mirror.content, content)
    return mirror
  })
}

/** With our own registry as the mirror, whose `Date` is that of the system. */
export function startEmbeddedBootstrapSite(
  t: Cleanup,
  options: BootstrapSiteOptions = {},
): Promise<BootstrapSite<BootstrapMirror>> {
  return siteAround(t, options, (certificate, content) => startEmbeddedMirror(t, { certificate, credentials, content }))
}

type MirrorStart<Mirror> = (certificate: SiteCertificate, content: readonly RepositoryContent[]) => Promise<Mirror>

async function siteAround<Mirror extends BootstrapMirror>(
  t: Cleanup,
  options: BootstrapSiteOptions,
  startMirror: MirrorStart<Mirror>,
): Promise<BootstrapSite<Mirror>> {
  const { era = '4.21', clock = systemClock, bootstrapAgeMs = 60_000 } = options
  const authority = await makeSiteAuthority({ now: clock.now(), name: 'Lab mirror CA' })
  const certificate = await authority.issue({ hosts: [mirrorName], commonName: mirrorName })
  const release = siteRelease(era, options)
  const mirror = await startMirror(certificate, contentOf(release))
  const mirrorHost = `${mirrorName}:${mirror.port}`
  const releaseImage = `${releaseSources.registry}/${releaseSources.images}@${release.image.digest}`
  const { bootstrap = {} } = options
  const ignition = sampleBootstrap({
    era,
    releaseImage,
    tls: await sampleTlsAssets({ ...bootstrap, seed: 'site', notBefore: clock.now() - bootstrapAgeMs }),
    trustBundle: authority.pem,
    pullSecret: pullSecretFor(mirrorHost, credentials),
    digestSources: digestSourcesFor(mirrorHost),
    sshKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHNhbXBsZSBrZXkgdGhhdCBvcGVucyBub3RoaW5nICAg core@lab.test'],
    ...bootstrap,
  })
  const path = join(await tempDir(t), 'bootstrap.ign')
  await writeFile(path, ignition, { mode: 0o600 })
  const { clusterName = 'demo', baseDomain = 'lab.test' } = bootstrap
  const names = [mirrorName, `api.${clusterName}.${baseDomain}`, `api-int.${clusterName}.${baseDomain}`]
  return {
    ...{ era, clock, mirrorHost, mirror, authority, credentials, release, releaseImage, ignition, path },
    address: `127.0.0.1:${mirror.port}`,
    ca: authority.pem,
    via: Object.fromEntries(names.map((name) => [name, '127.0.0.1'])),
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
  const others = components === 'small' ? furtherComponents : componentNames
  const names = [...new Set([...bootstrapComponents(era), ...others])]
  const made =
    releases.get(key) ??
    makeRelease({
      seed: 'bootstrap site',
      version: `${era}.9`,
      architecture,
      components: names.slice(0, componentNames.length),
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
