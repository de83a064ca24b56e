import { KnownError } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import { endByCookie, findByCookie } from '../../host/process-cookies.ts'
import type { ProcessLimits, ProcessRunner } from '../attempt.ts'
import type { CommandEnd, StepCommand } from '../step.ts'
import { runProcess } from './run-process.ts'

/** Their engine is gone: nobody hears what they say, but what they began they may clean up. */
const orphanGraceMs = 15_000

/** Runs what steps ask for as process groups of this machine. */
export function processRunner(clock: Clock): ProcessRunner {
  return { run: (command, limits) => runCommand(command, limits, clock) }
}

/**
 * Ends what processes with a cookie that begins so have left, after a crash.
 *
 * @returns how many there were
 * @throws KnownError PROGRAM_FAILED where one of them cannot be ended: two of a step at a time would spoil each other's work
 */
export async function endOrphans(prefix: string, clock: Clock): Promise<number> {
  const found = findByCookie(prefix)?.length ?? 0
  const [left] = (await endByCookie(prefix, { graceMs: orphanGraceMs, clock })) ?? []
  if (left === undefined) return found
  throw new KnownError(
    'PROGRAM_FAILED',
    `Process ${left.pid} of ${left.cookie} is left from before, and does not end`,
    {
      details: { pid: left.pid },
    },
  )
}

/** @throws KnownError PROGRAM_FAILED where it cannot be started */
async function runCommand(command: StepCommand, limits: ProcessLimits, clock: Clock): Promise<CommandEnd> {
  const { argv, env, cwd, first = 'TERM', onOutput: take = limits.onOutput, beforeOutput, endsDaemons } = command
  const { cookie, exitFile, graceMs, signal, leaving, onStart } = limits
  const onOutput = beforeOutput === undefined ? take : (chunk: Uint8Array) => beforeOutput().then(() => take(chunk))
  const end = await runProcess(
    {
      argv,
      env,
      cookie,
      graceMs,
      firstSignal: `SIG${first}`,
      ...(cwd !== undefined && { cwd }),
      ...(endsDaemons !== undefined && { endsDaemons }),
      ...(exitFile !== undefined && { exitFile }),
    },
    { clock, onOutput, onStart, cancel: signal, kill: leaving },
  )
  if (end.cause === 'spawn-failed') {
    throw new KnownError('PROGRAM_FAILED', `${argv[0] ?? ''} cannot be run: ${end.problem ?? ''}`, {
      details: { program: argv[0] },
    })
  }
  if (end.status === undefined && end.signal === undefined) return { signal: 'SIGTERM' }
  return {
    ...(end.status !== undefined && { status: end.status }),
    ...(end.signal !== undefined && { signal: end.signal }),
  }
}
