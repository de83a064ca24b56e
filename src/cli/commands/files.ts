import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { defineGet } from './files-get.ts'
import { defineFilesLs } from './files-ls.ts'

/** One command for archives and registries: who looks for a file need not know how far it has come. */
export function define(command: Command, host: CommandHost): void {
  command.description(
    'Lists the files that travel with the images (mirror.files, platform.bootImages), and gives them back.',
  )
  defineFilesLs(command.command('ls'), host)
  defineGet(command.command('get'), host)
}
