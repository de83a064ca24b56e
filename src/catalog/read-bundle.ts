/** A document `olm.bundle`: what it needs, what it gives, and where it runs (operator-framework/operator-registry `alpha/property/property.go`). */
import { parse as parseYaml } from 'yaml'
import type { BundleMeta, Constraint, Gvk, MetaPlace, Requirement } from './meta.ts'
import { FieldFault, type Fields, fieldsOf, listOf, textOf } from './read-fields.ts'
import type { TextPool } from './text-pool.ts'

export interface ReadOptions {
  readonly place: MetaPlace
  readonly pool: TextPool
}

/** What the properties of a bundle say, as it is collected. */
interface Properties {
  readonly requires: Requirement[]
  readonly provides: Gvk[]
  version?: string
  maxOpenShiftVersion?: string
  minKubeVersion?: string
  displayName?: string
}

/** @throws FieldFault */
export function readBundle(fields: Fields, name: string, { place, pool }: ReadOptions): BundleMeta {
  const owner = pool.share(textOf(fields['package'], 'package'))
  if (name === '') throw new FieldFault('the bundle has no name')
  if (owner === '') throw new FieldFault(`the bundle "${name}" names no package`)
  const { requires, provides, ...properties } = readProperties(listOf(fields['properties'], 'properties'), {
    owner,
    pool,
  })
  const relatedImages = listOf(fields['relatedImages'], 'relatedImages').map((each) => {
    const related = fieldsOf(each, 'a related image')
    return { name: pool.share(textOf(related['name'], 'name')), image: pool.share(textOf(related['image'], 'image')) }
  })
  const image = textOf(fields['image'], 'image')
  return { schema: 'olm.bundle', package: owner, name, image, relatedImages, requires, provides, ...properties, place }
}

function readProperties(properties: readonly unknown[], context: Pick<Property, 'owner' | 'pool'>): Properties {
  const found: Properties = { requires: [], provides: [] }
  for (const each of properties) {
    const property = fieldsOf(each, 'a property')
    readProperty(found, { type: textOf(property['type'], 'type'), value: property['value'], ...context })
  }
  return found
}

interface Property {
  readonly type: string
  readonly value: unknown
  /** The package of the bundle. */
  readonly owner: string
  readonly pool: TextPool
}

function readProperty(found: Properties, { type, value, owner, pool }: Property): void {
  switch (type) {
    case 'olm.package':
      readVersion(found, fieldsOf(value, type), owner)
      return
    case 'olm.gvk':
      found.provides.push(readGvk(value, { type, pool }))
      return
    case 'olm.gvk.required':
      found.requires.push({ kind: 'gvk', gvk: readGvk(value, { type, pool }) })
      return
    case 'olm.package.required':
      found.requires.push({ kind: 'package', ...readPackageRange(value, type) })
      return
    case 'olm.constraint':
      found.requires.push({
        kind: 'constraint',
        text: textOf(fieldsOf(value, type)['failureMessage'], 'failureMessage'),
        constraint: readConstraint(value, { pool, depth: 0 }),
      })
      return
    case 'olm.maxOpenShiftVersion':
      // OLM takes it with or without quotation marks.
      found.maxOpenShiftVersion = typeof value === 'number' ? String(value) : textOf(value, type)
      return
    case 'olm.csv.metadata': {
      const { minKubeVersion, displayName } = fieldsOf(value, type)
      const version = textOf(minKubeVersion, 'minKubeVersion')
      if (version !== '') found.minKubeVersion = version
      const shown = textOf(displayName, 'displayName')
      if (shown !== '') found.displayName = shown
      return
    }
    case 'olm.bundle.object': {
      const version = minKubeVersionOf(textOf(fieldsOf(value, type)['data'], 'data'))
      if (version !== undefined) found.minKubeVersion ??= version
    }
  }
}

function readVersion(found: Properties, value: Fields, owner: string): void {
  if (found.version !== undefined) throw new FieldFault('there are two properties of the type "olm.package"')
  const named = textOf(value['packageName'], 'packageName')
  if (named !== owner) throw new FieldFault(`its property olm.package is for the package "${named}"`)
  found.version = textOf(value['version'], 'version')
}

function readGvk(value: unknown, { type, pool }: Pick<Property, 'type' | 'pool'>): Gvk {
  const { group, version, kind } = fieldsOf(value, type)
  return {
    group: pool.share(textOf(group, 'group')),
    version: pool.share(textOf(version, 'version')),
    kind: pool.share(textOf(kind, 'kind')),
  }
}

function readPackageRange(value: unknown, name: string): { readonly package: string; readonly versionRange: string } {
  const { packageName, versionRange } = fieldsOf(value, name)
  return { package: textOf(packageName, 'packageName'), versionRange: textOf(versionRange, 'versionRange') }
}

/** operator-framework/api `pkg/constraints/constraint.go`; OLM takes nothing larger than 128 KiB, so the depth has a limit. */
const maxConstraintDepth = 100

function readConstraint(value: unknown, { pool, depth }: { pool: TextPool; depth: number }): Constraint {
  if (depth > maxConstraintDepth) throw new FieldFault(`an olm.constraint of more than ${maxConstraintDepth} levels`)
  const fields = fieldsOf(value, 'a constraint')
  if (fields['package']) return { kind: 'package', ...readPackageRange(fields['package'], 'package') }
  if (fields['gvk']) return { kind: 'gvk', gvk: readGvk(fields['gvk'], { type: 'gvk', pool }) }
  if (fields['cel']) return { kind: 'cel', rule: textOf(fieldsOf(fields['cel'], 'cel')['rule'], 'rule') }
  for (const kind of ['all', 'any', 'not'] as const) {
    if (!fields[kind]) continue
    const parts = listOf(fieldsOf(fields[kind], kind)['constraints'], 'constraints')
    return { kind, of: parts.map((each) => readConstraint(each, { pool, depth: depth + 1 })) }
  }
  return { kind: 'unknown', name: Object.keys(fields).find((name) => name !== 'failureMessage') ?? '' }
}

const csvKind = 'ClusterServiceVersion'
const wantedField = 'minKubeVersion'

/** Of a manifest in base64, where it is a ClusterServiceVersion; in what cannot be read there is none. */
function minKubeVersionOf(data: string): string | undefined {
  const bytes = Buffer.from(data, 'base64')
  // Nearly all manifests are others: what is looked for is looked for before anything is parsed.
  if (!bytes.includes(wantedField) || !bytes.includes(csvKind)) return undefined
  const manifest = parseManifest(bytes.toString('utf8'))
  if (manifest?.['kind'] !== csvKind) return undefined
  const spec = manifest['spec']
  const version = typeof spec === 'object' && spec !== null && wantedField in spec ? spec[wantedField] : undefined
  return typeof version === 'string' && version !== '' ? version : undefined
}

function parseManifest(text: string): Fields | undefined {
  try {
    const value: unknown = text.trimStart().startsWith('{') ? JSON.parse(text) : parseYaml(text, { logLevel: 'error' })
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}
