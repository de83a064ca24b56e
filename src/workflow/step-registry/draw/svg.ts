/** The picture: nested boxes as webreg draws them (openshift/ci-tools: pkg/webreg), laid out here, without Graphviz. */
import { type BoxNode, type Drawing, type DrawnState, phaseBox } from './drawing.ts'
import {
  type Area,
  type Arrow,
  arrowsAmong,
  isBox,
  type Placed,
  type PlacedBox,
  type PlacedLeaf,
  placed,
  sizes,
} from './layout.ts'
import { svgStyle } from './svg-style.ts'
import { svgText } from './svg-text.ts'
import { brokenLines, textWidth } from './text-lines.ts'

const margin = 16
const titleSize = 15
const titleColumns = 80
const columnGap = 28
const colours = 5

/** Phases of ci-operator have their colours; others take theirs in turn. */
const colourOfPhase: Readonly<Record<string, number>> = { pre: 0, test: 1, post: 2 }

interface PlacedDrawing {
  readonly phases: readonly Placed[]
  readonly beside: Placed | undefined
  readonly titleLines: readonly string[]
  readonly width: number
  readonly height: number
}

/** An SVG document, readable in light and dark, that needs nothing outside of it. */
export function drawSteps(drawing: Drawing): string {
  const { phases, beside, titleLines, width, height } = place(drawing)
  const label = svgText(drawing.title)
  const title = titleLines.map((line, index) =>
    textAt(line, { x: margin, y: margin + index * 22 + titleSize }, `class="heading" font-size="${titleSize}"`),
  )
  const boxes = phases.map((phase, index) => renderPhase(phase, colourAt(drawing, index), ''))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="sallyport-graph" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">`,
    `<style>${svgStyle}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...title,
    ...boxes,
    ...(beside === undefined ? [] : [renderPhase(beside, 3, ' beside')]),
    ...arrowsAmong(phases).map(renderArrow),
    '</svg>\n',
  ].join('\n')
}

function place(drawing: Drawing): PlacedDrawing {
  const titleLines = brokenLines(drawing.title, titleColumns)
  const titleWidth = Math.ceil(Math.max(...titleLines.map((line) => textWidth(line, titleSize))))
  const nodes = drawing.phases.map((phase) => phaseBox(phase, drawing.groupTooltips))
  const own = nodes.map((node) => placed(node, { x: 0, y: 0 }).width)
  const widest = Math.max(drawing.beside === undefined ? titleWidth : 0, ...own)
  const top = margin + titleLines.length * 22 + 10
  let y = top
  const phases = nodes.map((node) => {
    const one = placed(node, { x: margin, y }, widest)
    y += one.height + sizes.gap
    return one
  })
  const beside =
    drawing.beside && besideOf(phaseBox(drawing.beside), phases, { x: margin + widest + columnGap, y: top })
  const right = beside === undefined ? margin + widest : beside.x + beside.width
  const bottom = Math.max(y - sizes.gap, beside === undefined ? 0 : beside.y + beside.height)
  return { phases, beside, titleLines, width: Math.max(right, margin + titleWidth) + margin, height: bottom + margin }
}

/** Beside all phases but the last, and as high as they are. */
function besideOf(node: BoxNode, phases: readonly Placed[], at: { x: number; y: number }): Placed {
  const own = placed(node, at)
  const last = phases.at(-2) ?? phases.at(-1)
  const height = last === undefined ? own.height : last.y + last.height - at.y
  return { ...own, height: Math.max(own.height, height) }
}

function colourAt({ phases }: Drawing, index: number): number {
  return colourOfPhase[phases[index]?.name.toLowerCase() ?? ''] ?? index % colours
}

function renderPhase(phase: Placed, colour: number, extra: string): string {
  return isBox(phase) ? renderBox(phase, `phase p${colour}${extra}`) : renderLeaf(phase)
}

function renderBox(box: PlacedBox, kind: string): string {
  const { role, tooltip, label } = box.node
  const size = role === 'phase' ? sizes.phase : sizes.group
  const lines = box.lines.map((line, index) =>
    textAt(
      line,
      { x: box.x + sizes.padding, y: box.y + sizes.padding / 2 + index * sizes.line + size },
      `class="label" font-size="${size}"`,
    ),
  )
  const children = box.children.map((child) => (isBox(child) ? renderBox(child, 'group') : renderLeaf(child)))
  return [
    `<g class="${kind}"><title>${svgText(tooltip ?? label)}</title>`,
    rectangle(box, role === 'phase' ? 8 : 6),
    ...lines,
    ...children,
    '</g>',
  ].join('\n')
}

function renderLeaf(leaf: PlacedLeaf): string {
  const { step } = leaf.node
  const x = leaf.x + (step?.state === undefined ? 16 : sizes.mark)
  const baseline = (index: number) => leaf.y + sizes.breath + index * sizes.line + sizes.step
  const lines = [
    ...leaf.lines.map((line, index) => textAt(line, { x, y: baseline(index) }, `font-size="${sizes.step}"`)),
    ...leaf.noteLines.map((line, index) =>
      textAt(line, { x, y: baseline(leaf.lines.length + index) }, `class="note" font-size="${sizes.note}"`),
    ),
  ]
  if (step === undefined) return [`<g class="step blank">`, rectangle(leaf, 4), ...lines, '</g>'].join('\n')
  const tooltip = [step.label, ...(step.state === undefined ? [] : [step.state]), step.tooltip ?? ''].join('\n').trim()
  return [
    `<g class="${['step', step.state].join(' ').trim()}" data-step="${svgText(step.id)}"><title>${svgText(tooltip)}</title>`,
    rectangle(leaf, 4),
    `<rect class="bar" x="${leaf.x}" y="${leaf.y}" width="4" height="${leaf.height}" rx="2"/>`,
    ...lines,
    ...(step.state === undefined ? [] : [mark(step.state, { x: leaf.x + 17, y: leaf.y + sizes.breath + 9 })]),
    '</g>',
  ].join('\n')
}

/** Not by colour alone: each state has a form of its own. */
const marks: Readonly<Record<DrawnState, string>> = {
  pending: '<circle r="4"/>',
  running: '<path d="M-3 -5 L5 0 L-3 5 Z"/>',
  succeeded: '<path d="M-5 0 L-1.5 4 L5 -4"/>',
  failed: '<path d="M-4 -4 L4 4 M4 -4 L-4 4"/>',
  skipped: '<path d="M-5 0 L5 0"/>',
}

function mark(state: DrawnState, { x, y }: { x: number; y: number }): string {
  return `<g class="mark" transform="translate(${x} ${y})">${marks[state]}</g>`
}

function renderArrow({ x, top, bottom }: Arrow): string {
  return `<path class="arrow" d="M${x} ${top} V${bottom - 6}"/><path class="head" d="M${x - 4} ${bottom - 7} h8 l-4 7 Z"/>`
}

function rectangle({ x, y, width, height }: Area, radius: number): string {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}"/>`
}

function textAt(line: string, { x, y }: { x: number; y: number }, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${svgText(line)}</text>`
}
