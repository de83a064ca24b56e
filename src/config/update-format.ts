/**
 * Brings a file up to the version of the format that is read, by editing its YAML tree: comments, order and the places of
 * what stays remain.
 *
 * Source: openshift/oc-mirror `v1/pkg/api/v1alpha1/{config_types,include_config}.go` against `v1alpha2`.
 */
import { isScalar, type Pair } from 'yaml'
import type { Finding } from '../errors/finding.ts'
import { finding } from '../errors/finding.ts'
import { isAfter } from './versions.ts'
import type { YamlFile } from './yaml-document.ts'
import { addField, removeField, renameField } from './yaml-edit.ts'
import { isTrue, mapAt, mapsAt, pairOf } from './yaml-nodes.ts'

/** The groups that the format had before it became part of OpenShift. */
const formerGroups = /^(?:tmp-redhatgov\.com|ocmirror\.openshift\.io|mirror\.openshift\.io)\/v1alpha1$/

/** Edits v1alpha1 into v1alpha2, and tells each change; other versions stay as they are. */
export function updateApiVersion(file: YamlFile): Finding[] {
  const pair = pairOf(file.contents, 'apiVersion')
  const version = isScalar(pair?.value) ? pair.value : undefined
  if (version === undefined || !formerGroups.test(String(version.value))) return []
  const tell = (node: unknown, summary: string) =>
    finding({ id: 'config.updated', severity: 'warning', summary, where: file.placeOfNode(node) })
  const findings = [
    tell(
      version,
      `apiVersion "${String(version.value)}" is read, but oc-mirror has long left it; write v2alpha1 (sallyport config convert)`,
    ),
    ...updatePlatform(file, tell),
    ...mapsAt(mapAt(file.contents, 'mirror'), 'operators').flatMap((catalog) => updateCatalog(catalog, tell)),
    ...renamed(mapAt(mapAt(file.contents, 'mirror'), 'helm'), { from: 'repos', to: 'repositories', tell }),
  ]
  version.value = 'mirror.openshift.io/v1alpha2'
  return findings
}

type Tell = (node: unknown, summary: string) => Finding

function updatePlatform(file: YamlFile, tell: Tell): Finding[] {
  const mirror = mapAt(file.contents, 'mirror')
  const findings = renamed(mirror, { from: 'ocp', to: 'platform', tell })
  const platform = mapAt(mirror, 'platform')
  return [
    ...findings,
    ...withoutSecret(platform, tell),
    ...mapsAt(platform, 'channels').flatMap((channel) => updateVersions(channel, tell)),
  ]
}

/** `versions: [4.6.13, 4.6.36]` named releases one by one; there are only ranges now. */
function updateVersions(channel: unknown, tell: Tell): Finding[] {
  const listed = pairOf(channel, 'versions')
  const map = mapAt(channel)
  if (listed === undefined || map === undefined) return []
  const versions = (JSON.parse(JSON.stringify(listed.value ?? [])) as unknown[]).map(String)
  const inOrder = versions.toSorted((a, b) => Number(isAfter(a, b)) - Number(isAfter(b, a)))
  removeField(map, 'versions')
  const [low, high] = [inOrder.at(0), inOrder.at(-1)]
  if (low === undefined || high === undefined) return []
  addField(map, 'minVersion', low)
  addField(map, 'maxVersion', high)
  const more = versions.length > 1 ? ', which also brings the releases between them' : ''
  return [tell(listed.key, `versions is read as minVersion ${low} and maxVersion ${high}${more}`)]
}

function updateCatalog(catalog: unknown, tell: Tell): Finding[] {
  const packages = mapsAt(catalog, 'packages')
  const holders = packages.flatMap((each) => [each, ...mapsAt(each, 'channels')])
  const findings = [
    ...withoutSecret(catalog, tell),
    ...renamed(catalog, { from: 'skipDeps', to: 'skipDependencies', tell }),
    ...holders.flatMap((holder) => renamed(holder, { from: 'startingVersion', to: 'minVersion', tell })),
    ...holders.flatMap((holder) => renamed(holder, { from: 'startingBundle', to: 'minBundle', tell })),
  ]
  return [...findings, ...updateHeadsOnly(catalog, tell)]
}

function updateHeadsOnly(catalog: unknown, tell: Tell): Finding[] {
  const headsOnly = pairOf(catalog, 'headsOnly')
  const map = mapAt(catalog)
  if (headsOnly === undefined || map === undefined) return []
  if (isTrue(headsOnly.value) || pairOf(map, 'full')) {
    removeField(map, 'headsOnly')
    return [tell(headsOnly.key, 'headsOnly: true is what happens without it')]
  }
  renameField(map, 'headsOnly', 'full')
  if (isScalar(headsOnly.value)) headsOnly.value.value = true
  return [tell(headsOnly.key, 'headsOnly: false is read as full: true')]
}

/** Its value is a secret, and is not repeated. */
function withoutSecret(holder: unknown, tell: Tell): Finding[] {
  const map = mapAt(holder)
  const secret = pairOf(map, 'pullSecret')
  if (map === undefined || secret === undefined) return []
  removeField(map, 'pullSecret')
  const summary = 'pullSecret is not read; put the secret into a file of its own, and name that with --authfile'
  return [tell(secret.key, summary)]
}

function renamed(holder: unknown, { from, to, tell }: { from: string; to: string; tell: Tell }): Finding[] {
  const pair: Pair | undefined = renameField(mapAt(holder), from, to)
  return pair === undefined ? [] : [tell(pair.key, `${from} is read as ${to}`)]
}
