/** `run show`: how a run is, step by step, and what to do next. */
import type { Command } from 'commander'
import { findRun, readRun } from '../../workflow/known-runs.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderRun } from '../render/run-show.ts'
import { viewRun } from '../render/run-view.ts'
import { tailOf } from '../run-session.ts'
import { addRunsOption, type RunsOption, runsDirectory, runsFlag } from '../runs-option.ts'

const details = `
The first line says how it is, the last what to do next.

Examples:
  sallyport run show                        the last run
  sallyport run show 20261121T1600 --json | jq '.steps[] | select(.status == "failed")'`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('how a run is, step by step, and what to do next')
    .description('Shows a run: its steps, what failed and why, what is to be taken away still, and what to do next.')
    .argument('[run]', 'its name, or the beginning of it (default: the last one)')
  addRunsOption(command)
    .addHelpText('after', details)
    .action(async (run: string | undefined, options: RunsOption) => {
      host.done(await show(run, options, host.context()))
    })
}

async function show(wanted: string | undefined, options: RunsOption, context: CliContext): Promise<number> {
  const known = await readRun(await findRun(runsDirectory(options, context), wanted))
  const view = await viewRun(known, { now: context.clock.now(), runsFlag: runsFlag(options) })
  context.stdout(context.json ? `${JSON.stringify(view)}\n` : renderRun(view, { tail: await tailOf(view) }))
  return 0
}
