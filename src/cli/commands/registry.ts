import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { defineServe } from './registry-serve.ts'
import { defineGc, defineStat } from './registry-upkeep.ts'

export function define(command: Command, host: CommandHost): void {
  command.description('A registry for the closed side: OCI distribution-spec 1.1 over one directory, with no database.')
  defineServe(command.command('serve'), host)
  defineGc(command.command('gc'), host)
  defineStat(command.command('stat'), host)
}
