/**
 * Where everything stands: one column, from top to bottom. A box is as wide as the widest thing in it, and what is in it is
 * made as wide as the box: then the arrows stand under each other.
 */
import { type BoxNode, blankLabel, type LeafNode, leavesOf, type TreeNode } from './drawing.ts'
import { brokenLines, textWidth } from './text-lines.ts'

/** Pixels. */
export interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface PlacedBox extends Area {
  readonly node: BoxNode
  readonly lines: readonly string[]
  readonly children: readonly Placed[]
}

export interface PlacedLeaf extends Area {
  readonly node: LeafNode
  readonly lines: readonly string[]
  readonly noteLines: readonly string[]
}

export type Placed = PlacedBox | PlacedLeaf

/** Straight down, from the lower edge of what ends to the upper edge of what follows. */
export interface Arrow {
  readonly from: LeafNode
  readonly to: LeafNode
  readonly x: number
  readonly top: number
  readonly bottom: number
}

export const sizes = {
  step: 13,
  group: 12,
  phase: 13,
  note: 11,
  line: 18,
  padding: 12,
  gap: 17,
  /** Left of the text of a step: its bar, and the mark of its state. */
  mark: 30,
  /** Right of the text of a step. */
  end: 14,
  /** Above and below the text of a step. */
  breath: 6,
} as const

const stepColumns = 72
const groupColumns = 64
const arrowInset = 20

interface Measured {
  readonly width: number
  readonly height: number
  readonly lines: readonly string[]
  readonly noteLines: readonly string[]
  readonly children: readonly Measured[]
}

/** The node with its upper left corner at `at`, at least `minWidth` wide. */
export function placed(node: TreeNode, at: { x: number; y: number }, minWidth = 0): Placed {
  const measures = measured(node)
  return put(node, measures, { ...at, width: Math.max(minWidth, measures.width), height: measures.height })
}

function measured(node: TreeNode): Measured {
  if (node.kind === 'leaf') return measuredLeaf(node)
  const lines = brokenLines(node.label, groupColumns)
  const children = node.children.map(measured)
  const size = node.role === 'phase' ? sizes.phase : sizes.group
  const inner = Math.max(...children.map(({ width }) => width), ...lines.map((line) => textWidth(line, size)))
  const stacked = children.reduce((sum, { height }) => sum + height, sizes.gap * (children.length - 1))
  return {
    lines,
    noteLines: [],
    children,
    width: Math.ceil(inner) + 2 * sizes.padding,
    height: headHeight(lines) + stacked + sizes.padding,
  }
}

function measuredLeaf({ step }: LeafNode): Measured {
  const lines = brokenLines(step?.label ?? blankLabel, stepColumns)
  const noteLines = step?.note === undefined ? [] : brokenLines(step.note, stepColumns)
  const widths = [
    ...lines.map((line) => textWidth(line, sizes.step)),
    ...noteLines.map((line) => textWidth(line, sizes.note)),
  ]
  const height = (lines.length + noteLines.length) * sizes.line + 2 * sizes.breath
  const width = Math.ceil(Math.max(...widths)) + sizes.mark + sizes.end
  return { lines, noteLines, children: [], width, height }
}

/** From the upper edge of a box to what is in it. */
function headHeight(lines: readonly string[]): number {
  return lines.length * sizes.line + sizes.padding
}

function put(node: TreeNode, measures: Measured, area: Area): Placed {
  const { lines, noteLines } = measures
  if (node.kind === 'leaf') return { node, lines, noteLines, ...area }
  const x = area.x + sizes.padding
  const width = area.width - 2 * sizes.padding
  let y = area.y + headHeight(lines)
  const children = node.children.flatMap((child, index) => {
    const inner = measures.children[index]
    if (inner === undefined) return []
    const one = put(child, inner, { x, y, width, height: inner.height })
    y += inner.height + sizes.gap
    return [one]
  })
  return { node, lines, children, ...area }
}

/** Between what follows each other, at every depth: so an arrow ends at the outermost box that it goes into. */
export function arrowsAmong(siblings: readonly Placed[]): readonly Arrow[] {
  return siblings.flatMap((sibling, index) => {
    const inside = isBox(sibling) ? arrowsAmong(sibling.children) : []
    const next = siblings[index + 1]
    if (next === undefined) return inside
    const [from, to] = [leavesOf(sibling.node).at(-1), leavesOf(next.node)[0]]
    if (from === undefined || to === undefined) return inside
    const arrow = { from, to, x: sibling.x + arrowInset, top: sibling.y + sibling.height, bottom: next.y }
    return [...inside, arrow]
  })
}

export function isBox(one: Placed): one is PlacedBox {
  return one.node.kind === 'box'
}
