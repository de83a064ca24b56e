import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type ArchiveVerifier, loadVerifyKey } from '../../archive/format/signature.ts'
import { type FoundArchive, findArchives } from '../../archive/read/find-archives.ts'
import { isEmptyRepairList, type RepairList, renderRepairList } from '../../archive/repair/repair-list.ts'
import { requestRepair } from '../../archive/repair/requested-repair.ts'
import { type ArchiveVerification, verifyArchive } from '../../archive/verify/verify-archive.ts'
import { KnownError } from '../../errors/known-error.ts'
import { writeWhole } from '../../mirror/workspace.ts'
import { archivePathHelp, archivesAt } from '../archive-paths.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { renderVerification, verificationJson } from '../render/archive-verification.ts'
import { count, formatBytes } from '../render/quantities.ts'
import { followReading } from '../render/reading-progress.ts'

interface Options {
  verifyKey?: string
  repairList?: string
}

const examples = `
Reads every byte once. Exit status: 0 every byte is as it was written; 1 something is damaged, missing, or not signed by the key.

Examples:
  sallyport archive verify /media/usb
  sallyport archive verify /media/usb:3 --verify-key site.pub.pem
  sallyport archive verify /media/usb:3 --repair-list missing.json
      on the connected side then: sallyport mirror --repair missing.json file:///media/usb --workspace file:///srv/mirror`

export function defineVerify(command: Command, host: CommandHost): void {
  command
    .summary('is every byte as it was written; which images need what is damaged')
    .description('Proves archives: every flipped, missing or superfluous byte is found, and what it means is told.')
    .argument('<archive>', archivePathHelp)
    .option('--verify-key <file>', 'the public key that must have signed')
    .option('--repair-list <file>', 'write what has to be carried again, for mirror --repair on the connected side')
    .addHelpText('after', examples)
    .action(async (location: string, options: Options) => {
      const context = host.context()
      const found = await archivesAt(location, context.cwd)
      const verifier = options.verifyKey === undefined ? undefined : await loadVerifyKey(options.verifyKey)
      const results = await verifyAll(found, verifier, context)
      if (context.json) context.stdout(`${JSON.stringify(results.map(verificationJson))}\n`)
      else context.stdout(results.map(renderVerification).join('\n'))
      if (options.repairList !== undefined) await writeRepairList(options.repairList, results, context)
      host.done(results.some(({ findings }) => findings.some(({ severity }) => severity === 'error')) ? 1 : 0)
    })
}

async function verifyAll(
  found: readonly [FoundArchive, ...(readonly FoundArchive[])],
  verifier: ArchiveVerifier | undefined,
  context: CliContext,
): Promise<readonly ArchiveVerification[]> {
  const total = found.flatMap(({ volumes }) => volumes).reduce((sum, { size }) => sum + size, 0)
  const { signal } = context
  const beside = await findArchives(found[0].directory)
  const progress = followReading(context, total)
  try {
    const results: ArchiveVerification[] = []
    for (const one of found)
      results.push(await verifyArchive(one, { verifier, beside, signal, onBytes: progress.onBytes }))
    return results
  } finally {
    progress.stop()
  }
}

/** One list for one archive: what is missing of a repair is asked for again by the list of its archive. */
async function writeRepairList(
  file: string,
  results: readonly ArchiveVerification[],
  { cwd, signal, stderr }: CliContext,
): Promise<void> {
  const lists: RepairList[] = []
  for (const result of results) {
    if (!result.found.isRepair && isDamaged(result)) lists.push(await requestRepair(result, { signal }))
  }
  const [list, ...others] = lists.filter((one) => !isEmptyRepairList(one))
  if (others.length > 0) {
    throw new KnownError('USAGE', `${lists.length} archives are damaged, and a repair list is about one`, {
      hint: 'Name one of them by its sequence number, DIR:SEQUENCE, and write a list for each.',
    })
  }
  if (!list) return stderr(`nothing has to be carried again: ${file} is not written\n`)
  const path = resolve(cwd, file)
  await writeWhole(path, renderRepairList(list))
  const { archive, blobs, bytes, records, volumes, volumesFrom } = list
  const more = volumes.length > 0 || volumesFrom !== undefined ? ' and what lies in missing volumes' : ''
  stderr(
    `${path} asks for ${count(blobs.length, 'blob')} (${formatBytes(bytes)}) and ${count(records.length, 'document')} of the index of archive ${archive.sequence}${more}\n`,
  )
}

function isDamaged({ archive, damage }: ArchiveVerification): boolean {
  return archive === undefined || damage.ranges.length > 0
}
