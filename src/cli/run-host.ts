import { hostname } from 'node:os'
import { join } from 'node:path'
import type { EngineHost } from '../workflow/engine.ts'
import { endOrphans, processRunner } from '../workflow/process/process-runner.ts'
import type { CliContext } from './context.ts'
import { version } from './version.ts'

/** This machine, as the engine needs it. */
export function engineHost(runs: string, { clock, env }: Pick<CliContext, 'clock' | 'env'>): EngineHost {
  return {
    clock,
    processes: processRunner(clock),
    endOrphans: (cookie) => endOrphans(cookie, clock),
    machine: { host: hostname(), pid: process.pid, user: userName(env) },
    version,
    leases: join(runs, 'leases'),
  }
}

/** Who is to be named in the record: the person, where sudo says who it was. */
function userName(env: CliContext['env']): string {
  return env['SUDO_USER'] ?? env['USER'] ?? env['LOGNAME'] ?? `uid ${process.getuid?.() ?? 'unknown'}`
}
