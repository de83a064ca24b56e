/** How a document is laid out, so that what is added to it looks like what is there. */
import type { JsonContainer, JsonEntry, JsonNode } from './json-text.ts'

export interface JsonLayout {
  /** What a level of indentation adds; undefined where everything stands on one line. */
  readonly unit: string | undefined
  readonly newline: string
  readonly colon: string
  /** What stands after a comma on one line. */
  readonly gap: string
}

/** Where a value stands: the indentation of the line that it begins on, undefined where its parts stand on one line. */
export interface JsonPlace {
  readonly layout: JsonLayout
  readonly indent: string | undefined
}

export function layoutOf(root: JsonNode): JsonLayout {
  const entries = root.kind === 'scalar' ? [] : root.entries
  const [first, second] = entries
  const colon = first === undefined || first.colon === '' ? ':' : first.colon
  const newline = first?.before.includes('\r\n') === true ? '\r\n' : '\n'
  const unit = indentOf(first?.before ?? '')
  const gap = unit === undefined && second !== undefined ? second.before : colon.endsWith(' ') ? ' ' : ''
  return { unit, newline, colon, gap }
}

/** Undefined where the white space holds no end of a line. */
export function indentOf(space: string): string | undefined {
  const at = space.lastIndexOf('\n')
  return at < 0 ? undefined : space.slice(at + 1)
}

export function rendered(value: unknown, place: JsonPlace): JsonNode {
  if (typeof value !== 'object' || value === null) return { kind: 'scalar', raw: JSON.stringify(value) }
  const pairs: readonly (readonly [string | undefined, unknown])[] = Array.isArray(value)
    ? value.map((item) => [undefined, item] as const)
    : Object.entries(value).filter(([, item]) => item !== undefined)
  let container: JsonContainer = { kind: Array.isArray(value) ? 'array' : 'object', entries: [], blank: '' }
  for (const [key, item] of pairs)
    container = appended(container, { key, make: (inner) => rendered(item, inner) }, place)
  return container
}

export interface NewEntry {
  /** Undefined in an array. */
  readonly key: string | undefined
  readonly make: (place: JsonPlace) => JsonNode
}

/** `container` with one more entry at its end, written as the one before it. */
export function appended(
  container: JsonContainer,
  { key, make }: NewEntry,
  { layout, indent }: JsonPlace,
): JsonContainer {
  const last = container.entries.at(-1)
  const { before, after } = last === undefined ? firstSpace({ layout, indent }) : nextSpace(container, last, layout)
  const inner = { layout, indent: indentOf(before) }
  const label =
    key === undefined ? { rawKey: '', colon: '' } : { rawKey: JSON.stringify(key), colon: last?.colon || layout.colon }
  const entry: JsonEntry = { before, ...label, value: make(inner), after }
  if (last === undefined) return { ...container, entries: [entry], blank: '' }
  const closed = { ...last, after: container.entries.length > 1 ? (container.entries[0]?.after ?? '') : '' }
  return { ...container, entries: [...container.entries.slice(0, -1), closed, entry] }
}

/** `container` without an entry; taking out the last one is the reverse of `appended`. */
export function without(container: JsonContainer, index: number): JsonContainer {
  const removed = container.entries[index]
  if (removed === undefined) return container
  const entries = container.entries.toSpliced(index, 1)
  const [before, next] = [entries[index - 1], entries[index]]
  if (next === undefined && before !== undefined) entries[index - 1] = { ...before, after: removed.after }
  else if (index === 0 && next !== undefined) entries[0] = { ...next, before: removed.before }
  return { ...container, entries }
}

function firstSpace({ layout, indent }: JsonPlace): Pick<JsonEntry, 'before' | 'after'> {
  if (indent === undefined || layout.unit === undefined) return { before: '', after: '' }
  const { newline, unit } = layout
  return { before: `${newline}${indent}${unit}`, after: `${newline}${indent}` }
}

function nextSpace(
  { entries }: JsonContainer,
  last: JsonEntry,
  { gap }: JsonLayout,
): Pick<JsonEntry, 'before' | 'after'> {
  const isOnly = entries.length === 1
  return { before: isOnly && indentOf(last.before) === undefined ? last.before || gap : last.before, after: last.after }
}
