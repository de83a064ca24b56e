import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { define as defineExport } from './run-export.ts'
import { define as defineImport } from './run-import.ts'
import { define as defineShow } from './run-show.ts'
import { define as defineTeardown } from './run-teardown.ts'
import { define as defineWorkflow } from './run-workflow.ts'

export function define(command: Command, host: CommandHost): void {
  defineWorkflow(command, host)
  defineShow(command.command('show'), host)
  defineExport(command.command('export'), host)
  defineImport(command.command('import'), host)
  defineTeardown(command.command('teardown'), host)
}
