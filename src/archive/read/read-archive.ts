/** Opens an archive: reads its index, and finds out whether it is one, whole, and what its names say. */
import { KnownError } from '../../errors/known-error.ts'
import type { Digest } from '../../oci/digest.ts'
import type { ArchiveRecord, EndRecord } from '../format/records.ts'
import { Archive } from './archive.ts'
import { readClose, readEndRecord, readVolumeRecord } from './archive-close.ts'
import { type ArchiveFrontPage, readFront } from './archive-front.ts'
import type { FoundArchive } from './find-archives.ts'
import { ReadVolumes } from './read-volumes.ts'
import { recoverFront } from './recover-front.ts'

export interface OpenArchiveOptions {
  /** Opens what has volumes of wrong sizes or of another archive, too, as long as the index is whole: see `problems`. */
  readonly allowDamage?: boolean
  /** Repairs that may be of this archive. They are closed with it; those that are not of it, at once. */
  readonly repairs?: readonly Archive[]
}

/**
 * Volumes may be missing, except those with the index: see `missingVolumes`.
 *
 * @throws KnownError ARCHIVE_UNFINISHED, ARCHIVE_INVALID, ARCHIVE_DAMAGED, ARCHIVE_INCOMPLETE where the index is not there,
 * FILE_UNREADABLE
 */
export async function openArchive(found: FoundArchive, options: OpenArchiveOptions = {}): Promise<Archive> {
  if (found.isUnfinished) throw unfinished(found)
  const files = new ReadVolumes(found)
  const { repairs = [] } = options
  const kept = new Set<Archive>()
  try {
    const archive = await new Opening(found, files, options).run()
    for (const repair of archive.repairs) kept.add(repair)
    return archive
  } catch (error) {
    await files.close()
    throw error
  } finally {
    for (const repair of repairs) if (!kept.has(repair)) await repair.close()
  }
}

/** What stands behind the last blob takes less; the number in the name of a file can be anything. */
const mostClosingVolumes = 10_000

class Opening {
  readonly #found: FoundArchive
  readonly #files: ReadVolumes
  readonly #allowDamage: boolean
  readonly #repairs: readonly Archive[]
  readonly #problems: KnownError[] = []

  constructor(found: FoundArchive, files: ReadVolumes, { allowDamage = false, repairs = [] }: OpenArchiveOptions) {
    this.#found = found
    this.#files = files
    this.#allowDamage = allowDamage
    this.#repairs = repairs
  }

  async run(): Promise<Archive> {
    const last = this.#found.volumes.at(-1)?.volume ?? 1
    const claims = await this.#readClaims()
    const end = this.#files.sizeOf(last) === undefined ? undefined : await readEndRecord(this.#files, last)
    const front = await this.#readFront(new Set([...claims.values(), ...(end ? [end.id] : [])]))
    this.#checkIdentity(front, claims)
    if (end && (end.id !== front.id || end.sequence !== front.record.sequence)) {
      this.#refuse(foreign(this.#files.pathOf(last), front.id, end.id))
    }
    const close = await readClose(this.#files, front, (problem) => this.#refuse(problem))
    const volumes = this.#countVolumes({ front, end, last: close.lastVolumeSize === undefined ? last : 0 })
    const repairs = this.#repairs.filter(({ record }) => record.repairs === front.id)
    const parts = { found: this.#found, files: this.#files, problems: this.#problems }
    const archive = new Archive({ ...parts, front, close, end, volumes, repairs })
    this.#checkSizes(archive)
    return archive
  }

  /** A damaged header before the index does not matter, and a repair may have it. */
  async #readFront(claimed: ReadonlySet<Digest>): Promise<ArchiveFrontPage> {
    try {
      return await readFront(this.#files, claimed)
    } catch (error) {
      const isDamage = error instanceof KnownError && error.code !== 'ARCHIVE_INVALID'
      const front = isDamage ? await recoverFront({ files: this.#files, claimed, repairs: this.#repairs }) : undefined
      if (front) return front
      throw error
    }
  }

  /** The archive that each volume says it belongs to. */
  async #readClaims(): Promise<ReadonlyMap<number, Digest>> {
    const claims = new Map<number, Digest>()
    for (const { volume } of this.#found.volumes) {
      try {
        const record = await readVolumeRecord(this.#files, volume)
        if (record.volume !== volume) this.#refuse(misplaced(this.#files.pathOf(volume), record.volume))
        claims.set(volume, record.id)
      } catch (error) {
        if (!(error instanceof KnownError)) throw error
        this.#refuse(error)
      }
    }
    return claims
  }

  #checkIdentity({ id, record }: ArchiveFrontPage, claims: ReadonlyMap<number, Digest>): void {
    for (const [volume, claim] of claims) {
      if (claim !== id) this.#refuse(foreign(this.#files.pathOf(volume), id, claim))
    }
    if (record.sequence !== this.#found.sequence) this.#refuse(misnamed(this.#files.pathOf(1), record))
  }

  /** @param last the last one that is there, where the end could not be found */
  #countVolumes({ front, end, last }: { front: ArchiveFrontPage; end: EndRecord | undefined; last: number }): number {
    const isFar = last > front.layout.volume + mostClosingVolumes
    if (isFar) this.#refuse(wrongCount(this.#files.pathOf(last), last, front.layout.volume))
    const needed = isFar ? front.layout.volume : Math.max(front.layout.volume, last)
    if (end && end.volumes !== needed) this.#refuse(wrongCount(this.#files.pathOf(needed), end.volumes, needed))
    // A full volume without an end is followed by another.
    const isFull = !end && last === needed && this.#files.sizeOf(last) === front.record.volumeBytes
    return isFull ? needed + 1 : needed
  }

  #checkSizes(archive: Archive): void {
    for (const { volume, size } of this.#found.volumes) {
      const expected = volume > archive.volumes ? 0 : archive.expectedSize(volume)
      if (expected !== undefined && expected !== size) {
        this.#refuse(wrongSize(this.#files.pathOf(volume), { volume, size, expected }))
      }
      // Only what is in the last volume tells its size.
      if (volume === archive.volumes && !archive.end) this.#refuse(withoutEnd(this.#files.pathOf(volume), volume))
    }
  }

  #refuse(problem: KnownError): void {
    if (!this.#allowDamage) throw problem
    this.#problems.push(problem)
  }
}

function unfinished({ directory, stem, volumes }: FoundArchive): KnownError {
  return new KnownError(
    'ARCHIVE_UNFINISHED',
    `The archive ${stem} in ${directory} is unfinished: ${volumes.length} of its volumes are complete`,
    { details: { directory, archive: stem, volumes: volumes.length } },
  )
}

function foreign(file: string, expected: Digest, actual: Digest): KnownError {
  return new KnownError('ARCHIVE_INVALID', `${file} belongs to another archive: to ${actual}, not to ${expected}`, {
    details: { file, expected, actual },
    hint: 'Put the volumes of each archive into the directory as they were written, under the names that they had.',
  })
}

function misnamed(file: string, { sequence }: ArchiveRecord): KnownError {
  return new KnownError('ARCHIVE_INVALID', `${file} is renamed: it is archive ${sequence}`, {
    details: { file, sequence },
  })
}

function misplaced(file: string, volume: number): KnownError {
  return new KnownError('ARCHIVE_INVALID', `${file} is renamed: it is volume ${volume}`, { details: { file, volume } })
}

function wrongCount(file: string, claimed: number, actual: number): KnownError {
  return new KnownError('ARCHIVE_INVALID', `${file} says that there are ${claimed} volumes; there are ${actual}`, {
    details: { file, claimed, actual },
  })
}

function wrongSize(
  file: string,
  { size, expected, volume }: Record<'size' | 'expected' | 'volume', number>,
): KnownError {
  const how = size < expected ? 'cut' : 'longer than it was written'
  return new KnownError('ARCHIVE_DAMAGED', `${file} is ${how}: it has ${size} bytes instead of ${expected}`, {
    details: { file, volume, size, expected },
  })
}

function withoutEnd(file: string, volume: number): KnownError {
  return new KnownError('ARCHIVE_DAMAGED', `${file} has no end record: it was cut, or its end is damaged`, {
    details: { file, volume },
  })
}
