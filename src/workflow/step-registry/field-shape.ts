/**
 * Values held against the fields that ci-tools knows: sigs.k8s.io/yaml `UnmarshalStrict`. An unknown field is an error, a
 * number or a boolean where a text is wanted becomes its text, and null is the same as nothing.
 */
import { goDurationNs } from './go-duration.ts'

export type FieldShape =
  | { readonly kind: 'text' | 'boolean' | 'count' | 'duration' }
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
      return typeof value === 'string' ? value : scalarText(value, at)
    case 'boolean':
      return typeof value === 'boolean' ? value : misfit(value, 'bool', at)
    case 'count':
      return Number.isInteger(value) && Number(value) >= 0 ? value : misfit(value, 'uint', at)
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
    const empty = of.kind === 'text' ? '' : of.kind === 'fields' ? {} : undefined
    return read(item, of, { ...at, path: { step: index, above: at.path } }) ?? empty
  })
}

function readMap(value: unknown, shape: MappingShape, at: At): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return misfit(value, 'mapping', at)
  const result: Record<string, unknown> = {}
  for (const [name, item] of Object.entries(value as object)) {
    const inner = { ...at, path: { step: name, above: at.path } }
    const of = shape.kind === 'map' ? shape.of : Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined
    if (of === undefined || name === '__proto__') {
      tell(`json: unknown field "${name}"`, inner)
      continue
    }
    const kept = read(item, of, inner) ?? (shape.kind === 'map' && of.kind === 'text' ? '' : undefined)
    if (kept !== undefined) result[name] = kept
  }
  return result
}

/** `4.10` without quotes is 4.1: that is what ci-operator hands to the step, too. */
function scalarText(value: unknown, at: At): string | undefined {
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'number' ? goNumber(value) : misfit(value, 'string', at)
}

/** `strconv.FormatFloat(value, 'g', -1, 64)`; integers as they are. */
function goNumber(value: number): string {
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)))
  if (Number.isSafeInteger(value) || (exponent >= -4 && exponent < 21)) return String(value)
  return value.toExponential().replace(/e([-+])(\d)$/, 'e$10$2')
}

/** As it stands: a number is nanoseconds, which hardly anybody means; `validate --lint` says so. */
function duration(value: unknown, at: At): string | number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return misfit(value, 'duration', at)
  if (goDurationNs(value) !== undefined) return value
  tell(`time: invalid duration "${value}"`, at)
  return undefined
}

function misfit(value: unknown, wanted: string, at: At): undefined {
  const kind = Array.isArray(value) ? 'array' : value instanceof Date ? 'timestamp' : typeof value
  const field = pathOf(at.path).join('.')
  tell(`json: cannot unmarshal ${kind === 'boolean' ? 'bool' : kind} into field ${field} of type ${wanted}`, at)
  return undefined
}

function tell(message: string, { path, faults }: At): void {
  faults.push({ path: pathOf(path), message })
}

function pathOf(link: PathLink | undefined): (string | number)[] {
  const path: (string | number)[] = []
  for (let at = link; at; at = at.above) path.push(at.step)
  return path.reverse()
}
