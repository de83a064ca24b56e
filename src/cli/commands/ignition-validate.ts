/** `ignition validate`: would Ignition start from these configs. */
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { validateIgnition } from '../../ignition/validate.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderValidations, type ValidatedConfig, validationDocument } from '../render/ignition-validate.ts'

const details = `
The rules are those of each version of the specification, 3.0 to 3.6, and the words those of ignition-validate. An unused
key is a warning, as it is there: a machine starts from such a config, and that key does nothing.
One document is looked at: what it would merge is not fetched, and hashes are not compared.
Exit status: 0; 1 where one of them is not valid.

Examples:
  sallyport ignition validate bootstrap.ign master.ign worker.ign
  oc extract -n openshift-machine-api secret/worker-user-data --keys=userData --to=- | sallyport ignition validate -
  sallyport ignition validate bootstrap.ign --json | jq '.files[].entries[] | select(.severity == "error")'`

export function defineValidate(command: Command, host: CommandHost): void {
  command
    .summary('would Ignition start from these configs; what is wrong with them, and where')
    .description('Checks Ignition configs as Ignition itself does before anything else.')
    .argument('<file...>', 'configs; - is standard input')
    .addHelpText('after', details)
    .action(async (names: string[]) => {
      host.done(await run(names, host.context()))
    })
}

async function run(names: readonly string[], { cwd, json, stdout }: CliContext): Promise<number> {
  const validated: ValidatedConfig[] = []
  for (const name of names) {
    const config = name === '-' ? await text(process.stdin) : await readTextFile(resolve(cwd, name))
    validated.push({ file: name, report: validateIgnition(config) })
  }
  stdout(json ? `${JSON.stringify(validationDocument(validated))}\n` : renderValidations(validated))
  return validated.some(({ report }) => report.isFatal) ? 1 : 0
}
