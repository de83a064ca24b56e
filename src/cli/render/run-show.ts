/** One run, for people: the first line says how it is, the last what to do next. */
import type { StepStatus } from '../../journal/run-state.ts'
import { forgivenWords } from './forgiven-step.ts'
import { count, formatDuration } from './quantities.ts'
import type { RunView, StepView, UndoView } from './run-view.ts'
import { countDone } from './run-view.ts'
import { treeLines } from './step-tree.ts'

export interface RunDetails {
  /** The last lines of the log of what failed. */
  readonly tail: readonly string[]
  /** Whether there is no room left where the run lies. */
  readonly fullDisk?: boolean
}

export function renderRun(view: RunView, { tail }: RunDetails): string {
  return `${[
    headline(view),
    ...problemLines(view, tail),
    ...warningLines(view),
    '',
    ...treeLines(view.steps, { mark: ({ status }) => marks[status], facts: stepFacts }),
    ...view.observers.map(
      ({ observer, log, problem }) => `  beside them ${observer} failed: ${firstLine(problem.message)} (${log})`,
    ),
    ...undoLines(view.undo),
    '',
    ...placeLines(view),
    `  next: ${view.next}`,
  ].join('\n')}\n`
}

/** What is printed at the end of `run`: the steps were told while they ran. */
export function renderEnd(view: RunView, { tail, fullDisk = false }: RunDetails): string {
  return `${[
    headline(view),
    ...(fullDisk ? [`  the disk of ${view.directory} is full: free space first`] : []),
    // What failed before may not have been come to.
    ...(endsWithoutFault.has(view.status) ? [] : problemLines(view, tail)),
    ...warningLines(view),
    ...stuckLines(view.undo),
    `  next: ${view.next}`,
  ].join('\n')}\n`
}

const endsWithoutFault: ReadonlySet<RunView['status']> = new Set(['stopped', 'taken-down', 'succeeded'])

/** `failed: make-network of ipi-aws, run 20261121T160000-ab12: …`. */
function headline({ status, workflow, run, why, steps, failed }: RunView): string {
  const step = steps.find(({ step: id }) => id === failed)
  const reason = status === 'failed' && step?.problem ? `${failed}: ${firstLine(step.problem.message)}` : why
  const told = reason === undefined ? `${countDone(steps)} steps done` : reason
  return `${words[status]}: ${workflow}, run ${run}: ${told}`
}

const words: Readonly<Record<RunView['status'], string>> = {
  new: 'not begun',
  running: 'running',
  interrupted: 'interrupted',
  succeeded: 'succeeded',
  failed: 'failed',
  stopped: 'stopped',
  gap: 'at the gap',
  exported: 'exported',
  'taken-down': 'taken down',
}

export function statusWord(status: RunView['status']): string {
  return words[status]
}

function problemLines({ run, steps, failed }: RunView, tail: readonly string[]): readonly string[] {
  const step = steps.find(({ step: id }) => id === failed)
  if (step === undefined) return []
  const [, ...more] = step.problem?.message.split('\n') ?? []
  const hint = hintOf(step, run)
  return [
    ...more.map((line) => `  ${line}`),
    ...(hint === undefined ? [] : [`  hint: ${hint}`]),
    ...(tail.length === 0 ? [] : [`  the last of ${step.log ?? 'its log'}:`, ...tail.map((line) => `    ${line}`)]),
  ]
}

/** With the names in their places; what the last line says anyway is left out. */
function hintOf({ step, problem }: StepView, run: string): string | undefined {
  const { hint } = problem ?? {}
  if (hint === undefined || /^Its log says more: sallyport logs RUN STEP\.$/.test(hint)) return undefined
  return hint.replaceAll(/\bRUN\b/g, run).replaceAll(/\bSTEP\b/g, step)
}

const marks: Readonly<Record<StepStatus, string>> = {
  pending: '           ',
  running: 'running    ',
  succeeded: 'done       ',
  failed: 'failed     ',
  'timed-out': 'timed out  ',
  cancelled: 'stopped    ',
  interrupted: 'interrupted',
  skipped: 'skipped    ',
  'marked-done': 'marked done',
}

/** `12 s; attempt 2; exit 3; why`. */
function stepFacts(step: StepView): string {
  const { durationMs, attempts, exit, signal, problem, why, progress, silentForMs, where, isForgiven } = step
  return [
    ...(durationMs === undefined ? [] : [formatDuration(durationMs)]),
    ...(attempts > 1 ? [`attempt ${attempts}`] : []),
    ...(exit === undefined ? [] : [`exit ${exit}`]),
    ...(signal === undefined ? [] : [signal]),
    ...(progress === undefined ? [] : [progress]),
    ...(silentForMs === undefined ? [] : [`nothing heard for ${formatDuration(silentForMs)}`]),
    ...(why === undefined ? [] : [why]),
    ...(problem === undefined || exit !== undefined ? [] : [firstLine(problem.message)]),
    ...(isForgiven ? [forgivenWords] : []),
    ...(where === undefined ? [] : [`on the ${where} side`]),
  ].join('; ')
}

export function statusMark(status: StepStatus): string {
  return marks[status]
}

/** What succeeded and is still not all that was hoped for: what is not proven. */
function warningLines({ steps }: RunView): readonly string[] {
  return steps.flatMap(({ step, warnings = [] }) => warnings.map((warning) => `  warning: ${step}: ${warning}`))
}

/** At the end of a session only what could not be taken away; `run show` has the rest. */
function stuckLines(undo: readonly UndoView[]): readonly string[] {
  const stuck = undo.filter(({ problem }) => problem !== undefined)
  if (stuck.length > 0) return undoLines(stuck)
  return undo.length === 0 ? [] : [`  it made ${count(undo.length, 'thing')}; sallyport run show lists them`]
}

function undoLines(undo: readonly UndoView[]): readonly string[] {
  if (undo.length === 0) return []
  const lines = undo.map(({ undo: id, what, step, scope, problem }) => {
    const of = scope === undefined ? '' : `, scope ${scope}`
    return `    ${id}  ${what} (${step}${of})${problem ? `; not taken away: ${firstLine(problem.message)}` : ''}`
  })
  return [`  ${count(undo.length, 'thing')} to take away still:`, ...lines]
}

function placeLines({ directory, createdAt, host, user, exportedTo, importedFrom }: RunView): readonly string[] {
  const by = host === undefined ? '' : `, last by ${user} on ${host}`
  return [
    `  begun ${new Date(createdAt).toISOString()}${by}, in ${directory}`,
    ...(importedFrom === undefined ? [] : [`  imported, from ${importedFrom}`]),
    ...(exportedTo === undefined ? [] : [`  exported to ${exportedTo}`]),
  ]
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
