/** One session of a run, from the command line: begun, followed, and told of at its end. */
import { stat } from 'node:fs/promises'
import { KnownError } from '../errors/known-error.ts'
import { type OpenedDefinition, writeDefinition } from '../flows/run-definition.ts'
import { freeSpaceAt } from '../host/free-space.ts'
import { isLocked } from '../host/lock.ts'
import { teardownWord } from '../journal/run-state.ts'
import { ifThere } from '../store/presence.ts'
import { type RunOutcome, runWorkflow, type SessionRequest } from '../workflow/engine.ts'
import { readRun } from '../workflow/known-runs.ts'
import { writeJunit } from '../workflow/registry-run/junit-file.ts'
import { makeRunDirectory, type RunDirectory } from '../workflow/run-directory.ts'
import { isTakenDown } from '../workflow/run-status.ts'
import type { TeardownPolicy } from '../workflow/workflow.ts'
import { askYesNo } from './ask.ts'
import type { CliContext } from './context.ts'
import { runElsewhere } from './exported-run.ts'
import { logTail } from './log-tail.ts'
import { RunProgress } from './render/run-progress.ts'
import { renderEnd } from './render/run-show.ts'
import { type RunView, viewState } from './render/run-view.ts'
import { engineHost } from './run-host.ts'
import { usualDurations } from './usual-durations.ts'

export interface SessionOptions {
  /** Directory of all runs. */
  readonly runs: string
  /** ` --runs DIR` as its user gave it. */
  readonly runsFlag: string
  readonly directory: RunDirectory
  readonly opened: OpenedDefinition
  readonly request: Omit<SessionRequest, 'teardown'>
  /** Default: what the workflow says. */
  readonly teardown?: TeardownPolicy | 'ask' | undefined
  /** Goes on with what is over here, or elsewhere. */
  readonly isForced: boolean
}

const tailLines = 10
const fullBelowBytes = 128 * 1024

/**
 * Runs it, and prints how it ended.
 *
 * @returns the exit status: 0 also at the gap, 130 where it was stopped by its user
 * @throws KnownError STORE_LOCKED, RUN_OVER, RUN_ELSEWHERE, RUN_OF_ANOTHER, and what the engine throws
 */
export async function runSession(options: SessionOptions, context: CliContext): Promise<number> {
  const { directory, opened, runs, runsFlag } = options
  await refuseOthers(options)
  await refuseForeign(options, context)
  await makeRunDirectory(directory)
  await writeDefinition(directory, opened.definition)
  const usualMs = await usualDurations(runs, opened.workflow.name)
  const progress = new RunProgress(context, { usualMs, columns: process.stderr.columns })
  const run = (request: SessionRequest) =>
    runWorkflow(opened.workflow, directory, {
      host: engineHost(runs, context),
      request,
      secrets: opened.secrets,
      signal: context.signal,
      leaving: context.leaving,
      onEvent: (event, state) => progress.onEvent(event, state),
      onText: (_, text) => progress.onText(text),
    })
  const tell = async (outcome: RunOutcome) => {
    progress.stop()
    if (opened.definition.kind === 'registry') await keepJunit(directory, outcome, context)
    return tellEnd(outcome, { directory, runsFlag, context })
  }
  const lastWord = () => {
    progress.stop()
    context.stderr(`left at once: sallyport resume ${directory.id}${runsFlag} goes on where it was\n`)
  }
  context.leaving.addEventListener('abort', lastWord)
  try {
    const { request, asks } = teardownOf(options)
    const first = await run(request)
    const status = await tell(first)
    if (!asks || !(await wantsTeardown(first, context))) return status
    return Math.max(status, await tell(await run(teardownRequest)))
  } finally {
    context.leaving.removeEventListener('abort', lastWord)
    progress.stop()
  }
}

/** For tools of CI. That it cannot be written is no reason not to say how the run went. */
async function keepJunit(directory: RunDirectory, { state }: RunOutcome, { log }: CliContext): Promise<void> {
  try {
    await writeJunit(directory, state)
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    log.warn(error.message)
  }
}

const teardownRequest: SessionRequest = { mode: 'teardown', asked: [teardownWord, 'asked at the end of a run'] }

/** Before anything of the run is written. */
async function refuseOthers({ directory, runsFlag, request, isForced, opened }: SessionOptions): Promise<void> {
  if (await isLocked(directory.lock)) {
    throw new KnownError('STORE_LOCKED', `Run ${directory.id} is being run just now, by another process`, {
      hint: `sallyport logs ${directory.id}${runsFlag} -f follows it.`,
    })
  }
  const known = await readRun(directory).catch((error: unknown) => {
    if (error instanceof KnownError && error.code === 'RUN_UNKNOWN') return undefined
    throw error
  })
  if (known === undefined) return
  const { state } = known
  const hasSides = opened.workflow.steps.some(({ outline }) => outline.where !== undefined)
  if (state.importedFrom !== undefined && hasSides && request.sites === undefined) {
    throw new KnownError('USAGE', `Run ${directory.id} was imported: on which sides of the gap is this machine?`, {
      hint: 'Say --where closed, or --where bastion,closed.',
    })
  }
  if (isForced) return
  const elsewhere = runElsewhere(state, { runsFlag, ...request })
  if (elsewhere) throw elsewhere
  const isAimed = request.from !== undefined || request.only !== undefined || (request.rerun ?? []).length > 0
  if (request.mode !== 'teardown' && isTakenDown(state) && !isAimed) {
    const [first] = state.steps.keys()
    throw new KnownError('RUN_OVER', `What run ${directory.id} made is taken down: there is nothing to go on with`, {
      hint: `Begin anew: sallyport run ${state.workflow} --new, with its other options; or all of it in the same run: sallyport resume ${directory.id}${runsFlag} --from ${first ?? ''}.`,
      details: { run: directory.id },
    })
  }
}

/**
 * Root may write everywhere, and what it writes here the owner of the run could neither read nor go on with; and a lab that
 * was begun without root has no gap, whoever goes on. To take it down is another matter: nothing comes after that.
 */
async function refuseForeign(
  { directory, runsFlag, request, isForced, opened }: SessionOptions,
  { user }: Pick<CliContext, 'user'>,
): Promise<void> {
  if (user.uid !== 0 || isForced || request.mode === 'teardown') return
  const owner = (await ifThere(stat(directory.root)))?.uid ?? 0
  if (owner === 0) return
  const run = `${directory.id}${runsFlag}`
  throw new KnownError('RUN_OF_ANOTHER', `Run ${directory.id} belongs to user ${owner}, and this is root`, {
    hint: `Go on as that user: sudo -u '#${owner}' sallyport resume ${run}; or begin one as root: sallyport run ${opened.workflow.name} --new, with its other options. sallyport resume ${run} --anyway goes on with it as root, and its owner cannot any more.`,
    details: { run: directory.id, owner },
  })
}

function teardownOf({ teardown, opened, request }: SessionOptions): {
  readonly request: SessionRequest
  readonly asks: boolean
} {
  if (request.mode === 'teardown') return { request, asks: false }
  const wanted = teardown ?? (opened.asksTeardown ? 'ask' : undefined)
  if (wanted === undefined) return { request, asks: false }
  return { request: { ...request, teardown: wanted === 'ask' ? 'never' : wanted }, asks: wanted === 'ask' }
}

/** Nobody is asked where nobody can answer. */
async function wantsTeardown({ outcome, state }: RunOutcome, context: CliContext): Promise<boolean> {
  const hasMade = [...state.undo.values()].some(({ status }) => status !== 'done')
  const hasPost = [...state.steps.values()].some(({ outline }) => outline.phase === 'post')
  if (!(hasMade || hasPost) || outcome === 'gap' || !context.isTerminal || context.json || context.signal.aborted)
    return false
  return askYesNo('Take down what it made?', context)
}

async function tellEnd(
  { outcome, state }: RunOutcome,
  { directory, runsFlag, context }: Pick<SessionOptions, 'directory' | 'runsFlag'> & { readonly context: CliContext },
): Promise<number> {
  const view = viewState({ directory, state }, { isHeld: false, now: context.clock.now(), runsFlag })
  const details = { tail: await tailOf(view), fullDisk: outcome === 'failed' && (await isDiskFull(directory)) }
  context.stdout(context.json ? `${JSON.stringify(view)}\n` : renderEnd(view, details))
  if (outcome === 'succeeded') return 0
  if (context.signal.aborted) return 130
  return outcome === 'failed' || outcome === 'interrupted' ? 1 : 0
}

/** What a script says of a full disk has no room on it, either. */
async function isDiskFull({ root }: RunDirectory): Promise<boolean> {
  const { availableBytes } = await freeSpaceAt(root)
  return availableBytes !== undefined && availableBytes < fullBelowBytes
}

/** The last lines of what failed. */
export async function tailOf({ failed, steps }: RunView): Promise<readonly string[]> {
  const log = steps.find(({ step }) => step === failed)?.log
  return log === undefined ? [] : logTail(log, tailLines)
}
