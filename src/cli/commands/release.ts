import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { defineExtract } from './release-extract.ts'
import { defineInfo } from './release-info.ts'
import { definePath } from './release-path.ts'

export function define(command: Command, host: CommandHost): void {
  command.description('Looks into releases of OpenShift: at a registry, or in what is carried across.')
  defineInfo(command.command('info'), host)
  definePath(command.command('path'), host)
  defineExtract(command.command('extract'), host)
}
