import { type FileHandle, open, readFile, rm, writeFile } from 'node:fs/promises'
import { hasSystemCode } from '../errors/known-error.ts'
import type { JournalEvent, RunEvent } from '../journal/events.ts'
import { emptyRunState, foldOnto } from '../journal/fold.ts'
import { parseJournalLine } from '../journal/parse-journal.ts'
import type { RunState } from '../journal/run-state.ts'
import { diskError } from '../store/disk.ts'

const newline = 0x0a
/** Kept free for the last words of a run on a disk that is full. */
const reserveBytes = 64 * 1024

export interface AppendOptions {
  readonly at: number
  /** False for signs of life: they may be lost. Default: the event is on the disk when the promise resolves. */
  readonly isFlushed?: boolean
}

/** The journal of a run, for the one process that writes it. */
export interface JournalFile {
  /** What it says; changes with every event that is appended. */
  readonly state: RunState
  /** Bytes of a last line that was not written whole, and was therefore never told to anybody. */
  readonly cutBytes: number
  /** @throws KnownError DISK_FULL; the event is then not in the journal, nor in the state */
  append(event: RunEvent, options: AppendOptions): Promise<JournalEvent>
  close(): Promise<void>
}

/**
 * Opens a journal to go on with it, or begins it.
 *
 * A line counts once it is there with its end: the rest of a line, as a crash leaves it, is cut off.
 *
 * @throws KnownError JOURNAL_CORRUPT, JOURNAL_NEWER
 */
export async function openJournal(path: string): Promise<JournalFile> {
  const file = await open(path, 'a+', 0o600)
  try {
    const bytes = await readFile(path)
    const end = bytes.lastIndexOf(newline) + 1
    const state = foldBytes(bytes.subarray(0, end))
    if (end < bytes.byteLength) {
      await file.truncate(end)
      await file.datasync()
    }
    await keepReserve(path)
    return new OpenJournal({ file, path, state, size: end, cutBytes: bytes.byteLength - end })
  } catch (error) {
    await file.close()
    throw error
  }
}

/** What a journal says, for those who only look: a line that is being written just now is left out. */
export async function readJournal(path: string): Promise<RunState> {
  const bytes = await readFile(path)
  return foldBytes(bytes.subarray(0, bytes.lastIndexOf(newline) + 1))
}

/** @throws KnownError JOURNAL_CORRUPT, JOURNAL_NEWER */
export function foldBytes(bytes: Uint8Array): RunState {
  const state = emptyRunState()
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let start = 0
  for (let end = buffer.indexOf(newline); end >= 0; end = buffer.indexOf(newline, start)) {
    foldOnto(state, parseJournalLine(buffer.toString('utf8', start, end), state.events + 1))
    start = end + 1
  }
  return state
}

interface Opened {
  readonly file: FileHandle
  readonly path: string
  readonly state: RunState
  readonly size: number
  readonly cutBytes: number
}

class OpenJournal implements JournalFile {
  readonly state: RunState
  readonly cutBytes: number
  readonly #file: FileHandle
  readonly #path: string
  #size: number
  #last: Promise<unknown> = Promise.resolve()

  constructor({ file, path, state, size, cutBytes }: Opened) {
    this.state = state
    this.cutBytes = cutBytes
    this.#file = file
    this.#path = path
    this.#size = size
  }

  append(event: RunEvent, { at, isFlushed = true }: AppendOptions): Promise<JournalEvent> {
    const write = this.#last.then(async () => {
      const numbered: JournalEvent = { n: this.state.events + 1, at, ...event }
      await this.#write(Buffer.from(`${JSON.stringify(numbered)}\n`), isFlushed)
      foldOnto(this.state, numbered)
      return numbered
    })
    // One that failed must not keep the next from being tried: there may be space again.
    this.#last = write.catch(() => undefined)
    return write
  }

  async #write(line: Uint8Array, isFlushed: boolean): Promise<void> {
    try {
      await this.#file.appendFile(line)
      // Some file systems have no space only now; a line that is not counted must not be there.
      if (isFlushed) await this.#file.datasync()
    } catch (error) {
      await this.#file.truncate(this.#size)
      if (!hasSystemCode(error, 'ENOSPC', 'EDQUOT')) throw error
      if (!(await this.#freeReserve())) throw diskError(error, this.#path)
      await this.#write(line, isFlushed)
      return
    }
    this.#size += line.byteLength
  }

  /** True where there was something to free: once. */
  async #freeReserve(): Promise<boolean> {
    try {
      await rm(reserveOf(this.#path))
      return true
    } catch (error) {
      if (hasSystemCode(error, 'ENOENT')) return false
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#last
    await this.#file.close()
  }
}

function reserveOf(path: string): string {
  return `${path}.reserve`
}

/** Where there is no space for it there is none to reserve. */
async function keepReserve(path: string): Promise<void> {
  try {
    await writeFile(reserveOf(path), new Uint8Array(reserveBytes), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (hasSystemCode(error, 'ENOSPC', 'EDQUOT')) await rm(reserveOf(path), { force: true })
    else if (!hasSystemCode(error, 'EEXIST')) throw error
  }
}
