import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { shellQuote } from '../host/shell-quote.ts'
import type { CliContext } from './context.ts'

export interface RunsOption {
  readonly runs?: string
}

export function addRunsOption(command: Command): Command {
  return command.option('--runs <dir>', 'where runs lie (default: $SALLYPORT_RUNS, or .sallyport/runs)')
}

/** As it has to stand in a command that this one tells to type next; empty where it need not. */
export function runsFlag({ runs }: RunsOption): string {
  if (runs === undefined) return ''
  return ` --runs ${shellQuote(runs)}`
}

/** Absolute. */
export function runsDirectory({ runs }: RunsOption, { env, cwd }: Pick<CliContext, 'env' | 'cwd'>): string {
  return resolve(cwd, runs ?? env['SALLYPORT_RUNS'] ?? join('.sallyport', 'runs'))
}
