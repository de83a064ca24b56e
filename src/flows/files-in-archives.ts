import type { ArchiveHole, ArchiveImage } from '../archive/format/records.ts'
import type { Archive } from '../archive/read/archive.ts'
import { archiveSource } from '../archive/read/archive-source.ts'
import { type FoundArchive, findArchives } from '../archive/read/find-archives.ts'
import { openArchive } from '../archive/read/read-archive.ts'
import { openRepairs } from '../archive/read/repaired-archive.ts'
import { KnownError } from '../errors/known-error.ts'
import { isMade } from '../mirror/made-content.ts'
import type { ContentSource } from '../oci/content.ts'
import { fileOf } from '../oci/file-artifact.ts'
import { parseManifest } from '../oci/manifest.ts'
import { parseReference } from '../oci/reference.ts'
import type { CarriedFile, FileHolder } from './carried-files.ts'

/**
 * The files in archives. A damaged archive gives what of it is whole: every file is proven when it is read.
 *
 * @throws KnownError where none of them can be opened
 */
export async function filesInArchives(found: readonly FoundArchive[], signal?: AbortSignal): Promise<FileHolder> {
  const archives: Archive[] = []
  const problems: KnownError[] = []
  const close = async () => {
    for (const archive of archives) await archive.close()
  }
  try {
    const beside = found[0] ? await findArchives(found[0].directory) : []
    for (const one of found.filter(({ isRepair }) => !isRepair)) {
      try {
        archives.push(await openArchive(one, { allowDamage: true, repairs: await openRepairs(one, beside) }))
      } catch (error) {
        if (!(error instanceof KnownError)) throw error
        problems.push(error)
      }
    }
    const [first] = problems
    if (archives.length === 0 && first) throw first
    const source = archiveSource(archives)
    const files: CarriedFile[] = []
    for (const archive of archives) files.push(...(await filesOf(archive, { archives, source, signal })))
    return { files: latest(files), problems, close }
  } catch (error) {
    await close()
    throw error
  }
}

interface Opened {
  /** All of them: an increment names what an archive before it carries. */
  readonly archives: readonly Archive[]
  readonly source: ContentSource
  readonly signal?: AbortSignal | undefined
}

async function filesOf(archive: Archive, opened: Opened): Promise<CarriedFile[]> {
  const files: CarriedFile[] = []
  for (const image of archive.record.images) {
    if (image.attachedTo !== undefined || !isMade(parseReference(image.source))) continue
    const file = await carriedFile(image, archive, opened)
    if (file) files.push(file)
  }
  const holes = (archive.holes?.images ?? archive.record.failed ?? []).filter((hole) =>
    isMade(parseReference(hole.source)),
  )
  return [...files, ...holes.map((hole) => namedFile(hole, archive, 'hole'))]
}

/** Undefined for a made image that is no file, as the graph image is. */
async function carriedFile(
  image: ArchiveImage,
  archive: Archive,
  { archives, source, signal }: Opened,
): Promise<CarriedFile | undefined> {
  const { registry, repository } = parseReference(image.source)
  const place = { registry, repository }
  try {
    const raw = await source.fetchManifest({ ...place, digest: image.digest }, signal)
    if (!raw) return namedFile(image, archive, 'held')
    const file = fileOf(parseManifest(raw.bytes, raw.descriptor.mediaType, image.source))
    if (!file) return undefined
    const { name, size, digest, layer, url } = file
    const carriers = archives.filter(({ blobs }) => blobs.get(digest)?.place !== undefined)
    const whole = carriers.find((one) => one.has(digest))
    const state = whole ? 'here' : carriers.length > 0 ? 'missing' : 'held'
    const known = {
      ...namedFile(image, whole ?? archive, state),
      name,
      size,
      digest,
      ...(url !== undefined && { url }),
    }
    return whole ? { ...known, content: { source, repository: place, layer } } : known
  } catch (error) {
    if (!(error instanceof KnownError) || !error.code.startsWith('ARCHIVE_')) throw error
    return namedFile(image, archive, 'missing')
  }
}

function namedFile(
  { destination, why }: (ArchiveImage | ArchiveHole) & { readonly why?: string },
  { found }: Archive,
  state: CarriedFile['state'],
): CarriedFile {
  const [, repository = destination, tag = ''] = /^(.+?):([^:]+)$/.exec(destination) ?? []
  const name = repository.split('/').at(-1) ?? repository
  return { name, state, repository, tag, place: found.stem, ...(why !== undefined && { why }) }
}

/** What is under a tag is what the last archive says, as it is for who loads them all. */
function latest(files: readonly CarriedFile[]): CarriedFile[] {
  return [...new Map(files.map((file) => [`${file.repository}:${file.tag}`, file])).values()]
}
