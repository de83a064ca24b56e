/**
 * The few file operations of the store, each safe against a crash at any moment.
 *
 * Calls that touch only names and inodes are synchronous: they take a few microseconds, where the thread pool takes
 * fifty and more. Everything that moves bytes or waits for the disk is asynchronous.
 */
import {
  closeSync,
  existsSync,
  fdatasync,
  fsync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'

/** For the owner alone, whatever the umask: an image may hold what others must not read. */
export const privateFile = 0o600
export const privateDirectory = 0o700

export const flushData: (descriptor: number) => Promise<void> = promisify(fdatasync)
const flushAll = promisify(fsync)

/** Names a full disk; anything else is passed on as it is. */
export function diskError(error: unknown, path: string): unknown {
  if (!hasSystemCode(error, 'ENOSPC', 'EDQUOT')) return error
  return new KnownError('DISK_FULL', `No space left on the disk of ${path}`, { details: { path }, cause: error })
}

/** Runs `action`, and once more after making the directory of `path` where that was what was missing. */
export function withDirectory<Result>(path: string, names: NameLog, action: () => Result): Result {
  try {
    return action()
  } catch (error) {
    if (!hasSystemCode(error, 'ENOENT')) throw diskError(error, path)
  }
  try {
    names.makeDirectory(dirname(path))
    return action()
  } catch (error) {
    throw diskError(error, path)
  }
}

/** The text of a small file, or undefined where there is none. */
export function readText(path: string): string | undefined {
  return absentAsUndefined(() => readFileSync(path, 'utf8'))
}

/** Removes a file; false where there was none. */
export function removeFile(path: string): boolean {
  return absentAsUndefined(() => unlinkSync(path) ?? true) ?? false
}

/** Sets the time of a file to `now`, which also proves that it is there; false where it is not. */
export function touch(path: string, now: number): boolean {
  try {
    utimesSync(path, now / 1000, now / 1000)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return false
    // A store on a read-only disk can be served, and nobody collects garbage there.
    if (hasSystemCode(error, 'EROFS', 'EACCES', 'EPERM')) return existsSync(path)
    throw error
  }
}

/** `action`, or undefined where its path does not exist. */
export function absentAsUndefined<Result>(action: () => Result): Result | undefined {
  try {
    return action()
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** Writes a new file and waits until its bytes are on the disk. The caller gives it its name by rename or link. */
export async function writeFlushed(path: string, bytes: Uint8Array, names: NameLog): Promise<void> {
  const file = withDirectory(path, names, () => openSync(path, 'wx', privateFile))
  try {
    for (let written = 0; written < bytes.byteLength; ) written += writeSync(file, bytes, written)
    await flushData(file)
  } catch (error) {
    removeFile(path)
    throw diskError(error, path)
  } finally {
    closeSync(file)
  }
}

/**
 * Remembers which directories changed, and brings them to the disk together.
 *
 * A name given by rename can be lost in a power cut until its directory is flushed. Flushing after every blob would cost
 * a disk write each, so blobs only note the change here; `flush` is awaited once, before a manifest is acknowledged. A
 * manifest that a client was told is stored therefore has all its blobs after any crash; a blob pushed alone may, after
 * a power cut (never after a mere kill), be asked for again.
 */
export class NameLog {
  #changed = new Set<string>()
  #running: Promise<void> = Promise.resolve()
  #queued: Promise<void> | undefined

  /** A file was added to or removed from the directory of `path`. */
  changed(path: string): void {
    this.#changed.add(dirname(path))
  }

  makeDirectory(path: string): void {
    const first = mkdirSync(path, { recursive: true, mode: privateDirectory })
    if (first === undefined) return
    for (let made = path; made.length >= first.length; made = dirname(made)) this.#changed.add(dirname(made))
  }

  /** Resolves when every change noted before this call is on the disk. Calls that come together share the work. */
  flush(): Promise<void> {
    this.#queued ??= this.#running.then(() => {
      this.#queued = undefined
      const work = this.#flushChanged()
      // The next round waits for this one, whichever way it ends; its own callers hear of the failure.
      this.#running = work.catch(() => undefined)
      return work
    })
    return this.#queued
  }

  async #flushChanged(): Promise<void> {
    const directories = this.#changed
    this.#changed = new Set()
    try {
      await Promise.all([...directories].map(flushDirectory))
    } catch (error) {
      for (const directory of directories) this.#changed.add(directory)
      throw error
    }
  }
}

async function flushDirectory(path: string): Promise<void> {
  const directory = absentAsUndefined(() => openSync(path, 'r'))
  if (directory === undefined) return
  try {
    await flushAll(directory)
  } finally {
    closeSync(directory)
  }
}
