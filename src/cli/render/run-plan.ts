/** What a run would do, for people, for `--json`, and as a picture. */
import type { Finding } from '../../errors/finding.ts'
import type { OpenedDefinition, RunParameter } from '../../flows/run-definition.ts'
import type { Site } from '../../journal/events.ts'
import type { PlannedLeaf } from '../../workflow/plan-run.ts'
import type { Drawing, DrawnStep } from '../../workflow/step-registry/draw/drawing.ts'
import { renderFindings } from './findings.ts'
import { count, formatBytes, formatDuration } from './quantities.ts'
import { sitePlanLines } from './site-plan.ts'
import { treeLines } from './step-tree.ts'

export interface PlanStepView extends PlannedLeaf {
  readonly title: string
  readonly phase: string
  readonly groups: readonly string[]
  readonly where?: Site
  readonly parameters: readonly RunParameter[]
  /** What it may record to be taken away; absent where nobody can tell. */
  readonly undoKinds?: readonly string[]
  readonly timeoutMs: number
  /** As in earlier runs, or as the step expects. */
  readonly usualMs?: number
}

export interface PlanView {
  readonly workflow: string
  /** The run that would go on; absent where a new one would begin. */
  readonly run?: string
  /** Of what it is made from. */
  readonly from: 'source' | 'copy'
  readonly steps: readonly PlanStepView[]
  readonly observers: readonly string[]
  readonly leases: readonly string[]
  /** Of the steps that would be run, where they can tell. */
  readonly expected: { readonly ms?: number; readonly bytes?: number; readonly diskBytes?: number }
  readonly findings: readonly Finding[]
}

interface PlanContext {
  readonly opened: OpenedDefinition
  readonly run: string | undefined
  readonly usualMs: ReadonlyMap<string, number>
  readonly findings: readonly Finding[]
}

export function viewPlan(leaves: readonly PlannedLeaf[], { opened, run, usualMs, findings }: PlanContext): PlanView {
  const { workflow, from } = opened
  const byId = new Map(leaves.map((leaf) => [leaf.step, leaf]))
  const steps = workflow.steps.flatMap(({ outline, policy, undoKinds }) => {
    const { id, title, phase, groups, where } = outline
    const leaf = byId.get(id)
    if (leaf === undefined) return []
    const usual = leaf.expected?.ms ?? usualMs.get(id)
    const { timeoutMs } = policy
    return [
      {
        ...leaf,
        title,
        phase,
        groups,
        ...(where && { where }),
        parameters: opened.parameters(id),
        ...(undoKinds && { undoKinds }),
        timeoutMs,
        ...(usual !== undefined && { usualMs: usual }),
      },
    ]
  })
  return {
    workflow: workflow.name,
    ...(run !== undefined && { run }),
    from,
    steps,
    observers: workflow.observers.map(({ name }) => name),
    leases: workflow.leases,
    expected: expectedOf(steps),
    findings,
  }
}

function expectedOf(steps: readonly PlanStepView[]): PlanView['expected'] {
  const wanted = steps.filter(({ doing }) => doing === 'run')
  const sum = (values: readonly (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined)
    return known.length === 0 ? undefined : known.reduce((all, value) => all + value, 0)
  }
  const ms = sum(wanted.map(({ usualMs }) => usualMs))
  const bytes = sum(wanted.map(({ expected }) => expected?.bytes))
  const diskBytes = sum(wanted.map(({ expected }) => expected?.diskBytes))
  return {
    ...(ms !== undefined && { ms }),
    ...(bytes !== undefined && { bytes }),
    ...(diskBytes !== undefined && { diskBytes }),
  }
}

/** @param isShort of a site: each value once, and not under each step */
export function renderRunPlan(view: PlanView, { isShort = false }: { readonly isShort?: boolean } = {}): string {
  const { workflow, run, steps, observers, leases, findings } = view
  const wanted = steps.filter(({ doing }) => doing === 'run').length
  const where = run === undefined ? 'a new run' : `going on with run ${run}`
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const missing = errors === 0 ? '' : `; ${count(errors, 'thing')} missing, see below`
  return [
    `plan: ${workflow}: ${wanted} of ${count(steps.length, 'step')} to run, ${where}${missing}`,
    ...expectedLines(view),
    '',
    ...(isShort ? sitePlanLines(steps, run) : treePlanLines(view)),
    ...(observers.length > 0 ? ['', `  beside them: ${observers.join(', ')}`] : []),
    ...(leases.length > 0 ? ['', `  no other run may use: ${leases.join(', ')}`] : []),
    ...(findings.length > 0 ? ['', renderFindings(findings).trimEnd()] : []),
    '',
    errors === 0
      ? `  next: sallyport run, with the same words, does it`
      : `  next: give what is missing; sallyport run would not begin without it`,
    '',
  ].join('\n')
}

function treePlanLines({ steps, run }: PlanView): readonly string[] {
  return treeLines(steps, { mark: ({ doing }) => marks[doing], facts: (step) => factsOf(step, run), below: belowOf })
}

const marks: Readonly<Record<PlannedLeaf['doing'], string>> = {
  run: 'run        ',
  perhaps: 'perhaps    ',
  keep: 'keep       ',
  skip: 'skip       ',
  elsewhere: 'elsewhere  ',
  leave: '-          ',
}

function expectedLines({ expected: { ms, bytes, diskBytes } }: PlanView): readonly string[] {
  const parts = [
    ...(ms === undefined ? [] : [`about ${formatDuration(ms)}`]),
    ...(bytes === undefined ? [] : [`${formatBytes(bytes)} to move`]),
    ...(diskBytes === undefined ? [] : [`${formatBytes(diskBytes)} of disk`]),
  ]
  return parts.length === 0 ? [] : [`  ${parts.join(', ')}, as far as is known`]
}

/** Of a new run it goes without saying that nothing has run yet. */
function factsOf({ why, where, doing, usualMs, expected }: PlanStepView, run: string | undefined): string {
  const { bytes, diskBytes } = expected ?? {}
  return [
    ...(run === undefined && doing === 'run' && why === 'it has not run yet' ? [] : [why]),
    ...(where === undefined || doing === 'elsewhere' ? [] : [`on the ${where} side`]),
    ...(usualMs === undefined || usualMs < 1000 || doing !== 'run' ? [] : [`usually ${formatDuration(usualMs)}`]),
    ...(bytes === undefined ? [] : [`${formatBytes(bytes)} to move`]),
    ...(diskBytes === undefined ? [] : [`${formatBytes(diskBytes)} of disk`]),
  ].join('; ')
}

function belowOf({ parameters, expected, undoKinds = [], doing }: PlanStepView): readonly string[] {
  if (doing !== 'run') return []
  const { files = [], notes = [] } = expected ?? {}
  return [
    ...parameters.map(({ name, value, by }) =>
      value === undefined
        ? `${name} has no value`
        : `${name}=${shown(value)}  (${by.replace(/^default of the step$/, 'default')})`,
    ),
    ...files.map((file) => `writes ${file}`),
    ...undoKinds.map((kind) => `can be taken away again: ${kind}`),
    ...notes,
  ]
}

const longestValue = 100

/** On one line, so that the tree stays one; --json has all of it. */
function shown(value: string): string {
  const text = value.replaceAll('\n', '\\n')
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text
}

/** The same as a picture: what is done is marked, what is left out is, too. */
export function planDrawing({ workflow, steps, observers }: PlanView): Drawing {
  const phases = ['pre', 'test', 'post'].map((name) => ({
    name: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`,
    steps: steps.filter(({ phase }) => phase === name).map(drawnStep),
  }))
  const beside = observers.map((name) => ({ id: `observer/${name}`, label: name, groups: [] }))
  return {
    title: workflow,
    phases,
    ...(beside.length > 0 && { beside: { name: 'Observers', steps: beside } }),
  }
}

function drawnStep({ step, title, groups, doing, why, parameters }: PlanStepView): DrawnStep {
  const state =
    doing === 'keep' ? 'succeeded' : doing === 'skip' ? 'skipped' : doing === 'leave' ? undefined : 'pending'
  const values = parameters.map(({ name, value, by }) => `${name}=${value ?? ''} (${by})`)
  return { id: step, label: title, groups, ...(state && { state }), tooltip: [why, ...values].join('\n') }
}
