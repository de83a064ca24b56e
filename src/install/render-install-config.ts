/** install-config.yaml out of a site. Pure: secrets are handed in, and are in what comes out. */
import { stringify } from 'yaml'
import type { SiteConfig } from '../config/site-configuration.ts'
import { KnownError } from '../errors/known-error.ts'
import type { MirrorEntry } from '../openshift/image-mirror-set.ts'
import { clusterProxy } from './cluster-proxy.ts'
import { type RenderedPlatform, renderPlatform } from './install-config-platform.ts'
import { clusterPullSecret, type PullSecrets } from './pull-secret.ts'
import { minorOf } from './release-minor.ts'

export interface InstallConfigMaterial {
  /** Of the release that is installed: decides how mirrors and subnets are written. */
  readonly version: string
  readonly pullSecrets: PullSecrets
  /** Text of the public key that may log in to nodes. */
  readonly sshPublicKey?: string | undefined
  /** PEM: the authority of the mirror, and what the site adds. */
  readonly trustBundles?: readonly string[]
  /** Out of the mirror's cluster resources. Default: where sallyport and oc-mirror put a release. */
  readonly mirrorSources?: readonly MirrorEntry[]
  /** Value of a secret by its name under `secrets`. */
  readonly secretOf: (name: string) => string | undefined
}

/** imageDigestSources is read from 4.14 on, sourcePolicy from 4.21. */
const digestSourcesSince = 14
const sourcePolicySince = 21

/**
 * The text of an install-config that the installer of that version takes.
 *
 * @throws KnownError CONFIG_INVALID where the site has no cluster, the version is none, or a secret that it takes is missing
 */
export function renderInstallConfig(site: SiteConfig, material: InstallConfigMaterial): string {
  const { cluster } = site
  const minor = minorOf(material.version)
  if (cluster === undefined) throw invalid(`variant ${site.variant} without the section cluster installs nothing`)
  if (minor === undefined) throw invalid(`"${material.version}" is no version of a release`)
  const proxy = clusterProxy(site, site.proxy?.credentials && material.secretOf(site.proxy.credentials))
  const bundle = joinBundles(material.trustBundles ?? [])
  const { platform, ...becauseOfIt }: RenderedPlatform = renderPlatform(site, material)
  const { capabilities, fips } = cluster
  const key = material.sshPublicKey?.trim()
  return stringify(
    {
      apiVersion: 'v1',
      metadata: { name: site.name },
      baseDomain: site.baseDomain,
      ...becauseOfIt,
      ...(fips && { fips }),
      ...(capabilities && { capabilities }),
      networking: { networkType: 'OVNKubernetes', ...cluster.networking },
      ...poolsOf(site),
      platform,
      ...(proxy && { proxy }),
      ...mirrorsOf(site, { entries: material.mirrorSources, minor }),
      ...(bundle !== '' && { additionalTrustBundlePolicy: 'Always', additionalTrustBundle: bundle }),
      pullSecret: clusterPullSecret(site, material.pullSecrets),
      ...(key && { sshKey: key }),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  )
}

function poolsOf({ cluster, release }: SiteConfig): object {
  const architecture = release.architecture === 'multi' ? 'amd64' : release.architecture
  const pool = (name: string, replicas: number) => ({ name, replicas, architecture, platform: {} })
  return {
    controlPlane: pool('master', cluster?.controlPlaneReplicas ?? 3),
    compute: [pool('worker', cluster?.computeReplicas ?? 0)],
  }
}

interface MirrorWish {
  readonly entries: readonly MirrorEntry[] | undefined
  readonly minor: number
}

/** One of the two fields, never both: the installer refuses that. */
function mirrorsOf({ mirror }: SiteConfig, { entries, minor }: MirrorWish): object {
  if (mirror === undefined) return {}
  const sources = (entries ?? usualSources(mirror.registry)).map(({ source, mirrors, mirrorSourcePolicy }) => ({
    source,
    mirrors: [...mirrors],
    ...(mirrorSourcePolicy && minor >= sourcePolicySince && { sourcePolicy: mirrorSourcePolicy }),
  }))
  const sorted = sources.sort((a, b) => (a.source < b.source ? -1 : 1))
  return minor >= digestSourcesSince ? { imageDigestSources: sorted } : { imageContentSources: sorted }
}

/** Where a release stands at a mirror (openshift/oc-mirror v2 `internal/pkg/release`). */
function usualSources(registry: string): readonly MirrorEntry[] {
  return [
    { source: 'quay.io/openshift-release-dev/ocp-release', mirrors: [`${registry}/openshift/release-images`] },
    { source: 'quay.io/openshift-release-dev/ocp-v4.0-art-dev', mirrors: [`${registry}/openshift/release`] },
  ]
}

/** Each certificate once, without what stands between: the installer takes nothing behind the last. */
function joinBundles(texts: readonly string[]): string {
  const blocks = texts.flatMap((text) =>
    [...text.matchAll(/-----BEGIN CERTIFICATE-----\r?\n[\s\S]*?-----END CERTIFICATE-----/g)].map(([pem]) =>
      pem.replaceAll('\r', ''),
    ),
  )
  return [...new Set(blocks)].map((pem) => `${pem}\n`).join('')
}

function invalid(message: string): KnownError {
  return new KnownError('CONFIG_INVALID', message)
}
