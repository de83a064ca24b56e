import { redact } from '../../../errors/redact.ts'
import type { LiteralStep, ParameterOrigin, ResolvedStep, ResolvedWorkflow } from '../model.ts'
import type { Drawing, DrawnStep } from './drawing.ts'
import { drawSteps } from './svg.ts'

/** What a resolved workflow does not say any more. */
export interface DrawingTexts {
  /** Documentation of steps and observers, by name. */
  readonly documentation?: ReadonlyMap<string, string>
  /** Documentation of chains, by name. */
  readonly chains?: ReadonlyMap<string, string>
}

/** The picture of a workflow, as one SVG document. */
export function drawWorkflow(workflow: ResolvedWorkflow, texts?: DrawingTexts): string {
  return drawSteps(workflowDrawing(workflow, texts))
}

/** The workflow as something to draw: its chains are boxes, and documentation and parameters are tooltips. */
export function workflowDrawing(workflow: ResolvedWorkflow, { documentation, chains }: DrawingTexts = {}): Drawing {
  const describe: Describe = (step, parameters) => tooltipOf(step, parameters, documentation?.get(step.as))
  const phase = (name: string, steps: readonly ResolvedStep[]) => ({ name, steps: drawnSteps(name, steps, describe) })
  const observers = workflow.observers.map((observer) => ({
    id: `observer/${observer.as}`,
    label: observer.as,
    groups: [],
    tooltip: describe(observer, []),
  }))
  return {
    title: workflow.name,
    phases: [phase('Pre', workflow.pre), phase('Test', workflow.test), phase('Post', workflow.post)],
    ...(observers.length > 0 && { beside: { name: 'Observers', steps: observers } }),
    ...(chains !== undefined && { groupTooltips: chains }),
  }
}

type Describe = (step: LiteralStep, parameters: readonly ParameterOrigin[]) => string

function drawnSteps(phase: string, steps: readonly ResolvedStep[], describe: Describe): readonly DrawnStep[] {
  const ids = new Map<string, number>()
  const groups = groupsByOccurrence(steps)
  return steps.map(({ literal, parameters }, index) => {
    const name = literal.as
    const times = (ids.get(name) ?? 0) + 1
    ids.set(name, times)
    return {
      id: `${phase.toLowerCase()}/${name}${times === 1 ? '' : `#${times}`}`,
      label: name,
      groups: groups[index] ?? [],
      tooltip: describe(literal, parameters),
    }
  })
}

/**
 * The chains of each step, where a chain that begins anew is a box of its own. A flat list does not say where that is, but a
 * step stands in a chain once: where it comes again in the box that is open, the chain has begun again.
 */
function groupsByOccurrence(steps: readonly ResolvedStep[]): readonly (readonly string[])[] {
  let open: readonly { readonly name: string; readonly occurrence: number; readonly seen: Set<string> }[] = []
  return steps.map(({ literal, chainPath }) => {
    const name = literal.as
    const differs = chainPath.findIndex((chain, depth) => open[depth]?.name !== chain)
    let shared = differs === -1 ? chainPath.length : differs
    if (shared === chainPath.length && shared === open.length && open.at(-1)?.seen.has(name)) shared -= 1
    open = chainPath.map((chain, depth) => {
      const before = open[depth]
      if (before !== undefined && depth < shared) return before
      const occurrence = before?.name === chain ? before.occurrence + 1 : 1
      return { name: chain, occurrence, seen: new Set<string>() }
    })
    for (const { seen } of open) seen.add(name)
    return open.map(({ name: chain, occurrence }) => (occurrence === 1 ? chain : `${chain}#${occurrence}`))
  })
}

function tooltipOf(step: LiteralStep, parameters: readonly ParameterOrigin[], documentation = ''): string {
  const values = parameters.map(({ name, value, from, by }) =>
    value === undefined ? `${name} has no value yet` : `${name}=${JSON.stringify(value)} (${from} ${by})`,
  )
  const facts = [
    ...(step.timeout === undefined ? [] : [`timeout ${step.timeout}`]),
    ...(step.best_effort === true ? ['best effort'] : []),
    ...(step.optional_on_success === true ? ['skipped when everything succeeded'] : []),
  ]
  const parts = [documentation.trim(), facts.join(', '), values.join('\n')]
  return redact(parts.filter((part) => part !== '').join('\n\n'))
}
