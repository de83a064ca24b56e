/** A run in which everything happens that a journal can tell of, for the journals that are kept as fixtures. */
import { z } from 'zod'
import { KnownError } from '../src/errors/known-error.ts'
import { systemClock } from '../src/host/clock.ts'
import { type RunSettings, runWorkflow, type SessionRequest } from '../src/workflow/engine.ts'
import { openJournal } from '../src/workflow/journal-file.ts'
import { processRunner } from '../src/workflow/process/process-runner.ts'
import { type RunDirectory, runDirectory } from '../src/workflow/run-directory.ts'
import type { StepContext } from '../src/workflow/step.ts'
import type { Workflow, WorkflowStep } from '../src/workflow/workflow.ts'
import { openRunSettings, placed } from './workflow-run.ts'

interface World {
  /** Turns true between sessions: what could not be done can be done then. */
  isMended: boolean
  readonly stop: AbortController
}

function stepsOf(world: World): readonly WorkflowStep[] {
  const make = async (context: StepContext, id: string) => {
    await context.record({ kind: 'thing', scope: 'bastion', values: { id } })
    context.progress({ note: `makes ${id}`, done: 1, total: 2, unit: 'things' })
  }
  let tries = 0
  return [
    placed('01-begin/make', {
      where: 'connected',
      secretOutput: ['password'],
      output: z.object({ password: z.string() }),
      apply: async (_, context) => {
        await make(context, 'network')
        return { password: 'correct-horse-battery' }
      },
    }),
    placed('01-begin/again', {
      policy: { retry: { attempts: 2, firstDelayMs: 1 } },
      apply: async () => {
        tries += 1
        if (tries === 1) throw new KnownError('STEP_TRANSIENT', 'the registry is busy')
        return {}
      },
    }),
    placed('02-run/program', {
      apply: async (_, context) => {
        await make(context, 'host')
        const end = await context.exec({ argv: ['/bin/sh', '-c', `exit ${world.isMended ? 0 : 3}`], env: {} })
        if (end.status !== 0)
          throw new KnownError('STEP_FAILED', 'program ended with 3', { details: { exit: end.status } })
        return {}
      },
    }),
    placed('02-run/slow', {
      policy: { timeoutMs: world.isMended ? 60_000 : 30, silenceMs: 10, graceMs: 10 },
      apply: (_, { signal }) => (world.isMended ? Promise.resolve({}) : untilAborted(signal)),
    }),
    placed('02-run/stopped', {
      apply: async (_, { signal }) => {
        if (world.isMended) return {}
        world.stop.abort(new KnownError('INTERRUPTED', 'Interrupted'))
        return untilAborted(signal)
      },
    }),
    placed('03-over/left-out', { apply: async () => ({}) }),
    placed('03-over/by-hand', { apply: async () => ({}) }),
    placed('03-over/closed', { where: 'closed', apply: async () => ({}) }),
    placed('10-post/gather', { phase: 'post', apply: async () => ({}) }),
  ]
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const keep = setInterval(() => undefined, 60_000)
    const end = () => {
      clearInterval(keep)
      reject(signal.reason)
    }
    if (signal.aborted) end()
    else signal.addEventListener('abort', end)
  })
}

function workflowOf(world: World, steps: readonly WorkflowStep[]): Workflow {
  return {
    name: 'eventful',
    steps,
    observers: [{ name: 'watcher', run: (context) => untilAborted(context.signal).catch(() => undefined) }],
    undo: {
      thing: {
        describe: ({ id }) => `thing ${String(id)}`,
        remove: async ({ id }) => {
          if (id === 'host' && !world.isMended) throw new KnownError('STEP_FAILED', 'the host is in use')
        },
      },
    },
    teardown: 'never',
    leases: [],
  }
}

/** The whole story, over several sessions; gives the directory of the run. */
export async function runEventfully(runs: string): Promise<RunDirectory> {
  const directory = runDirectory(runs, '20260101T000000-full')
  const world = (isMended: boolean): World => ({ isMended, stop: new AbortController() })
  const session = async (request: Partial<SessionRequest>, { isMended, stop }: World) => {
    const settings: RunSettings = openRunSettings(runs, request)
    const host = { ...settings.host, processes: processRunner(systemClock), version: isMended ? '0.0.1' : '0.0.0' }
    const workflow = workflowOf({ isMended, stop }, stepsOf({ isMended, stop }))
    await runWorkflow(workflow, directory, { ...settings, host, signal: stop.signal })
  }
  await session({}, world(false))
  await session({ only: '02-run/slow' }, world(false))
  await session({ only: '02-run/stopped' }, world(false))
  await appendAlone(directory, 1_700_000_000_000)
  const by = {
    skip: [{ step: '03-over/left-out', why: 'not wanted' }],
    markDone: [{ step: '03-over/by-hand', why: 'done by hand' }],
  }
  await session({ ...by, sites: new Set(['connected'] as const) }, world(true))
  await session({ rerun: [{ step: '01-begin/again', why: 'to be sure' }] }, world(true))
  await session({ mode: 'teardown' }, world(false))
  await session({ mode: 'teardown' }, world(true))
  return directory
}

/** What only the command line writes, and what an engine leaves that is gone in the middle of a step. */
async function appendAlone({ journal: path }: RunDirectory, at: number): Promise<void> {
  const journal = await openJournal(path)
  const step = '02-run/program'
  const attempt = (journal.state.steps.get(step)?.attempts.length ?? 0) + 1
  await journal.append({ type: 'run.exported', file: '/media/usb/run.tar' }, { at })
  await journal.append({ type: 'run.imported', host: 'connected', digest: `sha256:${'0'.repeat(64)}` }, { at })
  await journal.append({ type: 'session.started', host: 'here', pid: 1, user: 'tester', asked: [] }, { at })
  await journal.append({ type: 'step.started', step, attempt, inputs: '', log: 'l', why: 'it failed before' }, { at })
  await journal.close()
}
