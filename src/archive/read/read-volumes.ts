/** The files of an archive, read by position. A few of them are open at a time, however many there are. */
import { constants, read } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import type { Place } from '../format/layout.ts'
import { volumeName } from '../format/volume-names.ts'

export interface VolumeFile {
  /** From 1. */
  readonly volume: number
  /** Name in its directory. */
  readonly file: string
  /** In bytes, when the directory was read. */
  readonly size: number
}

interface VolumesInDirectory {
  readonly directory: string
  readonly stem: string
  readonly volumes: readonly VolumeFile[]
}

/** Blobs are read in any order, and each may go on in the next volume. */
const maxOpen = 8

interface OpenFile {
  readonly handle: Promise<FileHandle>
  readers: number
}

export class ReadVolumes {
  readonly #directory: string
  readonly #stem: string
  readonly #files: ReadonlyMap<number, VolumeFile>
  /** The one that was used longest ago is first. */
  readonly #open = new Map<number, OpenFile>()

  constructor({ directory, stem, volumes }: VolumesInDirectory) {
    this.#directory = directory
    this.#stem = stem
    this.#files = new Map(volumes.map((file) => [file.volume, file]))
  }

  /** Path of a volume, also of one that is not there. */
  pathOf(volume: number): string {
    return join(this.#directory, this.#files.get(volume)?.file ?? volumeName(this.#stem, volume))
  }

  /** In bytes; undefined for a volume that is not there. */
  sizeOf(volume: number): number | undefined {
    return this.#files.get(volume)?.size
  }

  /**
   * Fills `buffer` from `place` on.
   *
   * @throws KnownError ARCHIVE_INCOMPLETE, ARCHIVE_DAMAGED where the file ends before, FILE_UNREADABLE
   */
  async read({ volume, offset }: Place, buffer: Uint8Array): Promise<void> {
    const path = this.pathOf(volume)
    if (!this.#files.has(volume)) throw missingVolume(path, volume)
    const file = this.#take(volume, path)
    try {
      const { fd } = await file.handle
      for (let done = 0; done < buffer.byteLength; ) {
        const count = await readAt(fd, buffer.subarray(done), offset + done)
        if (count === 0) throw endsEarly(path, { volume, offset: offset + done })
        done += count
      }
    } catch (cause) {
      if (cause instanceof KnownError) throw cause
      throw unreadable(path, offset, cause)
    } finally {
      file.readers -= 1
      await this.#closeIdle(maxOpen)
    }
  }

  async close(): Promise<void> {
    await this.#closeIdle(0)
  }

  #take(volume: number, path: string): OpenFile {
    const file = this.#open.get(volume) ?? { handle: openPlain(path), readers: 0 }
    file.readers += 1
    // Last in the order of insertion: closed last.
    this.#open.delete(volume)
    this.#open.set(volume, file)
    return file
  }

  async #closeIdle(limit: number): Promise<void> {
    if (this.#open.size <= limit) return
    for (const [volume, { handle, readers }] of [...this.#open]) {
      if (this.#open.size <= limit) return
      if (readers > 0) continue
      this.#open.delete(volume)
      const [settled] = await Promise.allSettled([handle])
      if (settled.status === 'fulfilled') await settled.value.close()
    }
  }
}

/** A link would lead out of the directory. */
function openPlain(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
}

function readAt(fd: number, buffer: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, buffer.byteLength, position, (error, count) => (error ? reject(error) : resolve(count)))
  })
}

function missingVolume(file: string, volume: number): KnownError {
  return new KnownError('ARCHIVE_INCOMPLETE', `${file}, volume ${volume} of the archive, is not there`, {
    details: { file, volume },
  })
}

function endsEarly(file: string, { volume, offset }: Place): KnownError {
  return new KnownError('ARCHIVE_DAMAGED', `${file} ends at byte ${offset}, where its content goes on`, {
    details: { file, volume, offset },
  })
}

function unreadable(file: string, offset: number, cause: unknown): KnownError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new KnownError('FILE_UNREADABLE', `${file} cannot be read at byte ${offset}: ${why}`, {
    details: { file, offset },
    cause,
  })
}
