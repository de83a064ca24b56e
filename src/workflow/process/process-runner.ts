import { KnownError } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import type { ProcessLimits, ProcessRunner } from '../attempt.ts'
import type { CommandEnd, StepCommand } from '../step.ts'
import { runProcess } from './run-process.ts'

/** Runs what steps ask for as process groups of this machine. */
export function processRunner(clock: Clock): ProcessRunner {
  return { run: (command, limits) => runCommand(command, limits, clock) }
}

/** @throws KnownError PROGRAM_FAILED where it cannot be started */
async function runCommand(command: StepCommand, limits: ProcessLimits, clock: Clock): Promise<CommandEnd> {
  const { argv, env, cwd, first = 'TERM', onOutput = limits.onOutput } = command
  const { cookie, exitFile, graceMs, signal, leaving, onStart } = limits
  const end = await runProcess(
    {
      argv,
      env,
      cookie,
      graceMs,
      firstSignal: `SIG${first}`,
      ...(cwd !== undefined && { cwd }),
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
