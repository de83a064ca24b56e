/** `runs`: what ran here. */
import type { Command } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import { readRun, runIds } from '../../workflow/known-runs.ts'
import { runDirectory } from '../../workflow/run-directory.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderRuns, type UnreadableRun } from '../render/run-list.ts'
import { type RunView, viewRun } from '../render/run-view.ts'
import { addRunsOption, type RunsOption, runsDirectory, runsFlag } from '../runs-option.ts'

const details = `
Examples:
  sallyport runs
  sallyport runs --json | jq -r '.runs[] | select(.status == "failed") | .run'`

export function define(command: Command, host: CommandHost): void {
  command.description('Lists the runs that are here, the last first.')
  addRunsOption(command)
    .addHelpText('after', details)
    .action(async (options: RunsOption) => {
      host.done(await list(options, host.context()))
    })
}

async function list(options: RunsOption, context: CliContext): Promise<number> {
  const directory = runsDirectory(options, context)
  const from = { now: context.clock.now(), runsFlag: runsFlag(options) }
  const runs: RunView[] = []
  const unreadable: UnreadableRun[] = []
  for (const run of [...(await runIds(directory))].reverse()) {
    try {
      runs.push(await viewRun(await readRun(runDirectory(directory, run)), from))
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      unreadable.push({ run, problem: error.message })
    }
  }
  const { json, stdout, clock } = context
  stdout(
    json
      ? `${JSON.stringify({ directory, runs, unreadable })}\n`
      : renderRuns({ directory, runs, unreadable }, clock.now()),
  )
  return 0
}
