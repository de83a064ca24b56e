/** `run import`: takes a run out of the file in which it travelled. */
import { resolve } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { readDefinition, writeDefinition } from '../../flows/run-definition.ts'
import { siteDefinitionAt } from '../../flows/run-definition-site.ts'
import { importRun } from '../../flows/run-travel/import-run.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { readPassphrase } from '../passphrase.ts'
import { renderImport } from '../render/run-travel.ts'
import { addRunsOption, type RunsOption, runsDirectory } from '../runs-option.ts'

type Pairs = Readonly<Record<string, string>>

interface Options extends RunsOption {
  readonly digest?: string
  readonly passphraseFile?: string
  readonly secret?: Pairs
}

const details = `
Every byte is held against the list in the file before anything is there; --digest holds the file against what run export printed.
A run that is here already is not touched. Of the built-in workflow, run it where sallyport.yaml and the archive are on this side.

Examples:
  sallyport run import /media/usb/run.tar
  sallyport run import run.tar --digest sha256:… --passphrase-file passphrase
  sallyport run import run.tar --secret 05-mirror-registry/serve.password=password.txt`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('take a run out of the file in which it travelled')
    .description('Takes a run out of the file in which it travelled, to go on with it here.')
    .argument('<file>', 'what run export wrote')
  addRunsOption(command)
    .option('--digest <digest>', 'what run export printed: sha256:…')
    .option('--passphrase-file <file>', 'its first line opens the secrets')
    .option('--secret <name=file>', 'a secret that did not travel; again for another', collectPair)
    .addHelpText('after', details)
    .action(async (file: string, options: Options) => {
      host.done(await importOne(file, options, host.context()))
    })
}

async function importOne(file: string, options: Options, context: CliContext): Promise<number> {
  const { clock, cwd, json, stdout } = context
  const { digest, passphraseFile, secret = {} } = options
  const passphrase = passphraseFile === undefined ? undefined : await readPassphrase(resolve(cwd, passphraseFile))
  const values = await Promise.all(
    Object.entries(secret).map(async ([name, path]) => {
      const text = await readTextFile(resolve(cwd, path))
      return [name, text.replace(/\r?\n$/, '')] as const
    }),
  )
  const { directory, ...imported } = await importRun(resolve(cwd, file), {
    clock,
    runs: runsDirectory(options, context),
    secrets: Object.fromEntries(values),
    ...(digest !== undefined && { digest }),
    ...(passphrase !== undefined && { passphrase }),
  })
  const definition = await readDefinition(directory)
  if (definition.kind === 'disconnected') await writeDefinition(directory, await siteDefinitionAt(definition, cwd))
  const told = { run: directory.id, directory: directory.root, ...imported }
  stdout(json ? `${JSON.stringify(told)}\n` : renderImport(told))
  return 0
}

function collectPair(text: string, before: Pairs = {}): Pairs {
  const at = text.lastIndexOf('=')
  if (at < 1) throw new InvalidArgumentError('It has to be NAME=FILE.')
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}
