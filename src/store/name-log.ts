import { closeSync, fsync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { privateDirectory } from './file-modes.ts'
import { absentAsUndefined } from './files.ts'

const flushAll = promisify(fsync)

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
