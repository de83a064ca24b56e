import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { defineDiff } from './archive-diff.ts'
import { defineKeygen } from './archive-keygen.ts'
import { defineLs } from './archive-ls.ts'
import { defineParity } from './archive-parity.ts'
import { defineReceipt } from './archive-receipt.ts'
import { defineRepair } from './archive-repair.ts'
import { defineVerify } from './archive-verify.ts'

export function define(command: Command, host: CommandHost): void {
  command.description('Looks into what is carried across, proves and mends it, and says what the closed side holds.')
  defineLs(command.command('ls'), host)
  defineVerify(command.command('verify'), host)
  defineDiff(command.command('diff'), host)
  defineParity(command.command('parity'), host)
  defineRepair(command.command('repair'), host)
  defineReceipt(command.command('receipt'), host)
  defineKeygen(command.command('keygen'), host)
}
