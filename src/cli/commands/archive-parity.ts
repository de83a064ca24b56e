import { type Command, InvalidArgumentError } from 'commander'
import { type FoundArchive, findArchives } from '../../archive/read/find-archives.ts'
import { type WrittenParity, writeParity } from '../../archive/repair/write-parity.ts'
import { verifyArchive } from '../../archive/verify/verify-archive.ts'
import { KnownError } from '../../errors/known-error.ts'
import { archivePathHelp, archivesAt } from '../archive-paths.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { count, formatBytes } from '../render/quantities.ts'
import { followReading } from '../render/reading-progress.ts'

interface Options {
  volumes: number
}

interface MadeParity extends WrittenParity {
  readonly stem: string
}

const examples = `
With N parity volumes any N files of an archive may be lost, its own volumes or parity, and are made again on the closed side without
carrying anything. Each is as large as the largest volume. The archive is verified before.

Examples:
  sallyport archive parity /media/usb
      one parity volume for each archive
  sallyport archive parity /media/usb:3 --volumes 2
  sallyport archive repair /media/usb
      on the closed side: makes again what was lost`

export function defineParity(command: Command, host: CommandHost): void {
  command
    .summary('make parity volumes, from which lost or damaged volumes are made again')
    .description(
      'Writes parity volumes beside an archive: plain tar files that need not be carried, and are no part of it.',
    )
    .argument('<archive>', archivePathHelp)
    .option('--volumes <number>', 'how many volumes may be lost', readVolumes, 1)
    .addHelpText('after', examples)
    .action(async (location: string, options: Options) => {
      const context = host.context()
      const made = await makeAll(await archivesAt(location, context.cwd), options, context)
      context.stdout(context.json ? `${JSON.stringify(made)}\n` : made.map(render).join(''))
      host.done(0)
    })
}

async function makeAll(
  archives: readonly [FoundArchive, ...(readonly FoundArchive[])],
  options: Options,
  context: CliContext,
): Promise<readonly MadeParity[]> {
  const total = archives.flatMap(({ volumes }) => volumes).reduce((sum, { size }) => sum + size, 0)
  const beside = await findArchives(archives[0].directory)
  const progress = followReading(context, 2 * total)
  const common = { signal: context.signal, onBytes: progress.onBytes }
  try {
    const made: MadeParity[] = []
    for (const found of archives) {
      const { damage, archive } = await verifyArchive(found, { ...common, beside })
      if (!archive || damage.ranges.length > 0) throw damaged(found)
      made.push({ stem: found.stem, ...(await writeParity(found.directory, found.stem, options.volumes, common)) })
    }
    return made
  } finally {
    progress.stop()
  }
}

function damaged({ directory, stem }: FoundArchive): KnownError {
  return new KnownError('ARCHIVE_DAMAGED', `${stem} in ${directory} is damaged: parity of it would keep the damage`, {
    details: { directory, archive: stem },
    hint: 'sallyport archive verify names what is damaged. Mend it first, or make parity where the archive is whole.',
  })
}

function render({ stem, files, bytes }: MadeParity): string {
  const lines = files.map((file) => `  ${file}\n`).join('')
  return `${stem}: ${count(files.length, 'parity volume')}, ${formatBytes(bytes)}\n${lines}`
}

/** More would hardly leave room for volumes in a group of 255. */
const maxParity = 64

function readVolumes(text: string): number {
  const volumes = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0
  if (volumes >= 1 && volumes <= maxParity) return volumes
  throw new InvalidArgumentError(`Write a number from 1 to ${maxParity}.`)
}
