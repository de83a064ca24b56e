/**
 * Where in the text of a config something stands, as `ignition-validate` tells it.
 *
 * Source: github.com/coreos/vcontext `tree/tree.go`, `json/json.go`, `report/report.go:Correlate`.
 */
import type { JsonNode } from './json-tree.ts'

/** Keys of objects and indexes of lists, from the root. */
export type ConfigPath = readonly (string | number)[]

/** `$.storage.files.0.path` */
export function formatConfigPath(path: ConfigPath): string {
  return ['$', ...path].join('.')
}

/** The value at `path`, or where there is none, what it would be in. Of a key that comes twice the last counts. */
export function deepestNode(root: JsonNode, path: ConfigPath): JsonNode {
  let node = root
  for (const part of path) {
    const next = childOf(node, part)
    if (!next) return node
    node = next
  }
  return node
}

/** Behind the bracket of objects and lists; the first byte of everything else. */
export function offsetOf(node: JsonNode): number {
  return node.kind === 'object' || node.kind === 'array' ? node.start + 1 : node.start
}

function childOf(node: JsonNode, part: string | number): JsonNode | undefined {
  if (node.kind === 'object') return node.members.findLast(({ key }) => key === part)?.value
  return node.kind === 'array' && typeof part === 'number' ? node.items[part] : undefined
}

export interface TextPlace {
  /** Counted from 1. */
  readonly line: number
  /** In bytes, counted from 1. */
  readonly column: number
}

/** Lines and columns of offsets in bytes. */
export class LineIndex {
  /** Offsets of the first byte of every line. */
  readonly #starts: readonly number[]

  constructor(bytes: Uint8Array) {
    const starts = [0]
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) starts.push(at + 1)
    this.#starts = starts
  }

  placeOf(offset: number): TextPlace {
    let low = 0
    let high = this.#starts.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#starts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 }
  }
}
