/**
 * The types that a specification is made of, as Ignition's Go structs are: what a key may hold, what `null` means for it,
 * and whether entries of a list may repeat.
 */
export type SpecType = ScalarType | ListType | StructType

interface ScalarType {
  readonly kind: 'string' | 'int' | 'bool'
  /** As Go names it in messages. */
  readonly goType: string
  /** `null` makes it absent; otherwise `null` changes nothing. */
  readonly isPointer: boolean
}

export interface ListType {
  readonly kind: 'list'
  readonly goType: string
  readonly of: SpecType
  readonly mayRepeat: boolean
  /** Lists of one struct with the same group share their keys: a path is either a file, or a directory, or a link. */
  readonly group?: string
}

export interface StructType {
  readonly kind: 'struct'
  /** Names its rules; empty where there are none. */
  readonly name: string
  readonly goType: string
  readonly isPointer: boolean
  /** In the order of the specification's schema, which is the order of findings. */
  readonly fields: ReadonlyMap<string, SpecType>
  /** Names of fields by their folded form. */
  readonly folded: ReadonlyMap<string, string>
}

export type Fields = Readonly<Record<string, SpecType>>

export const scalar = {
  text: { kind: 'string', goType: 'string', isPointer: false },
  optionalText: { kind: 'string', goType: 'string', isPointer: true },
  number: { kind: 'int', goType: 'int', isPointer: false },
  optionalNumber: { kind: 'int', goType: 'int', isPointer: true },
  optionalFlag: { kind: 'bool', goType: 'bool', isPointer: true },
} as const satisfies Readonly<Record<string, ScalarType>>

/** A list of texts that have a type of their own, `types.Device`. */
export function texts(name: string, options: { readonly mayRepeat?: boolean; readonly group?: string } = {}): ListType {
  return list({ kind: 'string', goType: `types.${name}`, isPointer: false }, options)
}

export function list(
  of: SpecType,
  options: { readonly mayRepeat?: boolean; readonly group?: string; readonly goType?: string } = {},
): ListType {
  const { mayRepeat = false, group, goType = `[]${of.goType}` } = options
  return { kind: 'list', goType, of, mayRepeat, ...(group !== undefined && { group }) }
}

export function struct(
  name: string,
  fields: Fields,
  options: { readonly goType?: string; readonly isPointer?: boolean } = {},
): StructType {
  const { goType = `types.${name}`, isPointer = false } = options
  const folded = new Map(Object.keys(fields).map((field) => [foldedName(field), field]))
  return { kind: 'struct', name, goType, isPointer, fields: new Map(Object.entries(fields)), folded }
}

/** The field that a key means: by its exact name, or else without regard to case (Go `src/encoding/json/fold.go`). */
export function fieldOf({ fields, folded }: StructType, key: string): string | undefined {
  return fields.has(key) ? key : folded.get(foldedName(key))
}

function foldedName(name: string): string {
  // The Kelvin sign becomes a k by itself, the long s does not become an s.
  return name.toLowerCase().replaceAll('ſ', 's')
}
