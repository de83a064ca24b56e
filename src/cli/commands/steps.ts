import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { define as defineExport } from './steps-export.ts'
import { define as defineGraph } from './steps-graph.ts'
import { define as defineLs } from './steps-ls.ts'
import { define as defineResolve } from './steps-resolve.ts'
import { define as defineShow } from './steps-show.ts'
import { define as defineValidate } from './steps-validate.ts'

/** In the order of `--help`. */
const subcommands: readonly {
  readonly name: string
  readonly define: (command: Command, host: CommandHost) => void
}[] = [
  { name: 'ls', define: defineLs },
  { name: 'show', define: defineShow },
  { name: 'resolve', define: defineResolve },
  { name: 'graph', define: defineGraph },
  { name: 'validate', define: defineValidate },
  { name: 'export', define: defineExport },
]

export function define(command: Command, host: CommandHost): void {
  command.description('Reads a step registry, as openshift/release has one: steps, chains, workflows, observers.')
  for (const { name, define: defineOne } of subcommands) defineOne(command.command(name), host)
}
