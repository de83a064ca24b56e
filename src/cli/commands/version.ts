import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { version } from '../version.ts'

export function define(command: Command, host: CommandHost): void {
  command.description('Prints the version.').action(() => {
    const { stdout, json } = host.context()
    stdout(json ? `${JSON.stringify({ version })}\n` : `${version}\n`)
    host.done(0)
  })
}
