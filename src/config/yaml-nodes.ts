/** Finds nodes of a YAML tree. */
import { isMap, isPair, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml'

/** The way to a value: names of fields, and numbers of entries. */
export type ValuePath = readonly PropertyKey[]

/** The pair of a mapping with this key; as in oc-mirror (Go's JSON), the case of its letters does not matter. */
export function pairOf(node: unknown, key: PropertyKey): Pair | undefined {
  if (!isMap(node)) return undefined
  const wanted = String(key)
  const named = node.items.filter((item) => isPair(item) && isScalar(item.key))
  const keyOf = ({ key }: Pair) => (isScalar(key) ? String(key.value) : '')
  return (
    named.find((pair) => keyOf(pair) === wanted) ??
    named.find((pair) => keyOf(pair).toLowerCase() === wanted.toLowerCase())
  )
}

/** The node at `path`; undefined where there is none. */
export function nodeAt(contents: unknown, path: ValuePath): Node | undefined {
  let node = contents as Node | undefined
  for (const step of path) {
    if (isMap(node)) node = (pairOf(node, step)?.value ?? undefined) as Node | undefined
    else node = isSeq(node) ? (node.items[Number(step)] as Node | undefined) : undefined
  }
  return node
}

/** The mapping at `key`, or the node itself where no key is named; undefined where it is none. */
export function mapAt(node: unknown, key?: string): YAMLMap | undefined {
  const found = key === undefined ? node : pairOf(node, key)?.value
  return isMap(found) ? found : undefined
}

/** The mappings of the list at `key`; none where there is no list. */
export function mapsAt(node: unknown, key: string): YAMLMap[] {
  const list = pairOf(node, key)?.value
  return isSeq(list) ? list.items.filter((item) => isMap(item)) : []
}

/** True for the scalar `true`. */
export function isTrue(node: unknown): boolean {
  return isScalar(node) && node.value === true
}
