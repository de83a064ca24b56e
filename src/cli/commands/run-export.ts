/** `run export`: one file to carry across. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import { exportRun } from '../../flows/run-travel/export-run.ts'
import { findRun, readRun } from '../../workflow/known-runs.ts'
import { runStatus } from '../../workflow/run-status.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { readPassphrase } from '../passphrase.ts'
import { renderExport } from '../render/run-travel.ts'
import { addRunsOption, type RunsOption, runsDirectory } from '../runs-option.ts'

interface Options extends RunsOption {
  readonly output?: string
  readonly withSecrets?: boolean
  readonly passphraseFile?: string
  readonly anyway?: boolean
}

const details = `
In it: the journal, what the run is made from, logs, and what steps left for each other. Not in it: images and files, which travel in
archives (sallyport archive), and secrets, but for --with-secrets, which seals them with the first line of the passphrase file.
Afterwards this side does not go on with the run; --anyway takes that back.

Examples:
  sallyport run export                                   the last run, as RUN.tar
  sallyport run export 20261121T1600 -o /media/usb/run.tar
  sallyport run export --with-secrets --passphrase-file passphrase`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('one file to carry across the gap')
    .description('Writes a run into one file, to go on with it on the other side of the gap.')
    .argument('[run]', 'its name, or the beginning of it (default: the last one)')
  addRunsOption(command)
    .option('-o, --output <file>', 'where to write it (default: RUN.tar)')
    .option('--with-secrets', 'what the run made of secrets travels, too; needs --passphrase-file')
    .option('--passphrase-file <file>', 'its first line seals the secrets')
    .option('--anyway', 'once more, although it was exported')
    .addHelpText('after', details)
    .action(async (run: string | undefined, options: Options) => {
      host.done(await exportOne(run, options, host.context()))
    })
}

async function exportOne(wanted: string | undefined, options: Options, context: CliContext): Promise<number> {
  const { withSecrets = false, passphraseFile, anyway = false } = options
  if (withSecrets !== (passphraseFile !== undefined)) {
    throw new KnownError('USAGE', '--with-secrets and --passphrase-file go together')
  }
  const { clock, cwd, json, stdout } = context
  const directory = await findRun(runsDirectory(options, context), wanted)
  const { state } = await readRun(directory)
  if (state.exportedTo !== undefined && !anyway && runStatus(state, false) === 'exported') {
    throw new KnownError('RUN_ELSEWHERE', `Run ${directory.id} was exported to ${state.exportedTo} before`, {
      hint: 'Carry that file; or write another one with --anyway: two sides must not both go on.',
    })
  }
  const file = resolve(cwd, options.output ?? `${directory.id}.tar`)
  const passphrase = passphraseFile === undefined ? undefined : await readPassphrase(resolve(cwd, passphraseFile))
  const exported = await exportRun(directory, { clock, file, ...(passphrase !== undefined && { passphrase }) })
  const told = { run: directory.id, ...exported }
  stdout(json ? `${JSON.stringify(told)}\n` : renderExport(told))
  return 0
}
