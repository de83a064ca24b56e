/**
 * The files of an archive that is being written. Only those at work are open, however many there are.
 *
 * Bytes are written and flushed in the thread pool of Node; names are changed where they stand.
 */
import { closeSync, existsSync, fchmodSync, ftruncate, openSync, read, renameSync, write } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { diskError, flushData } from '../../store/disk.ts'
import { partialSuffix, volumeName } from '../format/volume-names.ts'
import { BatchPool } from './batch-pool.ts'

const resize = promisify(ftruncate)

/** Files without a user that stay open, because the next blob is likely to need them. */
const maxIdle = 16
/** For everybody, whatever the umask: who carries an archive is often somebody else than who wrote it. */
const volumeMode = 0o644

interface OpenFile {
  readonly descriptor: number
  users: number
}

export class WrittenVolumes {
  /** What is written to them is gathered in these. */
  readonly batches = new BatchPool()
  readonly #directory: string
  readonly #stem: string
  /** Every volume up to this one has its final name. */
  #sealed: number
  readonly #open = new Map<number, OpenFile>()

  /** @param sealed how many volumes, from the first, have their final names */
  constructor(directory: string, stem: string, sealed: number) {
    this.#directory = directory
    this.#stem = stem
    this.#sealed = sealed
  }

  /** The path that a volume has now. */
  path(volume: number): string {
    const name = volumeName(this.#stem, volume)
    return join(this.#directory, volume > this.#sealed ? `${name}${partialSuffix}` : name)
  }

  /**
   * Writes bytes at a position and gives how many of them were written, at least one.
   *
   * @throws KnownError DISK_FULL, ARCHIVE_VOLUME_TOO_LARGE
   */
  write(volume: number, bytes: Uint8Array, position: number): Promise<number> {
    return this.#with(volume, (descriptor) => writeAt(descriptor, bytes, position))
  }

  /** Writes all of `bytes`. */
  async writeWhole(volume: number, bytes: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < bytes.byteLength; )
      done += await this.write(volume, bytes.subarray(done), position + done)
  }

  /** Fills `buffer`; what lies behind the end of the file is zeros, as is all of one that is not there yet. */
  async read(volume: number, buffer: Uint8Array, position: number): Promise<void> {
    if (!this.#open.has(volume) && !existsSync(this.path(volume))) buffer.fill(0)
    else
      await this.#with(volume, async (descriptor) => {
        for (let done = 0; done < buffer.byteLength; ) {
          const count = await readAt(descriptor, buffer.subarray(done), position + done)
          if (count === 0) buffer.fill(0, done)
          done = count === 0 ? buffer.byteLength : done + count
        }
      })
  }

  /** Waits until what is in a volume is on the disk. */
  flush(volume: number): Promise<void> {
    return this.#with(volume, flushData)
  }

  /** Brings a volume to its size and waits until it is on the disk. */
  finish(volume: number, size: number): Promise<void> {
    return this.#with(volume, async (descriptor) => {
      await resize(descriptor, size)
      await flushData(descriptor)
    })
  }

  /** Takes back what a volume has behind `size`. */
  cut(volume: number, size: number): Promise<void> {
    return this.#with(volume, async (descriptor) => {
      await resize(descriptor, size)
    })
  }

  /** Gives the volume after the sealed ones its final name. */
  seal(volume: number): void {
    renameSync(this.path(volume), join(this.#directory, volumeName(this.#stem, volume)))
    this.#sealed = volume
  }

  /** Takes the final names back from all but the first volumes. */
  unseal(sealed: number): void {
    for (; this.#sealed > sealed; this.#sealed -= 1) {
      const path = this.path(this.#sealed)
      renameSync(path, `${path}${partialSuffix}`)
    }
  }

  /** Gives all files back; what is written next opens them again. */
  close(): void {
    for (const { descriptor } of this.#open.values()) closeSync(descriptor)
    this.#open.clear()
  }

  async #with<Result>(volume: number, action: (descriptor: number) => Promise<Result>): Promise<Result> {
    const path = this.path(volume)
    try {
      const file = this.#take(volume, path)
      try {
        return await action(file.descriptor)
      } finally {
        file.users -= 1
        this.#closeIdle()
      }
    } catch (error) {
      throw volumeError(error, path)
    }
  }

  #take(volume: number, path: string): OpenFile {
    const file = this.#open.get(volume) ?? { descriptor: openOrCreate(path), users: 0 }
    file.users += 1
    // Last in the order of insertion: closed last.
    this.#open.delete(volume)
    this.#open.set(volume, file)
    return file
  }

  #closeIdle(): void {
    if (this.#open.size <= maxIdle) return
    for (const [volume, { descriptor, users }] of this.#open) {
      if (this.#open.size <= maxIdle) return
      if (users > 0) continue
      this.#open.delete(volume)
      closeSync(descriptor)
    }
  }
}

function openOrCreate(path: string): number {
  try {
    return openSync(path, 'r+')
  } catch (error) {
    if (!hasSystemCode(error, 'ENOENT')) throw error
  }
  const descriptor = openSync(path, 'wx+', volumeMode)
  try {
    fchmodSync(descriptor, volumeMode)
  } catch (error) {
    // FAT, which USB disks have, knows no modes.
    if (!hasSystemCode(error, 'EPERM', 'ENOTSUP')) throw error
  }
  return descriptor
}

function volumeError(error: unknown, path: string): unknown {
  if (!hasSystemCode(error, 'EFBIG')) return diskError(error, path)
  return new KnownError('ARCHIVE_VOLUME_TOO_LARGE', `The disk does not take a file as large as ${path} is to be`, {
    details: { path },
    cause: error,
  })
}

function writeAt(descriptor: number, bytes: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.byteLength, position, (error, count) => {
      if (error) reject(error)
      else if (count === 0) reject(new Error(`nothing could be written at ${position}`))
      else resolve(count)
    })
  })
}

function readAt(descriptor: number, buffer: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const { byteLength: length } = buffer
    read(descriptor, buffer, 0, length, position, (error, count) => (error ? reject(error) : resolve(count)))
  })
}
