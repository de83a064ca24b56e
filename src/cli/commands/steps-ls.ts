/** `steps ls`: what a step registry has. */
import { type Command, Option } from 'commander'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderStepsList } from '../render/steps-list.ts'
import {
  addStepRegistryOptions,
  openStepRegistry,
  registryParts,
  type StepRegistryOptions,
} from '../step-registry-access.ts'

interface Options extends StepRegistryOptions {
  readonly kind?: string
  readonly search?: string
}

const details = `
Examples:
  sallyport steps ls --registry ci-operator/step-registry --kind workflow --search disconnected
  sallyport steps ls --registry ci-operator/step-registry --json | jq -r '.parts[].name'`

export function define(command: Command, host: CommandHost): void {
  command
    .summary('what there is, with the first line of its documentation')
    .description('Lists the steps, chains, workflows and observers of a registry.')
  addStepRegistryOptions(command)
    .addOption(new Option('--kind <kind>', 'only these').choices(['ref', 'chain', 'workflow', 'observer']))
    .option('--search <text>', 'only those with this text in the name or the documentation')
    .addHelpText('after', details)
    .action((options: Options) => {
      host.done(list(options, host.context()))
    })
}

function list({ kind, search = '', ...options }: Options, context: CliContext): number {
  const { stdout, json } = context
  // Nothing of a script is shown here.
  const registry = openStepRegistry({ ...options, withoutScripts: true }, context)
  const wanted = search.toLowerCase()
  const parts = registryParts(registry).filter(
    ({ kind: own, part: { name, documentation = '' } }) =>
      (kind === undefined || own === kind) && `${name}\n${documentation}`.toLowerCase().includes(wanted),
  )
  const document = {
    parts: parts.map(({ kind: own, part: { name, file, documentation } }) => ({
      kind: own,
      name,
      file,
      documentation,
    })),
  }
  stdout(json ? `${JSON.stringify(document)}\n` : renderStepsList(parts))
  return 0
}
