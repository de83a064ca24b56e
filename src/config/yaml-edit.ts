/** Small edits of a YAML tree that keep comments, order, and the places of what stays. */
import { isScalar, type Pair, Scalar, type YAMLMap } from 'yaml'
import { pairOf } from './yaml-nodes.ts'

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
