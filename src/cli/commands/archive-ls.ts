import type { Command } from 'commander'
import type { FoundArchive } from '../../archive/read/find-archives.ts'
import { openArchive } from '../../archive/read/read-archive.ts'
import { type ArchiveSummary, summariseArchive } from '../../archive/read/summarise-archive.ts'
import { KnownError } from '../../errors/known-error.ts'
import { archivePathHelp, archivesAt } from '../archive-paths.ts'
import type { CommandHost } from '../command-host.ts'
import { renderArchive, renderUnreadable } from '../render/archive.ts'

const examples = `
Exit status: 0; 1 where an archive cannot be read or is unfinished.

Examples:
  sallyport archive ls /media/usb
  sallyport archive ls /media/usb:3 --images
  sallyport archive ls sallyport-v1-000003-0001.tar --json`

export function defineLs(command: Command, host: CommandHost): void {
  command
    .summary('what is inside: volumes, images, holes, and what is missing')
    .description('Tells what archives carry, for which target, and whether all of their volumes are here.')
    .argument('<archive...>', archivePathHelp)
    .option('--images', 'list every image')
    .addHelpText('after', examples)
    .action(async (locations: string[], { images = false }: { images?: boolean }) => {
      const { cwd, json, stdout } = host.context()
      const found = (await Promise.all(locations.map((location) => archivesAt(location, cwd)))).flat()
      const looked: Looked[] = []
      for (const one of found) looked.push(await look(one))
      if (json) stdout(`${JSON.stringify(looked.map(jsonOf))}\n`)
      else stdout(looked.map((one) => textOf(one, images)).join('\n'))
      host.done(looked.some(({ error }) => error) ? 1 : 0)
    })
}

/** One of the two is there. */
interface Looked {
  readonly found: FoundArchive
  readonly summary?: ArchiveSummary
  readonly error?: KnownError
}

async function look(found: FoundArchive): Promise<Looked> {
  try {
    const archive = await openArchive(found, { allowDamage: true })
    try {
      return { found, summary: summariseArchive(archive) }
    } finally {
      await archive.close()
    }
  } catch (error) {
    if (error instanceof KnownError) return { found, error }
    throw error
  }
}

function textOf({ found, summary, error }: Looked, isEveryImage: boolean): string {
  if (summary) return renderArchive(summary, isEveryImage)
  return error ? renderUnreadable(found, error) : ''
}

function jsonOf({ found: { stem, sequence, directory }, summary, error }: Looked): object {
  if (summary) return summary
  return { stem, sequence, directory, error: error && { code: error.code, message: error.message, hint: error.hint } }
}
