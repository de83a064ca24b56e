/**
 * What go-yaml 2 refuses and the parser here takes (go-yaml: readerc.go, scannerc.go, decode.go): control characters, tabs that
 * set a line in, a key beside a merge that has it too, keys that are no scalars.
 */
import { type Document, isAlias, isCollection, isMap, isNode, isScalar, type Node, type Pair, visit } from 'yaml'

export interface OffsetFault {
  /** As go-yaml words it. */
  readonly message: string
  /** Of what is wrong, in UTF-16 units from the beginning of the text. */
  readonly offset: number
}

const control = /[^\t\n\r\x20-\x7e\x85\xa0-\ufffd]/

/** Before anything is parsed. */
export function characterFault(text: string): OffsetFault | undefined {
  const { index: offset } = control.exec(text) ?? {}
  return offset === undefined ? undefined : { message: 'control characters are not allowed', offset }
}

/** In what was parsed without an error. */
export function structureFaults(document: Document, text: string): readonly OffsetFault[] {
  const faults: OffsetFault[] = []
  const spans: (readonly [number, number])[] = []
  visit(document, {
    Pair: (_, pair) => {
      faults.push(...keyFaults(pair))
    },
    Map: (_, map) => {
      faults.push(...mergeFaults(map.items, document))
      if (map.flow) spans.push(spanOf(map))
    },
    Seq: (_, list) => {
      if (list.flow) spans.push(spanOf(list))
    },
    Scalar: (_, scalar) => {
      const [start, end] = spanOf(scalar)
      const isPlain = scalar.type === 'PLAIN'
      if (isPlain && !text.slice(start, end).includes('\n')) return
      spans.push([start, end])
      const isBlock = scalar.type?.startsWith('BLOCK_') === true
      if (isBlock && tabFirst.test(text.slice(start, end))) {
        faults.push({ message: 'found a tab character where an indentation space is expected', offset: start })
      }
    },
  })
  return [...faults, ...tabFaults(text, spans)]
}

/** A block whose indent is not given, and whose first line has a tab in it. */
const tabFirst = /^[|>][-+]?(?: .*)?\n(?: *\n)* *\t/

function spanOf({ range }: Node): readonly [number, number] {
  return [range?.[0] ?? 0, range?.[1] ?? 0]
}

function tabFaults(text: string, spans: readonly (readonly [number, number])[]): readonly OffsetFault[] {
  return [...text.matchAll(/^ *\t/gm)]
    .map(({ index }) => index)
    .filter((offset) => !spans.some(([start, end]) => start < offset && offset < end))
    .map((offset) => ({ message: 'found a tab character that violates indentation', offset }))
}

function keyFaults({ key }: Pair): readonly OffsetFault[] {
  const offset = isNode(key) ? spanOf(key)[0] : 0
  if (isCollection(key)) return [{ message: 'invalid map key', offset }]
  return isScalar(key) && key.value === null ? [{ message: 'unsupported map key of type: <nil>', offset }] : []
}

/** Strict as it is, go-yaml does not let a key stand above one that comes with `<<`. */
function mergeFaults(pairs: readonly Pair[], document: Document): readonly OffsetFault[] {
  const isMerge = ({ key }: Pair) => isScalar(key) && key.type === 'PLAIN' && key.source === '<<'
  if (!pairs.some(isMerge)) return []
  const seen = new Set<unknown>()
  const faults: OffsetFault[] = []
  for (const pair of pairs) {
    const names = isMerge(pair) ? mergedNames(pair.value, document) : [nameOf(pair)]
    const offset = isNode(pair.key) ? spanOf(pair.key)[0] : 0
    for (const name of names) {
      if (seen.has(name)) faults.push({ message: `key "${name}" already set in map`, offset })
      seen.add(name)
    }
  }
  return faults
}

function nameOf({ key }: Pair): unknown {
  return isScalar(key) ? key.value : key
}

function mergedNames(value: unknown, document: Document): readonly unknown[] {
  const node = isAlias(value) ? value.resolve(document) : value
  if (isMap(node)) return node.items.map(nameOf)
  return isCollection(node) ? node.items.flatMap((item) => mergedNames(item, document)) : []
}
