/**
 * Writes v2alpha1 from older versions of the format, by editing the YAML tree: comments and order stay.
 *
 * Source: openshift/oc-mirror `v1/pkg/api/v1alpha2/types_config.go` against `internal/pkg/api/v2alpha1/type_config.go`.
 */
import { isScalar, Scalar, type YAMLMap } from 'yaml'
import { type Finding, finding, type Severity } from '../errors/finding.ts'
import { readAsGo } from './go-reading.ts'
import { readEitherKind, schemaOf } from './image-set-kinds.ts'
import { withoutTransport } from './image-set-values.ts'
import { inFileOrder } from './invalid-config.ts'
import { updateApiVersion } from './update-format.ts'
import { openYaml, type YamlFile, type YamlSource } from './yaml-document.ts'
import { addField, removeField, renameField } from './yaml-edit.ts'
import { isTrue, mapAt, mapsAt, nodeAt, pairOf } from './yaml-nodes.ts'

export interface Conversion {
  readonly text: string
  /** True where the file was v2alpha1 already; the text is then the file's own. */
  readonly isUnchanged: boolean
  /** What is written in another way (info), and what has no successor (warning), at its place in the old file. */
  readonly changes: readonly Finding[]
}

type Tell = (node: unknown, severity: Severity, summary: string) => Finding

const newest = 'mirror.openshift.io/v2alpha1'

/** @throws InvalidConfiguration where the file does not load, or where what comes out would not */
export function convertToV2alpha1(source: YamlSource): Conversion {
  readEitherKind(source)
  const file = openYaml(source)
  if (file.document.get('apiVersion') === newest) return { text: source.text, isUnchanged: true, changes: [] }
  const tell: Tell = (node, severity, summary) =>
    finding({ id: 'config.converted', severity, summary, where: file.placeOfNode(node) })
  const changes = [
    ...updateApiVersion(file).slice(1),
    ...respell(file, tell),
    ...dropStorage(file, tell),
    ...['mirror', 'delete'].flatMap((section) =>
      mapsAt(mapAt(file.contents, section), 'operators').flatMap((catalog) => convertCatalog(catalog, tell)),
    ),
    ...setApiVersion(file, tell),
  ]
  const text = file.document.toString({ lineWidth: 0, ...layoutOf(source.text) })
  readEitherKind({ file: `${source.file} (converted)`, text })
  return { text, isUnchanged: false, changes: inFileOrder(changes) }
}

/** Names of fields in the format's own case. */
function respell(file: YamlFile, tell: Tell): Finding[] {
  const { respelt } = readAsGo(file.document.toJS(), schemaOf(file))
  return respelt.flatMap(({ path, field }) => {
    const written = String(path.at(-1))
    const pair = renameField(mapAt(nodeAt(file.contents, path.slice(0, -1))), written, field)
    return pair === undefined ? [] : [tell(pair.key, 'info', `${written} is written ${field}`)]
  })
}

function dropStorage({ contents }: YamlFile, tell: Tell): Finding[] {
  const map = mapAt(contents)
  const pair = pairOf(map, 'storageConfig')
  if (map === undefined || pair === undefined) return []
  removeField(map, 'storageConfig')
  const summary =
    'storageConfig is left out: history is kept in the workspace, so name one with --workspace; what was recorded there is not read, and the first run looks at everything anew'
  return [tell(pair.key, 'warning', summary)]
}

function convertCatalog(catalog: YAMLMap, tell: Tell): Finding[] {
  return [
    ...convertTargetName(catalog, tell),
    ...dropField(catalog, 'originalRef', (key) => tell(key, 'info', 'originalRef is left out: it had no effect')),
    ...mapsAt(catalog, 'packages')
      .flatMap((each) => [each, ...mapsAt(each, 'channels')])
      .flatMap((holder) => dropMinBundle(holder, tell)),
    ...dropFull(catalog, tell),
  ]
}

function dropField(map: YAMLMap, field: string, told: (key: unknown) => Finding): Finding[] {
  const pair = pairOf(map, field)
  if (pair === undefined) return []
  removeField(map, field)
  return [told(pair.key)]
}

/** targetName replaced the last part of the name; targetCatalog, where it stands too, went before. */
function convertTargetName(catalog: YAMLMap, tell: Tell): Finding[] {
  const pair = pairOf(catalog, 'targetName')
  if (pair === undefined) return []
  if (pairOf(catalog, 'targetCatalog')) {
    removeField(catalog, 'targetName')
    return [tell(pair.key, 'info', 'targetName is left out: targetCatalog stands beside it, and counts')]
  }
  const path = `${namespaceOf(String(catalog.get('catalog')))}${String(catalog.get('targetName'))}`
  renameField(catalog, 'targetName', 'targetCatalog')
  pair.value = new Scalar(path)
  return [tell(pair.key, 'info', `targetName is written targetCatalog: ${path}`)]
}

/** What stands between the host and the last part of a catalog's name, with the slash behind it. */
function namespaceOf(catalog: string): string {
  if (catalog.startsWith('oci:')) return ''
  const [repository = ''] = withoutTransport(catalog).split('@')
  return repository
    .split('/')
    .slice(1, -1)
    .map((part) => `${part}/`)
    .join('')
}

function dropMinBundle(holder: YAMLMap, tell: Tell): Finding[] {
  const named = String(holder.get('minBundle'))
  const summary = pairOf(holder, 'minVersion')
    ? 'minBundle is left out: minVersion stands beside it'
    : `minBundle ${named} has no successor: write its version as minVersion; until then only the newest comes`
  return dropField(holder, 'minBundle', (key) => tell(key, 'warning', summary))
}

/** v1 took the ranges where `full` stood beside them; v2 refuses the two together. */
function dropFull(catalog: YAMLMap, tell: Tell): Finding[] {
  const packages = mapsAt(catalog, 'packages')
  const hasRange = (holder: YAMLMap) => Boolean(pairOf(holder, 'minVersion') ?? pairOf(holder, 'maxVersion'))
  const isRanged = (each: YAMLMap) => hasRange(each) || mapsAt(each, 'channels').some(hasRange)
  if (!isTrue(pairOf(catalog, 'full')?.value) || !packages.some(isRanged)) return []
  const whole = packages.filter((each) => !isRanged(each)).map((each) => String(each.get('name')))
  const summary =
    whole.length === 0
      ? 'full: true is left out: it had no effect beside the ranges of the packages'
      : `full: true is left out, because ranges stand beside it; of ${whole.join(', ')} only the heads come now, so give them a minVersion if more is wanted`
  return dropField(catalog, 'full', (key) => tell(key, whole.length === 0 ? 'info' : 'warning', summary))
}

function setApiVersion({ contents }: YamlFile, tell: Tell): Finding[] {
  const pair = pairOf(contents, 'apiVersion')
  if (pair === undefined) {
    const map = mapAt(contents)
    if (map) addField(map, 'apiVersion', newest)
    return [tell(contents, 'info', `apiVersion is added: ${newest}`)]
  }
  if (isScalar(pair.value)) pair.value.value = newest
  return [tell(pair.value, 'info', `apiVersion is now ${newest}`)]
}

/** Indentation as in the text: how deep, and whether lists stand deeper than their key. */
function layoutOf(text: string): { indent: number; indentSeq: boolean } {
  const depths = [...text.matchAll(/^( +)[^\s#-]/gm)].map(([, blanks = '']) => blanks.length)
  const list = /^( *)[^\s#-][^\n]*:[ \t]*(?:#.*)?\n( *)- /m.exec(text)
  return { indent: Math.min(...depths, 8) || 2, indentSeq: list === null || list[1] !== list[2] }
}
