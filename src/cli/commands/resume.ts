/** `resume`: goes on with a run, wherever its definition lies now. */
import type { Command } from 'commander'
import { openDefinition, readDefinition } from '../../flows/run-definition.ts'
import { findRun, readRun } from '../../workflow/known-runs.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { addStepOptions, readSessionRequest, type StepOptions } from '../run-options.ts'
import { runSession } from '../run-session.ts'
import { addRunsOption, type RunsOption, runsDirectory, runsFlag } from '../runs-option.ts'

interface Options extends RunsOption, StepOptions {
  readonly anyway?: boolean
}

const details = `
What has succeeded, and has the same inputs as before, is not run again.
Exit status: as of sallyport run.

Examples:
  sallyport resume                                    the last run
  sallyport resume 20261121T1600 --where bastion,closed
  sallyport resume 20261121T1600 --rerun mirror-images --with-downstream`

export function define(command: Command, host: CommandHost): void {
  command
    .description('Goes on with a run where it stopped.')
    .argument('[run]', 'its name, or the beginning of it (default: the last one)')
  addRunsOption(addStepOptions(command))
    .option('--anyway', 'here, although it was exported or is taken down')
    .addHelpText('after', details)
    .action(async (run: string | undefined, options: Options) => {
      host.done(await resume(run, options, host.context()))
    })
}

async function resume(wanted: string | undefined, options: Options, context: CliContext): Promise<number> {
  const runs = runsDirectory(options, context)
  const directory = await findRun(runs, wanted)
  const { stderr } = context
  const { state } = await readRun(directory)
  const definition = await readDefinition(directory)
  // Another machine may have something else at the same place. Of a site the import has found the place here.
  const isCopyWanted = state.importedFrom !== undefined && definition.kind !== 'disconnected'
  const opened = await openDefinition(definition, context, { isCopyWanted })
  const source = opened.from === 'copy' ? ', as it was kept: its source is not here' : ''
  const { anyway = false, teardown, ...asked } = options
  const request = readSessionRequest(asked, opened.workflow)
  stderr(`going on with run ${directory.id} of ${opened.workflow.name}${source}\n`)
  return runSession(
    { runs, runsFlag: runsFlag(options), directory, opened, request, teardown, isForced: anyway },
    context,
  )
}
