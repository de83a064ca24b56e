/** `ignition diff`: what two configs would make different of a machine. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { diffConfigs } from '../../ignition/diff/config-diff.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderIgnitionDiff } from '../render/ignition-diff.ts'

interface Options {
  brief?: boolean
}

const details = `
Compared is what the configs mean: it makes no difference how contents are encoded or compressed, in which order things stand, or
whether a change stands in the config itself or in a child of it (a data URL under merge or replace). Configs of specification
2.x and 3.x can be compared. Text is compared line by line, certificates by subject, end and fingerprint, other contents by
size and hash. What is secret (pull secrets, private keys, kubeconfigs, Secrets, password hashes, tokens) is never printed: it
differs, or it does not.
Exit status, as with diff: 0 where they mean the same; 1 where they differ; 78 where one is no config.

Examples:
  sallyport ignition diff bootstrap.ign bootstrap-patched.ign
  sallyport ignition diff --brief old/worker.ign worker.ign
  sallyport ignition diff a.ign b.ign --json | jq -r '.differences[] | select(.kind == "file") | .name'`

export function defineDiff(command: Command, host: CommandHost): void {
  command
    .summary('what two configs would make different of a machine')
    .description('Compares two Ignition configs by what they mean.')
    .argument('<file>', 'a config')
    .argument('<other>', 'a later one, or another')
    .option('--brief', 'only what differs, without the lines')
    .addHelpText('after', details)
    .action(async (before: string, after: string, options: Options) => {
      host.done(await diff([before, after], options, host.context()))
    })
}

async function diff(
  [before, after]: readonly [string, string],
  { brief }: Options,
  { cwd, json, stdout }: CliContext,
): Promise<number> {
  const read = async (name: string) => readIgnitionConfig(await readTextFile(resolve(cwd, name)), name)
  const differences = await diffConfigs(await read(before), await read(after))
  const isSame = differences.length === 0
  if (json) stdout(`${JSON.stringify({ before, after, isSame, differences })}\n`)
  else stdout(renderIgnitionDiff({ before, after, differences }, { isBrief: brief === true }))
  return isSame ? 0 : 1
}
