import type { Command } from 'commander'
import type { Archive } from '../../archive/read/archive.ts'
import { diffArchives } from '../../archive/read/diff-archives.ts'
import { openArchive } from '../../archive/read/read-archive.ts'
import { archiveAt } from '../archive-paths.ts'
import type { CommandHost } from '../command-host.ts'
import { renderArchiveDiff } from '../render/archive-diff.ts'

const examples = `
Images are compared by where they go. Of a directory with several archives the last one is taken.

Examples:
  sallyport archive diff /media/usb:3 /media/usb:4
  sallyport archive diff /archives/site-a /archives/site-b --json`

export function defineDiff(command: Command, host: CommandHost): void {
  command
    .summary('which images and blobs differ between two archives')
    .description('Tells which images are new, gone or changed from one archive to another, and how many bytes that is.')
    .argument('<archive>', 'DIR, DIR:SEQUENCE, or a volume')
    .argument('<other>', 'a later one, or another')
    .addHelpText('after', examples)
    .action(async (before: string, after: string) => {
      const { cwd, json, stdout } = host.context()
      const diff = await withArchive(before, cwd, (one) =>
        withArchive(after, cwd, async (other) => diffArchives(one, other)),
      )
      stdout(json ? `${JSON.stringify(diff)}\n` : renderArchiveDiff(diff))
      host.done(0)
    })
}

async function withArchive<T>(location: string, cwd: string, use: (archive: Archive) => Promise<T>): Promise<T> {
  const archive = await openArchive(await archiveAt(location, cwd), { allowDamage: true })
  try {
    return await use(archive)
  } finally {
    await archive.close()
  }
}
