import type { Command } from 'commander'
import type { CommandHost } from '../commands.ts'

export function define(command: Command, host: CommandHost): void {
  command.action(() => host.done(0))
}
