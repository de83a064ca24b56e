import type { Command } from 'commander'
import type { CommandHost } from '../command-host.ts'
import { defineApply } from './ignition-apply.ts'
import { defineDiff } from './ignition-diff.ts'
import { defineInspect } from './ignition-inspect.ts'
import { definePatch } from './ignition-patch.ts'
import { definePointer } from './ignition-pointer.ts'
import { defineRedact } from './ignition-redact.ts'
import { defineSize } from './ignition-size.ts'
import { defineValidate } from './ignition-validate.ts'

export function define(command: Command, host: CommandHost): void {
  command.description(
    'Looks into Ignition configs, checks, changes and compares them, and writes what they would make.',
  )
  defineInspect(command.command('inspect'), host)
  defineValidate(command.command('validate'), host)
  definePatch(command.command('patch'), host)
  defineSize(command.command('size'), host)
  definePointer(command.command('pointer'), host)
  defineDiff(command.command('diff'), host)
  defineApply(command.command('apply'), host)
  defineRedact(command.command('redact'), host)
}
