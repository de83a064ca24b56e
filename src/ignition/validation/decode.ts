/**
 * From JSON to the values of a specification, as Go's encoding/json decodes into structs.
 *
 * Names of fields match in upper and lower case alike; what is unknown is passed over; a key that comes twice is decoded
 * on top of what is there; of several values of the wrong type the first is told.
 *
 * Source: Go `src/encoding/json/decode.go`.
 */
import type { JsonArray, JsonFault, JsonNode, JsonObject } from '../json-tree.ts'
import type { ConfigPath } from '../positions.ts'
import { fieldOf, type ListType, type SpecType, type StructType } from './spec-types.ts'

export type Decoded = { readonly value: DecodedStruct } | { readonly fault: TypeFault }

/** Only fields of its type; what is absent has no key, but a text that may not be absent is ''. */
export type DecodedStruct = Readonly<Record<string, unknown>>

interface TypeFault extends JsonFault {
  readonly path: ConfigPath
}

export function decodeStruct(root: JsonNode, type: StructType): Decoded {
  const decoder = new Decoder()
  const value = decoder.decode(root, type, undefined)
  return decoder.fault ? { fault: decoder.fault } : { value: (value ?? emptyStruct(type)) as DecodedStruct }
}

class Decoder {
  fault: TypeFault | undefined
  readonly #path: (string | number)[] = []
  /** The fields that lead here, and the struct of the last. */
  readonly #fields: string[] = []
  #struct = ''

  decode(node: JsonNode, type: SpecType, present: unknown): unknown {
    switch (node.kind) {
      case 'object':
        if (type.kind === 'struct') return this.#object(node, type, present)
        return this.#mismatch(node, type, 'object')
      case 'array':
        if (type.kind === 'list') return this.#list(node, type, present)
        return this.#mismatch(node, type, 'array')
      case 'null':
        return type.kind === 'list' || type.isPointer ? undefined : present
      case 'bool':
        return type.kind === 'bool' ? node.isTrue : this.#mismatch(node, type, 'bool')
      case 'string':
        return type.kind === 'string' ? node.text : this.#mismatch(node, type, 'string')
      case 'number':
        if (type.kind !== 'int') return this.#mismatch(node, type, 'number')
        return isInt64(node.text) ? Number(node.text) : this.#mismatch(node, type, `number ${node.text}`)
    }
  }

  #object(node: JsonObject, type: StructType, present: unknown): unknown {
    const value = (present ?? emptyStruct(type)) as Record<string, unknown>
    const outer = this.#struct
    for (const { key, value: member } of node.members) {
      const name = fieldOf(type, key)
      const field = name === undefined ? undefined : type.fields.get(name)
      if (name === undefined || !field) continue
      this.#struct = type.name
      this.#fields.push(name)
      this.#path.push(key)
      const decoded = this.decode(member, field, value[name])
      if (decoded === undefined) delete value[name]
      else value[name] = decoded
      this.#path.pop()
      this.#fields.pop()
      this.#struct = outer
    }
    return value
  }

  #list(node: JsonArray, type: ListType, present: unknown): unknown {
    const before = (present ?? []) as readonly unknown[]
    return node.items.map((item, index) => {
      this.#path.push(index)
      const decoded = this.decode(item, type.of, before[index]) ?? emptyValue(type.of)
      this.#path.pop()
      return decoded
    })
  }

  /** Containers are refused at their bracket, everything else behind its end. */
  #mismatch(node: JsonNode, type: SpecType, what: string): undefined {
    const target =
      this.#fields.length === 0
        ? `Go value of type ${type.goType}`
        : `Go struct field ${this.#struct}.${this.#fields.join('.')} of type ${type.goType}`
    this.fault ??= {
      message: `json: cannot unmarshal ${what} into ${target}`,
      offset: node.kind === 'object' || node.kind === 'array' ? node.start + 1 : node.end,
      path: [...this.#path],
    }
    return undefined
  }
}

function emptyValue(type: SpecType): unknown {
  if (type.kind === 'struct') return emptyStruct(type)
  return type.kind === 'string' ? '' : undefined
}

function emptyStruct(type: StructType): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const [name, field] of type.fields) if (field.kind === 'string' && !field.isPointer) value[name] = ''
  return value
}

const maxInt64 = 2n ** 63n - 1n

function isInt64(text: string): boolean {
  if (!/^-?[0-9]+$/.test(text)) return false
  if (text.length < 16 || text.length > 20) return text.length < 16
  const value = BigInt(text)
  return value <= maxInt64 && value >= -maxInt64 - 1n
}
