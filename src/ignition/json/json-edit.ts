/** Puts values into a JSON document, takes them out, and leaves every other character as it is. */
import { appended, indentOf, type JsonPlace, layoutOf, rendered, without } from './json-layout.ts'
import type { JsonContainer, JsonNode, JsonText } from './json-text.ts'

/** A field of an object, or the item of a list whose field `by` has the value `is`. */
export type JsonStep = string | { readonly by: string; readonly is: string }
export type JsonPath = readonly JsonStep[]

type Make = (place: JsonPlace) => JsonNode

export function nodeAt(root: JsonNode, path: JsonPath): JsonNode | undefined {
  let node: JsonNode | undefined = root
  for (const step of path) {
    const index: number = node === undefined ? -1 : indexOf(node, step)
    node = node === undefined || node.kind === 'scalar' ? undefined : node.entries[index]?.value
  }
  return node
}

/**
 * The document with `value` at `path`. What is missing on the way there is made, at the end of what it is in; a `null` on
 * the way counts as missing.
 *
 * @param value what `JSON.stringify` takes, or a part of a document, which is put in as it is written
 */
export function withValue(document: JsonText, path: JsonPath, value: { readonly plain: unknown } | JsonNode): JsonText {
  const make: Make = (place) => ('plain' in value ? rendered(value.plain, place) : value)
  const layout = layoutOf(document.root)
  const place = { layout, indent: layout.unit === undefined ? undefined : '' }
  return { ...document, root: put(document.root, { path, make }, place) }
}

/** The document without what is at `path`; the same document where nothing is there. */
export function withoutValue(document: JsonText, path: JsonPath): JsonText {
  const step = path.at(-1)
  const inner = path.slice(0, -1)
  const parent = nodeAt(document.root, inner)
  if (step === undefined || parent === undefined || parent.kind === 'scalar') return document
  const index = indexOf(parent, step)
  return index < 0 ? document : withValue(document, inner, without(parent, index))
}

interface Putting {
  readonly path: JsonPath
  readonly make: Make
}

function put(node: JsonNode | undefined, { path, make }: Putting, place: JsonPlace): JsonNode {
  const [step, ...rest] = path
  if (step === undefined) return make(place)
  const container = containerFor(node, step)
  const index = indexOf(container, step)
  const entry = container.entries[index]
  if (entry !== undefined) {
    const value = put(entry.value, { path: rest, make }, { ...place, indent: indentOf(entry.before) })
    return { ...container, entries: container.entries.with(index, { ...entry, value }) }
  }
  const key = typeof step === 'string' ? step : undefined
  const makeEntry = (inner: JsonPlace) => {
    const made = typeof step === 'string' || rest.length === 0 ? undefined : rendered({ [step.by]: step.is }, inner)
    return put(made, { path: rest, make }, inner)
  }
  return appended(container, { key, make: makeEntry }, place)
}

function containerFor(node: JsonNode | undefined, step: JsonStep): JsonContainer {
  const kind = typeof step === 'string' ? 'object' : 'array'
  return node !== undefined && node.kind === kind ? node : { kind, entries: [], blank: '' }
}

/** The last one where a key or an item stands twice: that is the one that counts. */
function indexOf(node: JsonNode, step: JsonStep): number {
  if (node.kind === 'scalar') return -1
  if (typeof step === 'string') return node.entries.findLastIndex(({ rawKey }) => isKey(rawKey, step))
  return node.entries.findLastIndex(({ value }) => fieldOf(value, step.by) === step.is)
}

function fieldOf(node: JsonNode, name: string): unknown {
  if (node.kind !== 'object') return undefined
  const value = node.entries.findLast(({ rawKey }) => isKey(rawKey, name))?.value
  return value?.kind === 'scalar' ? JSON.parse(value.raw) : undefined
}

function isKey(rawKey: string, key: string): boolean {
  if (rawKey === '') return false
  return rawKey.includes('\\') ? JSON.parse(rawKey) === key : rawKey.slice(1, -1) === key
}
