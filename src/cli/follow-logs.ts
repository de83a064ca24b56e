import { join } from 'node:path'
import { watchFiles } from '../host/file-watch.ts'
import { isLocked } from '../host/lock.ts'
import type { RunState } from '../journal/run-state.ts'
import { JournalTail } from '../workflow/journal-tail.ts'
import type { RunDirectory } from '../workflow/run-directory.ts'
import type { CliContext } from './context.ts'
import { LogReader } from './log-reader.ts'
import { statusWord } from './render/run-show.ts'
import { allLogs, logTitle, type ShownLog } from './shown-logs.ts'

interface FollowOptions {
  readonly directory: RunDirectory
  /** Without the time before each line, and without the names of steps. */
  readonly isBare: boolean
  /** The step to begin with; undefined: the first one. */
  readonly from: string | undefined
  /** This step alone. */
  readonly only: string | undefined
}

/**
 * Prints the logs of a run, one after another, until the run has ended, or the step that is asked for.
 *
 * @returns the exit status: 0, 130 where somebody stops looking
 */
export async function followLogs(options: FollowOptions, context: CliContext): Promise<number> {
  const { directory, isBare, only } = options
  const journal = new JournalTail(directory.journal)
  await journal.advance()
  let log = firstLog(journal.state, options)
  try {
    for (;;) {
      if (log !== undefined) {
        if (only === undefined && !isBare) context.stdout(logTitle(log))
        await followOne(log, { ...options, journal, context })
        if (only !== undefined && !(await isRunning(directory, journal.state))) return 0
      }
      const next = await nextLog({ log, journal, options, context })
      if (next === undefined) return 0
      log = next
    }
  } catch (error) {
    // Who looks has seen enough; the run goes on.
    if (context.signal.aborted) return 130
    throw error
  }
}

function firstLog(state: RunState, { from, only }: FollowOptions): ShownLog | undefined {
  const logs = allLogs(state)
  const wanted = only ?? from
  return wanted === undefined ? logs[0] : logs.findLast(({ step }) => step === wanted)
}

interface Following extends FollowOptions {
  readonly journal: JournalTail
  readonly context: CliContext
}

/** Until its attempt has ended, or its engine is gone. */
async function followOne(log: ShownLog, { directory, isBare, journal, context }: Following): Promise<void> {
  const path = join(directory.root, log.attempt.log)
  const reader = new LogReader(path, { isBare })
  const watch = watchFiles([path, directory.journal], context.clock)
  try {
    for (;;) {
      await journal.advance()
      const attempt = journal.state.steps.get(log.step)?.attempts.find(({ number }) => number === log.attempt.number)
      // Looked at before the log is read: what is written before the end is then read, too.
      const hasEnded = attempt?.endedAt !== undefined || !(await isRunning(directory, journal.state))
      await reader.read(context.stdout, { isLast: hasEnded })
      if (hasEnded) return
      await watch.next(context.signal)
    }
  } finally {
    watch.close()
  }
}

interface Between {
  readonly log: ShownLog | undefined
  readonly journal: JournalTail
  readonly options: FollowOptions
  readonly context: CliContext
}

/** The log that begins after `log`; undefined where the run has ended, or the step. */
async function nextLog({ log, journal, options, context }: Between): Promise<ShownLog | undefined> {
  const { directory, only } = options
  const watch = watchFiles([directory.journal], context.clock)
  try {
    for (;;) {
      const isAlive = await isRunning(directory, journal.state)
      await journal.advance()
      const logs = allLogs(journal.state)
      const at = log === undefined ? -1 : logs.findIndex((each) => isSame(each, log))
      const next = logs.slice(at + 1).find(({ step }) => only === undefined || step === only)
      if (next !== undefined) return next
      const status = only === undefined ? undefined : journal.state.steps.get(only)?.status
      if (status !== undefined && log !== undefined && !isAgain(journal.state, log)) return undefined
      if (!isAlive) {
        tellEnd(journal.state, context)
        return undefined
      }
      await watch.next(context.signal)
    }
  } finally {
    watch.close()
  }
}

function isSame(one: ShownLog, other: ShownLog): boolean {
  return one.step === other.step && one.attempt.number === other.attempt.number
}

/** Whether another attempt of the same step is to come. */
function isAgain({ steps }: RunState, { step, attempt }: ShownLog): boolean {
  return steps.get(step)?.attempts.find(({ number }) => number === attempt.number)?.retryAt !== undefined
}

async function isRunning({ lock }: RunDirectory, { session }: RunState): Promise<boolean> {
  return (session === undefined || session.endedAt === undefined) && (await isLocked(lock))
}

function tellEnd({ session }: RunState, { stderr }: CliContext): void {
  const isGone = session?.endedAt === undefined
  stderr(
    isGone
      ? 'the process that ran it is gone\n'
      : `${statusWord(session.outcome ?? 'stopped')}: ${session.why ?? ''}\n`,
  )
}
