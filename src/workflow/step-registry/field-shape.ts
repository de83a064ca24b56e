/**
 * Values held against the fields that ci-tools knows: sigs.k8s.io/yaml `UnmarshalStrict`. An unknown field is an error, and
 * null is the same as nothing.
 */
import { goDurationNs } from './go-duration.ts'
import { GoNumber } from './go-scalar.ts'

/**
 * `text` takes a number or a boolean for its text, `string` does not: sigs.k8s.io/yaml does not look into embedded structs for
 * the fields that are texts, and a step is one (kubernetes-sigs/yaml: yaml.go `convertToJSONableObject`).
 */
export type FieldShape =
  | { readonly kind: 'text' | 'string' | 'boolean' | 'count' | 'duration' }
  | { readonly kind: 'list'; readonly of: FieldShape }
  | MappingShape

type MappingShape =
  | { readonly kind: 'map'; readonly of: FieldShape }
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, FieldShape>> }

export type FieldPath = readonly (string | number)[]

export interface FieldFault {
  readonly path: FieldPath
  /** As Go words it. */
  readonly message: string
}

/** The value in its shape, without what is null; undefined for nothing. What does not fit is left out, and told. */
export function readShape(value: unknown, shape: FieldShape, faults: FieldFault[]): unknown {
  return read(value, shape, { path: undefined, faults })
}

interface At {
  /** Innermost first, so that it costs nothing where all is well. */
  readonly path: PathLink | undefined
  readonly faults: FieldFault[]
}

interface PathLink {
  readonly step: string | number
  readonly above: PathLink | undefined
}

function read(value: unknown, shape: FieldShape, at: At): unknown {
  if (value === null || value === undefined) return undefined
  switch (shape.kind) {
    case 'text':
    case 'string':
      return typeof value === 'string' ? value : scalarText(value, shape.kind, at)
    case 'boolean':
      return typeof value === 'boolean' ? value : misfit(value, 'bool', at)
    case 'count':
      return count(value, at)
    case 'duration':
      return duration(value, at)
    case 'list':
      return readList(value, shape.of, at)
    case 'map':
    case 'fields':
      return readMap(value, shape, at)
  }
}

function readList(value: unknown, of: FieldShape, at: At): unknown {
  if (!Array.isArray(value)) return misfit(value, 'list', at)
  return value.map((item: unknown, index) => {
    const empty = isTextual(of) ? '' : of.kind === 'fields' ? {} : undefined
    return read(item, of, { ...at, path: { step: index, above: at.path } }) ?? empty
  })
}

function readMap(value: unknown, shape: MappingShape, at: At): unknown {
  if (typeof value !== 'object' || Array.isArray(value) || value instanceof GoNumber)
    return misfit(value, 'mapping', at)
  const result: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(value as object)) {
    const inner = { ...at, path: { step: name, above: at.path } }
    const of = shape.kind === 'map' ? shape.of : Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
    if (of === undefined || name === '__proto__') {
      tell(`json: unknown field "${name}"`, inner)
      continue
    }
    const kept = read(item, of, inner) ?? (shape.kind === 'map' && isTextual(of) ? '' : undefined)
    if (kept !== undefined) result[name] = kept
  }
  return result
}

function isTextual({ kind }: FieldShape): boolean {
  return kind === 'text' || kind === 'string'
}

/** `4.10` without quotes is 4.1, where it is taken at all. */
function scalarText(value: unknown, kind: 'text' | 'string', at: At): string | undefined {
  const isScalar = typeof value === 'boolean' || isNumber(value)
  if (!isScalar) return misfit(value, 'string', at)
  return kind === 'text' ? String(value) : misfit(value, 'string (write it in quotes)', at)
}

function isNumber(value: unknown): value is number | GoNumber {
  return typeof value === 'number' || value instanceof GoNumber
}

/** A uint; beyond the exact numbers it counts as the nearest of them. */
function count(value: unknown, at: At): number | undefined {
  const number = isNumber(value) ? Number(value instanceof GoNumber ? value.value : value) : Number.NaN
  return Number.isInteger(number) && number >= 0 && number < 2 ** 64 ? number : misfit(value, 'uint', at)
}

/** As it stands: a number is nanoseconds, which hardly anybody means; `validate --lint` says so. */
function duration(value: unknown, at: At): string | number | undefined {
  if (isNumber(value)) {
    const ns = value instanceof GoNumber ? value.value : value
    return Number.isInteger(ns) && Math.abs(ns) <= 2 ** 63 ? ns : misfit(value, 'string', at)
  }
  if (typeof value !== 'string') return misfit(value, 'duration', at)
  if (goDurationNs(value) !== undefined) return value
  return tell(`time: invalid duration "${value}"`, at)
}

function misfit(value: unknown, wanted: string, at: At): undefined {
  const kind = Array.isArray(value) ? 'array' : isNumber(value) ? 'number' : typeof value
  const field = pathOf(at.path).join('.')
  return tell(`json: cannot unmarshal ${kind === 'boolean' ? 'bool' : kind} into field ${field} of type ${wanted}`, at)
}

function tell(message: string, { path, faults }: At): undefined {
  faults.push({ path: pathOf(path), message })
}

function pathOf(link: PathLink | undefined): (string | number)[] {
  const path: (string | number)[] = []
  for (let at = link; at; at = at.above) path.push(at.step)
  return path.reverse()
}
