/** Small edits of a YAML tree that keep comments, order, and the places of what stays. */
import { isMap, isScalar, isSeq, type Pair, Scalar, type YAMLMap } from 'yaml'
import { pairOf } from './yaml-place.ts'

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

/** Renames a field in place; does nothing where it is absent, or where the new name is taken. */
export function renameField(map: YAMLMap | undefined, from: string, to: string): Pair | undefined {
  const pair = pairOf(map, from)
  const taken = pairOf(map, to)
  if (pair === undefined || !isScalar(pair.key) || (taken !== undefined && taken !== pair)) return undefined
  pair.key.value = to
  return pair
}

/** Adds a field at the end, unless it stands there already. */
export function addField(map: YAMLMap, field: string, value: string): void {
  if (!pairOf(map, field)) map.add({ key: new Scalar(field), value: new Scalar(value) })
}

/** Takes a field out. The comment above it stays, above what came next: it may speak of more than this field. */
export function removeField(map: YAMLMap, field: string): void {
  const pair = pairOf(map, field)
  if (pair === undefined) return
  const index = map.items.indexOf(pair)
  map.items.splice(index, 1)
  const comment = isScalar(pair.key) ? pair.key.commentBefore : undefined
  if (!comment) return
  const next = map.items[index]?.key
  if (isScalar(next)) next.commentBefore = [comment, next.commentBefore].filter(Boolean).join('\n')
  else map.comment = [comment, map.comment].filter(Boolean).join('\n')
}

/** True for the scalar `true`. */
export function isTrue(node: unknown): boolean {
  return isScalar(node) && node.value === true
}
