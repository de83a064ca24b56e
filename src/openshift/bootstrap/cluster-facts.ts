/**
 * What a bootstrap config says of the cluster: its names, platform, architecture and version.
 *
 * Source: openshift/installer `pkg/asset/manifests/{infrastructure,dns,clusterconfig}.go`, `pkg/asset/ignition/bootstrap/common.go`.
 */
import { parse, YAMLError } from 'yaml'
import { isRecord, type PlainRecord, textAt } from '../plain-record.ts'
import { goArchitecture, parseReleaseTag } from '../release-tag.ts'
import { type BootstrapFiles, findLine } from './bootstrap-file.ts'
import { type Manifest, manifestDocument } from './manifests.ts'
import type { NamedReleaseImage } from './release-image.ts'

export interface ClusterNames {
  /** `CLUSTER.BASE`: what api, api-int and *.apps stand before. */
  readonly domain?: string
  readonly cluster?: string
  /** Host names, without scheme and port. */
  readonly api?: string
  readonly apiInt?: string
  /** `HOST:22623`, where machines of this cluster get their configs. */
  readonly machineConfigServer?: string
  /** Of the machines: cluster and five letters. */
  readonly infrastructure?: string
}

export interface ClusterFacts {
  readonly names: ClusterNames
  /** As the install-config names it, in lower case: `none`, `aws`, `vsphere`, … */
  readonly platform?: string
  /** As Go names it, or `multi`: of the control plane, else of the tag of the release. */
  readonly architecture?: string
  /** `4.18`: of the installer, else of the channel, else of the tag of the release. */
  readonly minor?: string
  /** `stable-4.18` */
  readonly channel?: string
  readonly isFips: boolean
  /** The install-config in the ConfigMap cluster-config-v1, as the installer cleaned it. */
  readonly installConfig?: PlainRecord
}

export function clusterFacts(
  files: BootstrapFiles,
  manifests: readonly Manifest[],
  release: NamedReleaseImage | undefined,
): ClusterFacts {
  const document = (kind: string, name: string) => {
    const found = manifests.find((manifest) => manifest.kind === kind && manifest.name === name)
    return found === undefined ? undefined : manifestDocument(found)
  }
  const installConfig = parsed(textAt(document('ConfigMap', 'cluster-config-v1'), 'data', 'install-config'))
  const infrastructure = document('Infrastructure', 'cluster')
  const channel = textAt(document('ClusterVersion', 'version'), 'spec', 'channel')
  const installer = textAt(document('ConfigMap', 'openshift-install-manifests'), 'data', 'version')
  const tag = release?.reference?.tag
  const minor = [installer, channel, tag].map(minorOf).find((found) => found !== undefined)
  const platform = platformOf(installConfig) ?? textAt(infrastructure, 'status', 'platform')?.toLowerCase()
  const architecture =
    textAt(installConfig, 'controlPlane', 'architecture') ??
    (tag === undefined ? undefined : parseReleaseTag(tag).architecture)
  return {
    names: clusterNames({ files, manifests, installConfig, infrastructure, dns: document('DNS', 'cluster') }),
    ...(platform !== undefined && { platform }),
    ...(architecture !== undefined && { architecture: goArchitecture(architecture) }),
    ...(minor !== undefined && { minor }),
    ...(channel !== undefined && { channel }),
    isFips: installConfig?.['fips'] === true || /"fips":\s*true/.test(files.get(fipsFile)?.text ?? ''),
    ...(installConfig !== undefined && { installConfig }),
  }
}

const fipsFile = '/etc/ignition-machine-config-encapsulated.json'

function parsed(text: string | undefined): PlainRecord | undefined {
  try {
    const document: unknown = text === undefined ? undefined : parse(text, { logLevel: 'error' })
    return isRecord(document) ? document : undefined
  } catch (error) {
    if (error instanceof YAMLError || error instanceof ReferenceError) return undefined
    throw error
  }
}

/** The one key of `platform`. */
function platformOf(installConfig: PlainRecord | undefined): string | undefined {
  const platform = installConfig?.['platform']
  return isRecord(platform) ? Object.keys(platform)[0] : undefined
}

/** `stable-4.18`, `v4.18.9`, `4.18.0-0.nightly-…`, `unreleased-master-…-g0123`. */
function minorOf(text: string | undefined): string | undefined {
  return /(?:^|[-v])([4-9]\.\d+)(?![\d])/.exec(text ?? '')?.[1]
}

interface NameSources {
  readonly files: BootstrapFiles
  readonly manifests: readonly Manifest[]
  readonly installConfig: PlainRecord | undefined
  readonly infrastructure: PlainRecord | undefined
  readonly dns: PlainRecord | undefined
}

/** Scripts first: it is their names that the bootstrap host asks DNS for. */
function clusterNames({ files, manifests, installConfig, infrastructure, dns }: NameSources): ClusterNames {
  const bootkube = files.get('/usr/local/bin/bootkube.sh')
  const api =
    hostOf(findLine(bootkube, /^API_SERVER_URL="?([^"\s]+)/m)?.value) ??
    hostOf(textAt(infrastructure, 'status', 'apiServerURL')) ??
    hostOf(serverOf(files, 'kubeconfig-admin'))
  const apiInt =
    hostOf(findLine(bootkube, /^API_INT_SERVER_URL="?([^"\s]+)/m)?.value) ??
    hostOf(textAt(infrastructure, 'status', 'apiServerInternalURI')) ??
    hostOf(serverOf(files, 'kubeconfig-kubelet')) ??
    hostOf(serverOf(files, 'kubeconfig'))
  const domain = textAt(dns, 'spec', 'baseDomain') ?? [api, apiInt].map(domainOf).find((found) => found !== undefined)
  const cluster = textAt(installConfig, 'metadata', 'name') ?? domain?.split('.')[0]
  const infrastructureName = textAt(infrastructure, 'status', 'infrastructureName')
  const machineConfigServer = machineConfigServerOf(manifests) ?? (apiInt === undefined ? undefined : `${apiInt}:22623`)
  return {
    ...(domain !== undefined && { domain }),
    ...(cluster !== undefined && { cluster }),
    ...(api !== undefined && { api }),
    ...(apiInt !== undefined && { apiInt }),
    ...(machineConfigServer !== undefined && { machineConfigServer }),
    ...(infrastructureName !== undefined && { infrastructure: infrastructureName }),
  }
}

/** `https://api.x:6443`, `api.x:6443` or `api.x`. */
function hostOf(url: string | undefined): string | undefined {
  const host = /^(?:https?:\/\/)?(\[[^\]]+\]|[^:/\s]+)/.exec(url ?? '')?.[1]
  return host === 'localhost' || host === '127.0.0.1' ? undefined : host
}

function domainOf(host: string | undefined): string | undefined {
  return /^api(?:-int)?\.(.+)$/.exec(host ?? '')?.[1]
}

function serverOf(files: BootstrapFiles, name: string): string | undefined {
  return findLine(files.get(`/opt/openshift/auth/${name}`), /^\s*server:\s*"?([^"\s]+)/m)?.value
}

/** From the pointer configs that the machine sets get: the VIP where the platform has one. */
function machineConfigServerOf(manifests: readonly Manifest[]): string | undefined {
  const secret = manifests.find(({ kind, name }) => kind === 'Secret' && name.endsWith('-user-data'))
  const userData = secret === undefined ? undefined : textAt(manifestDocument(secret), 'data', 'userData')
  if (userData === undefined) return undefined
  const pointer = Buffer.from(userData, 'base64').toString('utf8')
  return /https?:\/\/([^"/\s]+)\/config\//.exec(pointer)?.[1]
}
