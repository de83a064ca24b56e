/**
 * Everything that is to be said about a decoded config, in the order of `ignition-validate`: what breaks a rule, then what
 * is there twice, then what no field is for.
 *
 * Source: coreos/ignition `config/validate/validate.go`; github.com/coreos/vcontext `validate/validate.go`.
 */
import type { JsonNode, JsonObject } from '../json-tree.ts'
import { type ConfigPath, formatConfigPath } from '../positions.ts'
import type { DecodedStruct } from './decode.ts'
import { messages } from './messages.ts'
import type { Place, PlacedMessage } from './place.ts'
import { applyRules, keyOf } from './rules.ts'
import type { ListType, SpecType, StructType } from './spec-types.ts'

export interface Examined {
  readonly root: JsonNode
  readonly value: DecodedStruct
  readonly type: StructType
  /** Of the specification. */
  readonly minor: number
}

export function examine({ root, value, type, minor }: Examined): readonly PlacedMessage[] {
  const examiner = new Examiner(minor)
  examiner.walk(value, type, (one, its) => applyRules(its.goType, one, examiner))
  examiner.walk(value, type, (one, its) => {
    if (its.kind === 'struct') examiner.checkRepeated(one as DecodedStruct, its)
  })
  examiner.checkKeys(root, type, value)
  return examiner.found
}

type Visit = (value: unknown, type: SpecType) => void

class Examiner implements Place {
  readonly minor: number
  readonly found: PlacedMessage[] = []
  readonly #path: (string | number)[] = []

  constructor(minor: number) {
    this.minor = minor
  }

  error(message: string | undefined, ...below: ConfigPath): void {
    this.#add('error', message, below)
  }

  warning(message: string | undefined, ...below: ConfigPath): void {
    this.#add('warning', message, below)
  }

  #add(severity: 'error' | 'warning', message: string | undefined, below: ConfigPath): void {
    if (message !== undefined) this.found.push({ severity, message, path: [...this.#path, ...below] })
  }

  /** What holds others comes before them. */
  walk(value: unknown, type: SpecType, visit: Visit): void {
    if (value === undefined) return
    visit(value, type)
    if (type.kind === 'struct')
      for (const [name, field] of type.fields)
        this.#within(name, () => this.walk((value as DecodedStruct)[name], field, visit))
    if (type.kind === 'list')
      for (const [index, item] of (value as readonly unknown[]).entries())
        this.#within(index, () => this.walk(item, type.of, visit))
  }

  #within(part: string | number, action: () => void): void {
    this.#path.push(part)
    action()
    this.#path.pop()
  }

  checkRepeated(value: DecodedStruct, type: StructType): void {
    const seenByGroup = new Map<string, Set<string>>()
    for (const [name, field] of type.fields) {
      const items = value[name]
      if (field.kind !== 'list' || field.mayRepeat || !Array.isArray(items)) continue
      const seen = seenByGroup.get(field.group ?? name) ?? new Set()
      seenByGroup.set(field.group ?? name, seen)
      this.#checkList(items, { name, field, seen })
    }
  }

  #checkList(items: readonly unknown[], list: { name: string; field: ListType; seen: Set<string> }): void {
    for (const [index, item] of items.entries()) {
      const key = keyOf(list.field.of.goType, item)
      if (list.seen.has(key)) this.error(messages.duplicate, list.name, index)
      list.seen.add(key)
    }
  }

  /** Goes by the text: a key in other letters than the field's is no field here. */
  checkKeys(node: JsonNode, type: SpecType, value: unknown): void {
    if (type.kind === 'struct' && (value !== undefined || !type.isPointer)) this.#checkStruct(node, type, value)
    if (type.kind !== 'list' || node.kind !== 'array' || !Array.isArray(value)) return
    for (const [index, item] of node.items.slice(0, value.length).entries())
      this.#within(index, () => this.checkKeys(item, type.of, value[index]))
  }

  #checkStruct(node: JsonNode, type: StructType, value: unknown): void {
    if (node.kind === 'object') this.#checkMembers(node, type, (value ?? {}) as DecodedStruct)
    else
      this.warning(
        `context tree does not match content tree at ${formatConfigPath(this.#path)}. Line and column reporting may be inconsistent. Unused keys may not be reported`,
      )
  }

  #checkMembers({ members }: JsonObject, type: StructType, value: DecodedStruct): void {
    const last = new Map(members.map((member) => [member.key, member.value]))
    for (const key of last.keys()) {
      if (type.fields.has(key)) continue
      const path = [...this.#path, key]
      this.found.push({ severity: 'warning', path, message: `unused key ${key}`, isKey: true })
    }
    for (const [name, field] of type.fields) {
      const node = last.get(name)
      if (node) this.#within(name, () => this.checkKeys(node, field, value[name]))
    }
  }
}
