import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { defineInspect } from './ignition-inspect.ts'

export function define(command: Command, host: CommandHost): void {
  command.description(
    'Looks into Ignition configs, checks, changes and compares them, and writes what they would make.',
  )
  defineInspect(command.command('inspect'), host)
}
