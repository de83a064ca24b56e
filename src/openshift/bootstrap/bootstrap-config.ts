/**
 * What a bootstrap.ign says, as the host will read it: one typed view over its files, scripts, units and manifests.
 *
 * Of any installer from 4.2 on: nothing here goes by a version, everything by what stands in this file. The value holds
 * secrets (`files`, `credentials.secretText`, …): print what you pick from it, never all of it.
 */
import type { IgnitionConfig } from '../../ignition/config.ts'
import { type BootstrapFiles, type Evidence, lineAt, readBootstrapFiles } from './bootstrap-file.ts'
import { type BootstrapRegistries, bootstrapRegistries } from './bootstrap-registries.ts'
import {
  type BootstrapCredentials,
  bootstrapCredentials,
  type ProxyEnvironment,
  proxyEnvironment,
  type TrustAnchor,
  trustAnchors,
} from './bootstrap-trust.ts'
import { type BootstrapUnit, readBootstrapUnits } from './bootstrap-units.ts'
import { type ClusterFacts, clusterFacts } from './cluster-facts.ts'
import { type Manifest, readManifests } from './manifests.ts'
import { type NamedReleaseImage, releaseImages } from './release-image.ts'

export interface BootstrapConfig {
  /** Names the config in messages. */
  readonly fileName: string
  readonly files: BootstrapFiles
  /** Targets of links, by path. */
  readonly links: ReadonlyMap<string, string>
  readonly units: readonly BootstrapUnit[]
  readonly manifests: readonly Manifest[]
  /** What release-image.service pulls; absent where no script names one. */
  readonly releaseImage?: NamedReleaseImage
  /** Where scripts disagree: what the others name. */
  readonly otherReleaseImages: readonly NamedReleaseImage[]
  readonly registries: BootstrapRegistries
  readonly trustAnchors: readonly TrustAnchor[]
  readonly credentials?: BootstrapCredentials
  readonly proxy?: ProxyEnvironment
  readonly cluster: ClusterFacts
  readonly hosts: readonly HostsEntry[]
  readonly distribution: 'ocp' | 'okd'
  readonly features: BootstrapFeatures
}

export interface HostsEntry {
  readonly address: string
  readonly names: readonly string[]
  readonly at: Evidence
}

/** What this bootstrap does that others do not, by what is in the file. */
export interface BootstrapFeatures {
  /** 4.19 and later: the host gets kubelet, oc and CRI-O out of the node image before anything else starts. */
  readonly hasNodeImagePull: boolean
  /** 4.8 and later: services leave records under /var/log/openshift. */
  readonly hasServiceRecords: boolean
  /** 4.21 and later: containers log to files; the journal has less of them. */
  readonly hasContainerLogFiles: boolean
  /** A single node that installs itself (bootstrap-in-place). */
  readonly isInPlace: boolean
  /** OKD of before 4.19: the host rebases itself and reboots before bootkube. */
  readonly hasPivot: boolean
}

/** @param options.fileName names the config in messages */
export function readBootstrap(config: IgnitionConfig, { fileName }: { readonly fileName: string }): BootstrapConfig {
  const files = readBootstrapFiles(config)
  const manifests = readManifests(files)
  const [releaseImage, ...otherReleaseImages] = releaseImages(files)
  const credentials = bootstrapCredentials(files)
  const proxy = proxyEnvironment(files)
  return {
    fileName,
    files,
    links: new Map((config.storage?.links ?? []).map(({ path, target }) => [path, target ?? ''])),
    units: readBootstrapUnits(config, files),
    manifests,
    ...(releaseImage !== undefined && { releaseImage }),
    otherReleaseImages,
    registries: bootstrapRegistries(files),
    trustAnchors: trustAnchors(files),
    ...(credentials !== undefined && { credentials }),
    ...(proxy !== undefined && { proxy }),
    cluster: clusterFacts(files, manifests, releaseImage),
    hosts: hostsEntries(files),
    distribution: isOkd(files, releaseImage) ? 'okd' : 'ocp',
    features: featuresOf(files),
  }
}

const bin = '/usr/local/bin'

function featuresOf(files: BootstrapFiles): BootstrapFeatures {
  const text = (name: string) => files.get(`${bin}/${name}`)?.text ?? ''
  return {
    hasNodeImagePull: files.has(`${bin}/node-image-pull.sh`),
    hasServiceRecords: files.has(`${bin}/bootstrap-service-record.sh`),
    hasContainerLogFiles: text('bootkube.sh').includes('--log-driver=k8s-file'),
    isInPlace: files.has(`${bin}/bootstrap-in-place.sh`) || files.has(`${bin}/install-to-disk.sh`),
    hasPivot: files.has(`${bin}/bootstrap-pivot.sh`) || text('release-image-download.sh').includes('pivot'),
  }
}

/** The node image has another name in OKD; older ones are known by where their release comes from, or their pivot. */
function isOkd(files: BootstrapFiles, release: NamedReleaseImage | undefined): boolean {
  if (/^coreos_img=stream-coreos/m.test(files.get(`${bin}/node-image-pull.sh`)?.text ?? '')) return true
  if (featuresOf(files).hasPivot) return true
  return /(?:^|\/)(?:okd|okd-scos|origin)\b/.test(release?.text ?? '')
}

function hostsEntries(files: BootstrapFiles): readonly HostsEntry[] {
  const file = files.get('/etc/hosts')
  if (file === undefined) return []
  return [...file.text.matchAll(/^[ \t]*([0-9a-fA-F][^\s#]*)[ \t]+([^#\n]+)/gm)].map(
    ({ index, 1: address = '', 2: names = '' }) => {
      const at = { file: file.path, line: lineAt(file.text, index) }
      return { address, names: names.trim().split(/\s+/), at }
    },
  )
}
