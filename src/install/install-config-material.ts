/** What an install-config is made of beside the site: from the files that the site names, or masked to be shown. */
import { resolve } from 'node:path'
import type { SiteConfig } from '../config/site-configuration.ts'
import type { SiteSecrets } from '../config/site-secret-values.ts'
import { readTextFile } from '../config/yaml-document.ts'
import { KnownError } from '../errors/known-error.ts'
import type { MirrorEntry } from '../openshift/image-mirror-set.ts'
import { registryHost } from './pull-secret.ts'
import type { InstallConfigMaterial } from './render-install-config.ts'

export interface MaterialSource {
  /** What paths in the site are relative to. */
  readonly directory: string
  /** Default: `release.version` of the site. */
  readonly version?: string | undefined
  /** Of an embedded mirror, as stage 05 made them: they win over what the site names. Absolute paths. */
  readonly mirrorAuthFile?: string | undefined
  readonly mirrorCaFile?: string | undefined
  readonly mirrorSources?: readonly MirrorEntry[] | undefined
}

/** @throws KnownError FILE_UNREADABLE; CONFIG_INVALID where no version is known */
export async function gatherMaterial(
  site: SiteConfig,
  source: MaterialSource,
  secrets: SiteSecrets,
): Promise<InstallConfigMaterial> {
  const read = (path: string | undefined) =>
    path === undefined ? undefined : readTextFile(resolve(source.directory, path))
  const { mirror, release } = site
  return {
    ...(await plainMaterial(site, source)),
    pullSecrets: {
      mirror: (await read(source.mirrorAuthFile)) ?? secretValue(mirror?.credentials, secrets),
      // On the closed side it is not there, and has no business there.
      release: site.variant === 'disconnected' ? undefined : secretValue(release.pullSecret, secrets),
    },
    secretOf: (name) => secretValue(name, secrets),
  }
}

/** As `gatherMaterial`, without reading any secret: each is `***`. */
export async function maskedMaterial(site: SiteConfig, source: MaterialSource): Promise<InstallConfigMaterial> {
  const login = (...hosts: string[]) =>
    JSON.stringify({ auths: Object.fromEntries(hosts.map((host) => [host, { auth: '***' }])) })
  const isAsked = site.release.pullSecret !== undefined || site.mirror === undefined
  return {
    ...(await plainMaterial(site, source)),
    pullSecrets: {
      mirror: site.mirror && login(registryHost(site.mirror.registry)),
      release: isAsked ? login('quay.io', 'registry.redhat.io') : undefined,
    },
    secretOf: () => '***:***',
  }
}

type PlainMaterial = Omit<InstallConfigMaterial, 'pullSecrets' | 'secretOf'>

async function plainMaterial(site: SiteConfig, source: MaterialSource): Promise<PlainMaterial> {
  const read = (path: string | undefined) =>
    path === undefined ? undefined : readTextFile(resolve(source.directory, path))
  const bundles = await Promise.all([
    read(source.mirrorCaFile ?? site.mirror?.ca),
    read(site.cluster?.additionalTrustBundle),
  ])
  return {
    version: versionOf(site, source),
    sshPublicKey: await read(site.cluster?.sshPublicKey),
    trustBundles: bundles.filter((text) => text !== undefined),
    ...(source.mirrorSources && { mirrorSources: source.mirrorSources }),
  }
}

function versionOf({ release }: SiteConfig, { version }: MaterialSource): string {
  const ofChannel = /-(\d+\.\d+)$/.exec(release.channel ?? '')?.[1]
  const known = version ?? release.version ?? ofChannel
  if (known !== undefined) return known
  throw new KnownError(
    'CONFIG_INVALID',
    'release.image does not say which version it is, and install-config depends on it',
    {
      hint: 'Say it with --release VERSION.',
    },
  )
}

function secretValue(name: string | undefined, { values, missing }: SiteSecrets): string | undefined {
  if (name === undefined) return undefined
  const why = missing.get(name)
  if (why !== undefined)
    throw new KnownError('CONFIG_INVALID', `secrets.${name}: ${why}`, {
      hint: 'Put the secret there, and run the same command again.',
    })
  return values.get(name)
}
