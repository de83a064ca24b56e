/** The same boxes for Graphviz, in the structure of webreg (openshift/ci-tools: pkg/webreg/graphviz.go, testdata). */
import { blankLabel, type Drawing, leavesOf, phaseBox, type TreeNode } from './drawing.ts'

interface Cluster {
  readonly number: number
  /** Numbers of the first and of the last node in it. */
  readonly first: number
  readonly last: number
}

export function dotOfDrawing(drawing: Drawing): string {
  const roots = drawing.phases.map((phase) => phaseBox(phase, drawing.groupTooltips))
  return dotOfTree(`Workflow "${drawing.title}"`, roots)
}

/** Nodes are numbered as they run, boxes from the inside out; an edge ends at the outermost box that it goes into. */
export function dotOfTree(title: string, roots: readonly TreeNode[]): string {
  const leaves = roots.flatMap(leavesOf)
  const clusters: Cluster[] = []
  const subgraphs = graphLines(roots, { clusters, next: 0, indent: '\t' })
  const nodes = leaves.map(({ step }, index) => `\t${index} [label=${quoted(step?.label ?? blankLabel)}];`)
  const edges = leaves.slice(1).map((_, index) => `\t${index} -> ${index + 1}${edgeAttributes(clusters, index)};`)
  return [
    'digraph workflow {',
    '\tcompound=true;',
    '\tnode [shape=rectangle fontname="monospace"];',
    '\trankdir=TB;',
    `\tlabel=${quoted(title)};`,
    '',
    ...nodes,
    '',
    ...edges,
    '',
    ...subgraphs,
    '}\n',
  ].join('\n')
}

/** The nodes of a box stand before the boxes in it. A node outside of every box was declared already. */
function graphLines(
  children: readonly TreeNode[],
  place: { readonly clusters: Cluster[]; readonly next: number; readonly indent: string },
): readonly string[] {
  const { clusters, indent } = place
  const own: string[] = []
  const inner: string[] = []
  let next = place.next
  for (const child of children) {
    const first = next
    next += leavesOf(child).length
    if (child.kind === 'leaf') {
      own.push(`${indent}${first};`)
      continue
    }
    const lines = graphLines(child.children, { clusters, next: first, indent: `${indent}\t` })
    const number = clusters.length
    clusters.push({ number, first, last: next - 1 })
    const head = [`${indent}subgraph cluster_${number} {`, `${indent}\tlabel=${quoted(child.label)};`]
    inner.push(...head, `${indent}\tlabeljust="l";`, ...lines, `${indent}}`)
  }
  return indent === '\t' ? inner : [...own, ...inner]
}

function edgeAttributes(clusters: readonly Cluster[], from: number): string {
  const has = ({ first, last }: Cluster, node: number) => first <= node && node <= last
  // Boxes are numbered from the inside out: the last that fits is the outermost.
  const tail = clusters.findLast((cluster) => has(cluster, from) && !has(cluster, from + 1))
  const head = clusters.findLast((cluster) => has(cluster, from + 1) && !has(cluster, from))
  const attributes = [
    ...(tail === undefined ? [] : [`ltail=cluster_${tail.number}`]),
    ...(head === undefined ? [] : [`lhead=cluster_${head.number}`, 'minlen=2']),
  ]
  return attributes.length === 0 ? '' : ` [${attributes.join(' ')}]`
}

function quoted(text: string): string {
  return `"${text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\s+/g, ' ')}"`
}
