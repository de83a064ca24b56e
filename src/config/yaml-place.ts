/** From a path of a value, as a schema names it, to the node that it was read from. */
import { isScalar, isSeq, type Node } from 'yaml'
import { pairOf, type ValuePath } from './yaml-nodes.ts'

/** The offset of the deepest node of `path` that exists: of its value, or of the key that it stands under. */
export function offsetOf(contents: Node | null, path: ValuePath, part: 'key' | 'value'): number {
  let node: unknown = contents
  let offset = contents?.range?.[0] ?? 0
  for (const [depth, step] of path.entries()) {
    const pair = pairOf(node, step)
    const isKey = part === 'key' && depth === path.length - 1
    const next = isSeq(node) ? node.items[Number(step)] : isKey ? pair?.key : pair?.value
    const start = startOf(next) ?? startOf(pair?.key)
    if (start === undefined) return offset
    offset = start
    node = next
  }
  return offset
}

/** An empty value has a place too, but it is behind its key, often on the next line: the key is what one looks for. */
function startOf(node: unknown): number | undefined {
  const { range } = (node ?? {}) as { range?: [number, number, number] | null }
  if (!range || (isScalar(node) && node.value === null && range[0] === range[1])) return undefined
  return range[0]
}

/** `mirror.operators[0].catalog` */
export function formatPath(path: ValuePath): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? String(step) : `${text}.${String(step)}`,
    '',
  )
}
