/**
 * The registries.conf that the nodes of this cluster will have, from the manifests in the bootstrap config.
 *
 * The machine config controller that runs on the bootstrap host reads mirror sets and the image configuration among
 * /opt/openshift/manifests and /opt/openshift/openshift, and refuses all of them where one is wrong.
 *
 * Source: openshift/machine-config-operator `pkg/controller/bootstrap/bootstrap.go`, `pkg/controller/container-runtime-config`;
 * of 4.12 and before `vendor/github.com/openshift/runtime-utils/pkg/registries/registries.go`.
 */
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { Reference } from '../../oci/reference.ts'
import { type ClusterRegistries, type MirrorSet, nodeRegistriesConf } from '../../registries/node-conf.ts'
import type { RegistriesConf } from '../../registries/registries-conf.ts'
import { isRecord, type PlainRecord, valueAt } from '../plain-record.ts'
import type { BootstrapConfig } from './bootstrap-config.ts'
import { type Manifest, manifestDocument } from './manifests.ts'

export interface NodeRegistries {
  /** Absent where the operator refuses: it then writes no configuration for the nodes at all. */
  readonly conf?: RegistriesConf
  /** What the operator would say, and manifests that it would not see. */
  readonly findings: readonly Finding[]
  /** Those it is made of. */
  readonly manifests: readonly Manifest[]
}

export function nodeRegistries(bootstrap: BootstrapConfig): NodeRegistries {
  return registriesOf(effective(bootstrap.manifests), {
    isOld: isBefore413(bootstrap),
    ...(bootstrap.releaseImage?.reference && { releaseImage: bootstrap.releaseImage.reference }),
  })
}

interface NodesFacts {
  /** True for nodes of 4.12 and before. */
  readonly isOld?: boolean
  /** By digest, as the nodes ask for it. */
  readonly releaseImage?: Reference
}

/** The same for the resources of a cluster that is there: those that `oc apply` takes. */
export function registriesOf(manifests: readonly Manifest[], facts: NodesFacts = {}): NodeRegistries {
  const { isOld = false, releaseImage } = facts
  const all = manifests.filter(({ kind, apiVersion }) => isMirrorKind(kind, apiVersion))
  const isUnseen = ({ kind }: Manifest) => isOld && (kind === 'ImageDigestMirrorSet' || kind === 'ImageTagMirrorSet')
  const seen = all.filter((manifest) => !isUnseen(manifest))
  const read = seen.map((manifest) => ({ manifest, document: manifestDocument(manifest) }))
  const findings = [...all.filter(isUnseen).map(unseen), ...read.flatMap(broken)]
  const cluster = { ...clusterRegistries(read), ...(releaseImage !== undefined && { releaseImage }) }
  try {
    const conf = nodeRegistriesConf(cluster)
    return { conf: isOld ? conf412(conf) : conf, findings, manifests: seen }
  } catch (error) {
    if (!(error instanceof KnownError) || error.code !== 'MIRROR_SET_INVALID') throw error
    return { findings: [...findings, refusal(error, seen)], manifests: seen }
  }
}

/** `cp openshift/* manifests/`: of two files with one name that of openshift/ counts. */
function effective(manifests: readonly Manifest[]): readonly Manifest[] {
  const openshift = '/opt/openshift/openshift/'
  const winners = new Set(manifests.flatMap(({ path }) => (path.startsWith(openshift) ? [baseName(path)] : [])))
  return manifests.filter(({ path }) => path.startsWith(openshift) || !winners.has(baseName(path)))
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

const listOfKind: Readonly<Record<string, readonly [name: 'idms' | 'itms' | 'icsp', list: string]>> = {
  ImageDigestMirrorSet: ['idms', 'imageDigestMirrors'],
  ImageTagMirrorSet: ['itms', 'imageTagMirrors'],
  ImageContentSourcePolicy: ['icsp', 'repositoryDigestMirrors'],
}

function isMirrorKind(kind: string, apiVersion: string): boolean {
  return kind in listOfKind || (kind === 'Image' && apiVersion.startsWith('config.openshift.io/'))
}

interface ReadManifest {
  readonly manifest: Manifest
  readonly document: PlainRecord | undefined
}

function clusterRegistries(manifests: readonly ReadManifest[]): ClusterRegistries {
  const sets: Record<'idms' | 'itms' | 'icsp', MirrorSet[]> = { idms: [], itms: [], icsp: [] }
  let sources: ClusterRegistries = {}
  for (const { manifest, document } of manifests) {
    const [name, list] = listOfKind[manifest.kind] ?? []
    if (name !== undefined && list !== undefined)
      sets[name].push(...listAt(document, 'spec', list).flatMap(mirrorSetsOf))
    else if (manifest.name === 'cluster') {
      const texts = (key: string) =>
        listAt(document, 'spec', 'registrySources', key).filter((one) => typeof one === 'string')
      sources = {
        insecureRegistries: texts('insecureRegistries'),
        blockedRegistries: texts('blockedRegistries'),
        allowedRegistries: texts('allowedRegistries'),
      }
    }
  }
  return { ...sets, ...sources }
}

function mirrorSetsOf(value: unknown): readonly MirrorSet[] {
  if (!isRecord(value) || typeof value['source'] !== 'string') return []
  const mirrors = listAt(value, 'mirrors').filter((one) => typeof one === 'string')
  const policy = value['mirrorSourcePolicy']
  const isPolicy = policy === 'NeverContactSource' || policy === 'AllowContactingSource'
  return [{ source: value['source'], mirrors, ...(isPolicy && { mirrorSourcePolicy: policy }) }]
}

function listAt(value: unknown, ...keys: readonly string[]): readonly unknown[] {
  const found = valueAt(value, ...keys)
  return Array.isArray(found) ? found : []
}

/** Nodes of 4.12 and before have one switch a registry; where the version is not told, an old bootstrap is known by its scripts. */
function isBefore413({ cluster, features }: BootstrapConfig): boolean {
  const [major, minor] = (cluster.minor ?? '').split('.').map(Number)
  if (major === undefined || minor === undefined) return !features.hasServiceRecords
  return major === 4 && minor < 13
}

/** `mirror-by-digest-only` on the registry, in the place of `pull-from-mirror` on its mirrors. */
function conf412(conf: RegistriesConf): RegistriesConf {
  const registries = conf.registries.map((entry) => ({
    ...entry,
    mirrorByDigestOnly: entry.mirrors.length > 0,
    mirrors: entry.mirrors.map(({ location, insecure }) => ({ location, insecure })),
  }))
  return { ...conf, registries }
}

function unseen({ kind, name, path, line }: Manifest): Finding {
  return finding({
    id: 'registries.manifest-unknown-to-nodes',
    severity: 'error',
    summary: `Nodes of 4.12 and before know no ${kind}: ${name} has no effect`,
    evidence: `${path}:${line}`,
    remedy: 'Write it as an ImageContentSourcePolicy.',
    where: { file: path, line },
  })
}

function broken({ manifest, document }: ReadManifest): readonly Finding[] {
  if (document !== undefined) return []
  const { kind, name, path, line } = manifest
  return [
    finding({
      id: 'registries.manifest-broken',
      severity: 'error',
      summary: `${kind} ${name} is no YAML that can be read`,
      evidence: `${path}:${line}`,
      remedy: 'Correct the manifest and make the config anew, or patch it.',
      where: { file: path, line },
    }),
  ]
}

function refusal(error: KnownError, manifests: readonly Manifest[]): Finding {
  const place = String(error.details['place'] ?? '')
  const guilty = manifests.find(({ text }) => place !== '' && text.includes(place)) ?? manifests[0]
  return finding({
    id: 'registries.refused-by-operator',
    severity: 'error',
    summary: `The machine config operator will refuse the mirrors of the nodes: ${error.message}`,
    remedy: `${error.hint} Until then no machine of the cluster gets a config.`,
    ...(guilty !== undefined && {
      evidence: `${guilty.path}:${guilty.line}`,
      where: { file: guilty.path, line: guilty.line },
    }),
  })
}
