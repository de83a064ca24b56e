/** What can be drawn: phases of steps that stand in nested boxes. Of a workflow of the registry, or of any other. */

export type DrawnState = 'pending' | 'running' | 'succeeded' | 'failed' | 'skipped'

export interface DrawnStep {
  /** Unique in the drawing; `data-step` in the SVG, for a page that wants to find it. */
  readonly id: string
  readonly label: string
  /**
   * The boxes that it stands in, outermost first. Neighbours with the same beginning share their boxes; where two boxes of
   * one name follow each other, `#2` after the name tells the second from the first, and is not shown.
   */
  readonly groups: readonly string[]
  /** Shown as a mark and a colour; without one it is a plan. */
  readonly state?: DrawnState
  /** A second, smaller line. */
  readonly note?: string
  readonly tooltip?: string
}

export interface DrawnPhase {
  readonly name: string
  readonly steps: readonly DrawnStep[]
}

export interface Drawing {
  readonly title: string
  readonly phases: readonly DrawnPhase[]
  /** What runs beside all phases but the last one: observers. */
  readonly beside?: DrawnPhase
  /** Tooltips of boxes, by name. */
  readonly groupTooltips?: ReadonlyMap<string, string>
}

export interface BoxNode {
  readonly kind: 'box'
  /** A phase is a box, too. */
  readonly role: 'phase' | 'group'
  readonly label: string
  readonly tooltip?: string
  readonly children: readonly TreeNode[]
}

export interface LeafNode {
  readonly kind: 'leaf'
  /** undefined: the place of an empty phase or chain. */
  readonly step: DrawnStep | undefined
}

export type TreeNode = BoxNode | LeafNode

export const blankLabel = 'Intentionally left blank'

/** One box a phase, with the boxes of its groups in it. */
export function phaseBox(phase: DrawnPhase, tooltips: ReadonlyMap<string, string> = new Map()): BoxNode {
  return { kind: 'box', role: 'phase', label: phase.name, children: nested(phase.steps, 0, tooltips) }
}

function nested(
  steps: readonly DrawnStep[],
  depth: number,
  tooltips: ReadonlyMap<string, string>,
): readonly TreeNode[] {
  if (steps.length === 0) return [{ kind: 'leaf', step: undefined }]
  const nodes: TreeNode[] = []
  for (let start = 0; start < steps.length; ) {
    const group = steps[start]?.groups[depth]
    let end = start + 1
    if (group === undefined) nodes.push({ kind: 'leaf', step: steps[start] })
    else {
      while (end < steps.length && steps[end]?.groups[depth] === group) end += 1
      const label = group.replace(/#\d+$/, '')
      const tooltip = tooltips.get(label)
      const children = nested(steps.slice(start, end), depth + 1, tooltips)
      nodes.push({ kind: 'box', role: 'group', label, children, ...(tooltip !== undefined && { tooltip }) })
    }
    start = end
  }
  return nodes
}

/** The steps under a node, in order; a blank counts as one. */
export function leavesOf(node: TreeNode): readonly LeafNode[] {
  return node.kind === 'leaf' ? [node] : node.children.flatMap(leavesOf)
}
