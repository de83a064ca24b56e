import { existsSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { KnownError } from '../../errors/known-error.ts'
import { BlobStore } from '../../store/blob-store.ts'
import { collectGarbage } from '../../store/collect-garbage.ts'
import { storePaths } from '../../store/paths.ts'
import { readStatistics } from '../../store/statistics.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderGarbage, renderStatistics } from '../render/store.ts'

interface GcOptions {
  root: string
  untagged?: boolean
  grace: number
  dryRun?: boolean
}

const gcExamples = `
Examples:
  sallyport registry gc --root /var/lib/sallyport --dry-run
      how much would be freed
  sallyport registry gc --root /var/lib/sallyport
      frees blobs that no manifest names; a registry may go on serving meanwhile
  sallyport registry gc --root /var/lib/sallyport --untagged --grace 7d
      also removes manifests that no tag leads to (not for mirrors of OpenShift: those are pulled by digest)`

const statExamples = `
Examples:
  sallyport registry stat --root /var/lib/sallyport
  sallyport --json registry stat --root /var/lib/sallyport`

export function defineGc(command: Command, host: CommandHost): void {
  command
    .summary('free what no manifest needs')
    .requiredOption('--root <dir>', 'directory of the store')
    .option('--grace <time>', 'leave alone what is younger: 30m, 24h, 7d', parseDuration, parseDuration('24h'))
    .option('--untagged', 'also remove manifests that no tag leads to, directly or through an index')
    .option('--dry-run', 'say what would be freed, and free nothing')
    .addHelpText('after', gcExamples)
    .action(async ({ root, grace, untagged, dryRun }: GcOptions) => {
      const context = host.context()
      const store = await openExisting(root, context)
      const report = await collectGarbage(store, {
        graceMs: grace,
        untagged: untagged === true,
        dryRun: dryRun === true,
      })
      context.stdout(context.json ? `${JSON.stringify(report)}\n` : renderGarbage(report, dryRun === true))
      host.done(0)
    })
}

export function defineStat(command: Command, host: CommandHost): void {
  command
    .summary('what is in a store, and what it takes')
    .requiredOption('--root <dir>', 'directory of the store')
    .addHelpText('after', statExamples)
    .action(async ({ root }: { root: string }) => {
      const context = host.context()
      const statistics = readStatistics(await openExisting(root, context))
      context.stdout(context.json ? `${JSON.stringify(statistics)}\n` : renderStatistics(statistics))
      host.done(0)
    })
}

/** A mistyped directory must not become an empty store that looks fine. */
async function openExisting(root: string, { clock }: CliContext): Promise<BlobStore> {
  if (existsSync(storePaths(root).layout)) return BlobStore.open(root, clock)
  throw new KnownError('FILE_UNREADABLE', `There is no store at ${root}`, {
    hint: 'Name the directory that sallyport registry serve was given as --root.',
  })
}

function parseDuration(text: string): number {
  const match = /^([0-9]{1,6})([smhd])$/.exec(text)
  if (match === null) throw new InvalidArgumentError('Write a time like 30m, 24h or 7d; 0s for none.')
  const seconds = { s: 1, m: 60, h: 3600, d: 86_400 }[match[2] as 's' | 'm' | 'h' | 'd']
  return Number(match[1]) * seconds * 1000
}
