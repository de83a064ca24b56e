/** `run teardown`: takes away what a run made, from its journal alone. */
import type { Command } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import { openDefinition, type RunDefinition, readDefinition } from '../../flows/run-definition.ts'
import { scopes } from '../../flows/stages/scopes.ts'
import { teardownWord } from '../../journal/run-state.ts'
import { findRun, readRun } from '../../workflow/known-runs.ts'
import type { RunDirectory } from '../../workflow/run-directory.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { readCount } from '../flag-values.ts'
import { addWhereOption, askedWords, type StepOptions } from '../run-options.ts'
import { runSession } from '../run-session.ts'
import { addRunsOption, type RunsOption, runsDirectory, runsFlag } from '../runs-option.ts'

interface Options extends RunsOption, Pick<StepOptions, 'where'> {
  readonly scope?: string
  readonly forget?: readonly number[]
  readonly anyway?: boolean
}

const details = `
The steps of the teardown are run, then everything that the run recorded is taken away, the last first. What cannot be taken away keeps
nothing else; it is named, and tried again the next time. It can be run days later, and again.
Exit status: 0; 1 where something is left.

Examples:
  sallyport run teardown                         of the last run
  sallyport run teardown 20261121T1600 --scope bootstrap
  sallyport run teardown 20261121T1600 --forget 7        you have taken it away by hand`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('take away what a run made; also days later, also again')
    .description('Takes away what a run made, from its journal alone.')
    .argument('[run]', 'its name, or the beginning of it (default: the last one)')
  addRunsOption(addWhereOption(command))
    .option('--scope <scope>', 'only what belongs to this: bootstrap, bastion, …')
    .option('--forget <id>', 'you have taken it away by hand; again for another', collectIds)
    .option('--anyway', 'here, although it was exported')
    .addHelpText('after', details)
    .action(async (run: string | undefined, options: Options) => {
      host.done(await teardown(run, options, host.context()))
    })
}

async function teardown(wanted: string | undefined, options: Options, context: CliContext): Promise<number> {
  const runs = runsDirectory(options, context)
  const directory = await findRun(runs, wanted)
  const opened = await openForTeardown(directory, context)
  const { scope, forget = [], where } = options
  if (scope !== undefined) await refuseUnknownScope(scope, directory, opened.definition.kind)
  context.stderr(`taking down run ${directory.id}\n`)
  const request = {
    mode: 'teardown' as const,
    forget,
    ...(scope !== undefined && { scope }),
    ...(where && { sites: new Set(where) }),
    asked: [teardownWord, ...askedWords({ scope, forget, where })],
  }
  return runSession(
    { runs, runsFlag: runsFlag(options), directory, opened, request, isForced: options.anyway === true },
    context,
  )
}

/** A word that is misspelled would take nothing away, and say that all is well. */
async function refuseUnknownScope(scope: string, directory: RunDirectory, kind: RunDefinition['kind']): Promise<void> {
  const { state } = await readRun(directory)
  const recorded = [...state.undo.values()].flatMap(({ record }) => record.scope ?? [])
  const known = [...new Set([...(kind === 'disconnected' ? scopes : []), ...recorded])]
  if (known.includes(scope)) return
  const meant = known.length === 0 ? 'nothing that it made has a scope' : `there are ${known.join(', ')}`
  throw new KnownError('USAGE', `--scope ${scope}: run ${directory.id} has no such scope; ${meant}`)
}

/** A source that does not load any more keeps nobody from taking down what it made. */
async function openForTeardown(directory: RunDirectory, context: CliContext) {
  const definition = await readDefinition(directory)
  try {
    return await openDefinition(definition, context)
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    context.log.warn(`${error.message}; what was kept when the run was last begun is used`)
    return openDefinition(definition, context, { isCopyWanted: true })
  }
}

function collectIds(text: string, before: readonly number[] = []): readonly number[] {
  return [...before, readCount(1)(text)]
}
