/** A run as people and `--json` are shown it. Plain JSON. */
import { hostname } from 'node:os'
import { isLocked } from '../../host/lock.ts'
import type { Site, StepProblem, UndoRecord } from '../../journal/events.ts'
import type { Attempt, RunState, StepState, StepStatus, UndoState } from '../../journal/run-state.ts'
import type { KnownRun } from '../../workflow/known-runs.ts'
import { isDone, isTakenDown, type RunStatus, runStatus } from '../../workflow/run-status.ts'
import { isForgiven } from './forgiven-step.ts'

export interface StepView {
  readonly step: string
  readonly title: string
  readonly phase: string
  readonly groups: readonly string[]
  readonly where?: Site
  readonly status: StepStatus
  /** Why it is skipped, marked as done, or to be run again; of a success what was said of it. */
  readonly why?: string
  readonly attempts: number
  /** Of the last attempt. */
  readonly startedAt?: number
  readonly durationMs?: number
  /** What it found that fails nothing, and has to be known. */
  readonly warnings?: readonly string[]
  readonly progress?: string
  readonly silentForMs?: number
  readonly problem?: StepProblem
  /** It failed, and that changes nothing: best effort. */
  readonly isForgiven?: true
  readonly exit?: number
  readonly signal?: string
  /** Absolute path of the last log. */
  readonly log?: string
}

export interface UndoView {
  readonly undo: number
  readonly step: string
  readonly kind: string
  readonly scope?: string
  readonly what: string
  readonly status: 'open' | 'failed'
  readonly problem?: StepProblem
}

export interface RunView {
  readonly run: string
  readonly workflow: string
  readonly status: RunStatus
  readonly why?: string
  readonly directory: string
  readonly createdAt: number
  readonly lastAt: number
  readonly host?: string
  readonly user?: string
  readonly sessions: number
  readonly exportedTo?: string
  readonly importedFrom?: string
  readonly isTakenDown: boolean
  readonly steps: readonly StepView[]
  /** What ran beside the steps, and failed: it changes nothing but this. */
  readonly observers: readonly { readonly observer: string; readonly log: string; readonly problem: StepProblem }[]
  /** What is to be taken away still. */
  readonly undo: readonly UndoView[]
  /** The step that failed, or was interrupted. */
  readonly failed?: string
  /** What to do next. */
  readonly next: string
}

interface ViewedFrom {
  /** For what runs still. */
  readonly now: number
  /** ` --runs DIR` as its user gave it, for the commands that are named. */
  readonly runsFlag: string
}

export async function viewRun(run: KnownRun, from: ViewedFrom): Promise<RunView> {
  const { directory, state } = run
  // A lock of another machine, on a shared disk, says nothing here.
  const isOwn = state.session === undefined || state.session.host === hostname()
  const isHeld = isOwn ? await isLocked(directory.lock) : false
  return viewState(run, { isHeld, ...from })
}

export function viewState(
  { directory, state }: KnownRun,
  { isHeld, now, runsFlag }: ViewedFrom & { readonly isHeld: boolean },
): RunView {
  const status = runStatus(state, isHeld)
  const isAlive = status === 'running'
  const side = sideOf(state)
  const resume = `sallyport resume ${directory.id}${runsFlag}${side.flag}`
  const around = { run: directory.id, root: directory.root, now, isAlive, resume }
  const steps = [...state.steps.values()].map((step) => viewStep(step, around))
  const failed = steps.find(({ status: each, isForgiven }) => isFailure(each) && isForgiven !== true)
  const undo = [...state.undo.values()].flatMap(viewUndo)
  const { session, exportedTo, importedFrom } = state
  const parts = { run: directory.id, workflow: state.workflow, status, undo, isTakenDown: isTakenDown(state) }
  return {
    ...parts,
    ...whyOf(state, status),
    directory: directory.root,
    createdAt: state.createdAt,
    lastAt: state.lastAt,
    ...(session && { host: session.host, user: session.user }),
    sessions: state.sessions,
    ...(exportedTo !== undefined && { exportedTo }),
    ...(importedFrom !== undefined && { importedFrom }),
    steps,
    observers: [...state.observers.values()].flatMap(({ name, log, problem }) =>
      problem === undefined ? [] : [{ observer: name, log: `${directory.root}/${log}`, problem }],
    ),
    ...(failed && { failed: failed.step }),
    next: nextOf({ ...parts, runsFlag, side, steps, ...(failed && { failed: failed.step }) }),
  }
}

interface OwnSide {
  /** ` --where SITE,…`; empty where nobody asks. */
  readonly flag: string
  /** Imported, and not yet gone on with. */
  readonly isNew: boolean
}

/** Of a run from the other side each session is to say on which sides this machine is: as the last one here did. */
function sideOf({ importedFrom, steps, session }: RunState): OwnSide {
  const hasSides = [...steps.values()].some(({ outline }) => outline.where !== undefined)
  if (importedFrom === undefined || !hasSides) return { flag: '', isNew: false }
  const last = session?.asked.find((word) => word.startsWith('--where '))
  const isNew = last === undefined || last === '--where connected'
  return { flag: ` ${isNew ? '--where bastion,closed' : last}`, isNew }
}

function isFailure(status: StepStatus): boolean {
  return status === 'failed' || status === 'timed-out' || status === 'interrupted' || status === 'cancelled'
}

function whyOf({ session, exportedTo }: RunState, status: RunStatus): { readonly why?: string } {
  if (status === 'exported' && exportedTo !== undefined) return { why: `it goes on where ${exportedTo} is imported` }
  if (status === 'interrupted') return { why: 'its process is gone, and never said so' }
  return session?.why === undefined || status === 'running' ? {} : { why: session.why }
}

interface StepSurroundings {
  readonly run: string
  /** The words that go on with the run here. */
  readonly resume: string
  readonly root: string
  readonly now: number
  /** Whether the engine is there. */
  readonly isAlive: boolean
}

function viewStep(state: StepState, around: StepSurroundings): StepView {
  const { outline, status, why, attempts, progress, silentForMs } = state
  const { id: step, title, phase, groups, where } = outline
  const last = attempts.at(-1)
  const isGone = status === 'running' && !around.isAlive
  return {
    step,
    title,
    phase,
    groups,
    ...(where && { where }),
    status: isGone ? 'interrupted' : status,
    ...(why !== undefined ? { why } : last?.note !== undefined && { why: last.note }),
    attempts: attempts.length,
    ...(status === 'succeeded' && last?.warnings && { warnings: last.warnings }),
    ...(last && status !== 'pending' && viewAttempt(last, around)),
    ...(isForgiven(state) && { isForgiven: true }),
    ...(progress && { progress: progressText(progress) }),
    ...(silentForMs !== undefined && { silentForMs }),
  }
}

function viewAttempt(
  { startedAt, endedAt, problem, exit, signal, log }: Attempt,
  { root, now, isAlive, ...words }: StepSurroundings,
): Partial<StepView> {
  const end = endedAt ?? (isAlive ? now : undefined)
  return {
    startedAt,
    ...(end !== undefined && { durationMs: end - startedAt }),
    ...(problem && { problem: toldHere(problem, words) }),
    ...(exit !== undefined && { exit }),
    ...(signal !== undefined && { signal }),
    log: `${root}/${log}`,
  }
}

/** A step does not know by which words the run is gone on with on this side: where it lies, and which side this is. */
function toldHere(problem: StepProblem, { run, resume }: Pick<StepSurroundings, 'run' | 'resume'>): StepProblem {
  if (problem.hint === undefined) return problem
  const words = new RegExp(`\\bsallyport resume(?: (?:RUN|${run})\\b)?`, 'g')
  return { ...problem, hint: problem.hint.replaceAll(words, () => resume) }
}

/** `pulling images, 3 of 12 images`. */
export function progressText({ note, done, total, unit = '' }: Omit<NonNullable<StepState['progress']>, 'at'>): string {
  const amount = done === undefined ? '' : `${done}${total === undefined ? '' : ` of ${total}`} ${unit}`.trim()
  return [note, amount].filter((part) => part !== undefined && part !== '').join(', ')
}

function viewUndo({ id, step, record, status, problem }: UndoState): readonly UndoView[] {
  if (status === 'done') return []
  const { kind, scope } = record
  const what = undoText(record)
  return [{ undo: id, step, kind, ...(scope !== undefined && { scope }), what, status, ...(problem && { problem }) }]
}

/** What there is to take away, for people; by its values where nobody said. */
export function undoText({ kind, what, values }: UndoRecord): string {
  const all = Object.entries(values).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return what ?? `${kind}: ${all.join(', ')}`
}

/** One line: what a tired administrator types next. */
function nextOf(parts: NextParts): string {
  const { run: id, runsFlag, side, workflow, status, undo, failed, isTakenDown: isDown, steps } = parts
  const run = `${id}${runsFlag}`
  const here = `${run}${side.flag}`
  const isPost = steps.find(({ step }) => step === failed)?.phase === 'post'
  const hasLeft = undo.length > 0 || steps.some(({ phase, attempts }) => phase === 'post' && attempts === 0)
  const takeDown = hasLeft ? `; sallyport run teardown ${here} takes away what it made` : ''
  const anew = `the same sallyport run ${workflow} … begins anew`
  const look = failed === undefined ? '' : `look at sallyport logs ${run} ${failed}; `
  switch (status) {
    case 'new':
      return `sallyport resume ${here} begins it`
    case 'running':
      return `sallyport logs ${run} -f follows it`
    case 'interrupted':
    case 'stopped':
      return isDown
        ? `what it made is taken down; ${anew}`
        : `sallyport resume ${here} goes on where it stopped${takeDown}`
    case 'failed':
      if (isDown) return `${look}what it made is taken down: mend the cause; ${anew}`
      return failed === undefined || isPost
        ? `${look}sallyport run teardown ${here} tries again to take away what is left`
        : `${look}mend the cause, and sallyport resume ${here} goes on there${takeDown}`
    case 'gap':
      if (side.isNew) return `sallyport resume ${here} goes on here`
      return `sallyport run export ${run} -o FILE; carry the file across; there sallyport run import FILE, and resume`
    case 'exported':
      return 'go on where it was imported; or, where it never arrived, here with --anyway'
    case 'succeeded':
      return hasLeft && !isDown
        ? `sallyport run teardown ${here} takes away what it made, when it is not wanted any more`
        : 'nothing: it is done'
    case 'taken-down':
      return 'nothing: what it made is taken down'
  }
}

type NextParts = Pick<RunView, 'run' | 'workflow' | 'status' | 'undo' | 'failed' | 'isTakenDown' | 'steps'> &
  Pick<ViewedFrom, 'runsFlag'> & { readonly side: OwnSide }

export function countDone(steps: readonly StepView[]): string {
  return `${steps.filter(({ status }) => isDone(status)).length}/${steps.length}`
}
