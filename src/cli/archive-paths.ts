/** The archives that are named on the command line: a directory, one of it by its sequence number, or one of its volumes. */
import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { parseVolumeName } from '../archive/format/volume-names.ts'
import { type FoundArchive, findArchives } from '../archive/read/find-archives.ts'
import { KnownError } from '../errors/known-error.ts'
import { directoryAt } from '../mirror/workspace.ts'

/** For `--help`. */
export const archivePathHelp = 'DIR or file://DIR, DIR:SEQUENCE for one of it, or a volume of it'

/**
 * @returns at least one, by sequence
 * @throws KnownError FILE_UNREADABLE, ARCHIVE_INVALID
 */
export async function archivesAt(
  location: string,
  cwd: string,
): Promise<readonly [FoundArchive, ...(readonly FoundArchive[])]> {
  const path = directoryAt(location, cwd)
  const { directory, isWanted } = selection(path)
  const [first, ...others] = (await findArchives(directory)).filter(isWanted)
  if (first) return [first, ...others]
  throw new KnownError('FILE_UNREADABLE', `There is no archive at ${path}`, {
    details: { path },
    hint: 'Name the directory with the files sallyport-v1-NNNNNN-NNNN.tar in it, or one of them.',
  })
}

function selection(path: string): { directory: string; isWanted: (found: FoundArchive) => boolean } {
  const volume = parseVolumeName(basename(path))
  if (volume) return { directory: dirname(path), isWanted: ({ stem }) => stem === volume.stem }
  const [, directory, sequence] = /^(.+):([0-9]{1,15})$/.exec(path) ?? []
  // A directory may have such a name.
  if (directory === undefined || existsSync(path)) return { directory: path, isWanted: () => true }
  return { directory, isWanted: (found) => found.sequence === Number(sequence) }
}

/** The latest one of those that are named. */
export async function archiveAt(location: string, cwd: string): Promise<FoundArchive> {
  const [first, ...others] = await archivesAt(location, cwd)
  return others.filter(({ isRepair }) => !isRepair).at(-1) ?? first
}
