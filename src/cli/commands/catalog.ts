import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { define as defineExplain } from './catalog-explain.ts'
import { define as defineValidate } from './catalog-validate.ts'

export function define(command: Command, host: CommandHost): void {
  command.description('Looks into operator catalogs: at a registry, in an OCI layout, in a directory.')
  defineExplain(command.command('explain'), host)
  defineValidate(command.command('validate'), host)
}
