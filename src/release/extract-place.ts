/** Files on their way to where a person asked for them: they get their name when they are whole, and replace nothing by chance. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { chmod, copyFile, type FileHandle, link, lstat, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { randomId } from '../host/random.ts'
import { diskError } from '../store/disk.ts'

export interface PlacementOptions {
  /** Permission bits, whatever the umask. */
  readonly mode: number
  /** Replace what is there. */
  readonly isForced: boolean
}

/** `same`: these very bytes were there already. */
export type Placed = 'written' | 'same'

export class Placement {
  /** Where the file is until it is published. */
  readonly staged: string
  readonly #path: string
  readonly #options: PlacementOptions
  #written: { readonly size: number; readonly sha256: string } | undefined

  constructor(path: string, options: PlacementOptions) {
    this.#path = path
    this.#options = options
    this.staged = `${path}.${randomId()}.new`
  }

  /** Writes the file from its beginning, also where it was written before. */
  async write(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const hash = createHash('sha256')
    let size = 0
    await this.#onDisk(async () => {
      await mkdir(dirname(this.staged), { recursive: true })
      const file = await open(this.staged, 'w', 0o600)
      try {
        for await (const chunk of content) {
          // The disk and this thread at the same time.
          const writing = writeAll(file, chunk)
          hash.update(chunk)
          size += chunk.byteLength
          await writing
        }
        await file.datasync()
      } finally {
        await file.close()
      }
    })
    this.#written = { size, sha256: hash.digest('hex') }
  }

  /** To be called where the staged file was changed by somebody else. */
  forget(): void {
    this.#written = undefined
  }

  /** What the file has, in bytes, and its SHA-256 in hex digits. */
  async describe(): Promise<{ readonly size: number; readonly sha256: string }> {
    this.#written ??= { size: (await lstat(this.staged)).size, sha256: await hashOf(this.staged) }
    return this.#written
  }

  /** The same file under another name; where the disk has no links, a copy. */
  async writeAs(other: string): Promise<void> {
    await this.#onDisk(async () => {
      await mkdir(dirname(this.staged), { recursive: true })
      await link(other, this.staged).catch((error: unknown) => {
        if (hasSystemCode(error, 'EPERM', 'ENOTSUP', 'EXDEV', 'EMLINK', 'ENOSYS')) return copyFile(other, this.staged)
        throw error
      })
    })
  }

  /**
   * Gives the file its name.
   *
   * @throws KnownError FILE_EXISTS where something else is there, unless it is to be replaced
   */
  async publish(): Promise<Placed> {
    const isSame = await this.isThere()
    if (isSame) {
      await rm(this.staged)
      await chmod(this.#path, this.#options.mode)
      return 'same'
    }
    await chmod(this.staged, this.#options.mode)
    await rename(this.staged, this.#path)
    return 'written'
  }

  /** Removes what is not published. */
  async discard(): Promise<void> {
    await rm(this.staged, { force: true })
  }

  /**
   * True where these bytes are there already, false where nothing is, or what is there may be replaced.
   *
   * @throws KnownError FILE_EXISTS
   */
  async isThere(): Promise<boolean> {
    const there = await lstat(this.#path).catch((error: unknown) => {
      if (hasSystemCode(error, 'ENOENT')) return undefined
      throw error
    })
    if (!there) return false
    const { size, sha256 } = await this.describe()
    if (there.isFile() && there.size === size && (await hashOf(this.#path)) === sha256) return true
    if (this.#options.isForced && !there.isDirectory()) return false
    const what = there.isDirectory() ? 'a directory' : 'another file'
    throw new KnownError('FILE_EXISTS', `${this.#path} is there already, and is ${what}`, {
      details: { file: this.#path },
    })
  }

  async #onDisk(action: () => Promise<void>): Promise<void> {
    try {
      await action()
    } catch (cause) {
      throw writeError(this.#path, cause)
    }
  }
}

function writeError(path: string, cause: unknown): unknown {
  if (!hasSystemCode(cause, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'EFBIG')) return diskError(cause, path)
  const details = { file: path }
  return new KnownError('FILE_UNWRITABLE', `${path} cannot be written: ${cause.message}`, { details, cause })
}

/**
 * Writes small files. None gets its name before all are written and none is in the way of another.
 *
 * @param files by path
 * @throws KnownError FILE_EXISTS, FILE_UNWRITABLE, DISK_FULL
 */
export async function placeFiles(
  files: ReadonlyMap<string, Uint8Array>,
  { isForced }: Pick<PlacementOptions, 'isForced'>,
): Promise<ReadonlyMap<string, Placed>> {
  const placements = new Map([...files.keys()].map((path) => [path, new Placement(path, { mode: 0o644, isForced })]))
  try {
    for (const [path, bytes] of files) await placements.get(path)?.write([bytes])
    for (const placement of placements.values()) await placement.isThere()
    const placed = new Map<string, Placed>()
    for (const [path, placement] of placements) placed.set(path, await placement.publish())
    return placed
  } finally {
    for (const placement of placements.values()) await placement.discard()
  }
}

/** SHA-256 of a file, in hex digits. */
async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path, { highWaterMark: 512 * 1024 })) hash.update(chunk)
  return hash.digest('hex')
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let written = 0; written < chunk.byteLength; ) {
    const { bytesWritten } = await file.write(chunk, written)
    written += bytesWritten
  }
}
