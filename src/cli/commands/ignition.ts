import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'

export function define(command: Command, _host: CommandHost): void {
  command.description(
    'Looks into Ignition configs, checks, changes and compares them, and writes what they would make.',
  )
}
