/**
 * Finds what a tar archive on this machine holds and where, by its headers alone: contents are skipped, nothing is unpacked.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { KnownError } from '../../errors/known-error.ts'
import { padded } from '../format/tar-space.ts'
import { isZeroBlock, parsePaxRecords, parseTarHeader, type TarHeader, tarBlockBytes } from './tar-header.ts'

export interface TarScanEntry {
  readonly name: string
  /** `sparse`: the content has holes that are not in the archive; `other`: a link, a device, or a type that is unknown. */
  readonly kind: 'file' | 'directory' | 'sparse' | 'other'
  /** Bytes of content in the archive. */
  readonly size: number
  /** Of the header, in the file. */
  readonly headerOffset: number
  /** Of the content, in the file. */
  readonly offset: number
  /** The content of a small file: the first bytes of it, at most `limit`. */
  readonly head: (limit: number) => Buffer
}

/** What is wrong with an archive, and where. */
export interface ArchiveFlaw {
  /** Path of the archive. */
  readonly file: string
  /** What is before this byte can be read. */
  readonly offset: number
  readonly why: string
}

interface ScanOptions {
  readonly visit: (entry: TarScanEntry) => void
  readonly signal?: AbortSignal | undefined
}

/** A name or a pax header may be this long; Go's reader has the same limit (golang/go `src/archive/tar/format.go`). */
const maxExtensionBytes = 1024 * 1024
/** What is read in one go without giving others a turn. */
const readsPerTurn = 64

/**
 * Calls `visit` for every entry in order. What damage explains ends the scan and is returned: all entries before it count.
 *
 * @throws KnownError ARCHIVE_INVALID for what no damage explains, FILE_UNREADABLE
 */
export async function scanTar(file: string, options: ScanOptions): Promise<ArchiveFlaw | undefined> {
  const window = new TarWindow(file)
  try {
    const scan = new TarScan(file, window, options.visit)
    for (;;) {
      options.signal?.throwIfAborted()
      if (scan.advance()) return scan.flaw
      await new Promise((resolve) => setImmediate(resolve))
    }
  } finally {
    window.close()
  }
}

/** An archive that cannot have been written by the program that it is said to come from. */
export function invalidArchive(file: string, offset: number, why: string): KnownError {
  return new KnownError('ARCHIVE_INVALID', `${file}: at byte ${offset}: ${why}`, { details: { file, offset } })
}

class TarScan {
  flaw: ArchiveFlaw | undefined
  readonly #file: string
  readonly #window: TarWindow
  readonly #visit: (entry: TarScanEntry) => void
  #offset = 0
  /** What the headers before this one say about it. */
  #name: string | undefined
  #size: number | undefined
  #isSparse = false

  constructor(file: string, window: TarWindow, visit: (entry: TarScanEntry) => void) {
    this.#file = file
    this.#window = window
    this.#visit = visit
  }

  /** Reads on for a while; true when there is nothing more to read. */
  advance(): boolean {
    const until = this.#window.reads + readsPerTurn
    while (this.#window.reads < until) {
      if (this.#next()) return true
    }
    return false
  }

  #next(): boolean {
    const block = this.#window.read(this.#offset, tarBlockBytes)
    if (block.length < tarBlockBytes) return this.#endWithoutMark(block.length)
    if (isZeroBlock(block)) return this.#endMark()
    const header = parseTarHeader(block)
    if (header === undefined) return this.#stop('there should be a tar header here, and there is none')
    const size = this.#checkedSize(header)
    const content = this.#offset + tarBlockBytes
    switch (header.type) {
      case 'L':
        return this.#extend(content, size, (bytes) => {
          this.#name = bytes.toString('utf8').replace(/\0.*$/s, '')
          return undefined
        })
      case 'x':
        return this.#extend(content, size, (bytes) => this.#applyPax(bytes))
      case 'K':
        return this.#extend(content, size, () => undefined)
      case 'g':
        return this.#extend(content, size, (bytes) => this.#checkGlobalPax(bytes))
      default:
        return this.#entry(header, content, size)
    }
  }

  /** @throws KnownError ARCHIVE_INVALID */
  #checkedSize(header: TarHeader): number {
    // Links, devices and directories have no content, whatever their header says.
    if (/^[1-6]$/.test(header.type)) return 0
    const size = /^[LKxg]$/.test(header.type) ? header.size : (this.#size ?? header.size)
    if (Number.isSafeInteger(size) && size >= 0 && Number.isSafeInteger(this.#offset + padded(size))) return size
    throw invalidArchive(this.#file, this.#offset, `the entry "${header.name}" claims to have ${size} bytes`)
  }

  #extend(content: number, size: number, apply: (bytes: Buffer) => string | undefined): boolean {
    if (size > maxExtensionBytes)
      throw invalidArchive(this.#file, this.#offset, `a header of ${size} bytes; ${maxExtensionBytes} are allowed`)
    const bytes = this.#window.read(content, size)
    if (bytes.length < size) return this.#stop('the archive ends inside a header')
    const wrong = apply(bytes)
    if (wrong !== undefined) return this.#stop(wrong)
    this.#offset = content + padded(size)
    return false
  }

  #applyPax(bytes: Buffer): string | undefined {
    const records = parsePaxRecords(bytes)
    if (records === undefined) return 'a pax header that is not well formed'
    this.#name = records.get('path') ?? this.#name
    const size = records.get('size')
    if (size !== undefined) this.#size = /^\d+$/.test(size) ? Number(size) : Number.NaN
    this.#isSparse ||= [...records.keys()].some((key) => key.startsWith('GNU.sparse.'))
    return undefined
  }

  #checkGlobalPax(bytes: Buffer): string | undefined {
    const records = parsePaxRecords(bytes)
    if (records === undefined) return 'a global pax header that is not well formed'
    if (records.has('path') || records.has('size'))
      throw invalidArchive(this.#file, this.#offset, 'a global header gives every entry the same name or size')
    return undefined
  }

  #entry(header: TarHeader, content: number, size: number): boolean {
    const name = this.#name ?? header.name
    const start = header.type === 'S' ? this.#afterSparseMap(header, content) : content
    if (start + size > this.#window.size)
      return this.#stop(`"${name}" is cut: its ${size} bytes end at byte ${start + size}`)
    this.#visit({
      name,
      kind: this.#kindOf(header.type, name),
      size,
      headerOffset: this.#offset,
      offset: start,
      head: (limit) => this.#window.read(start, Math.min(limit, size)),
    })
    this.#offset = start + padded(size)
    this.#name = undefined
    this.#size = undefined
    this.#isSparse = false
    return false
  }

  #kindOf(type: string, name: string): TarScanEntry['kind'] {
    if (type === 'S' || this.#isSparse) return 'sparse'
    if (type === '5' || (type === '0' && name.endsWith('/'))) return 'directory'
    return type === '0' ? 'file' : 'other'
  }

  /** GNU's map of a sparse file goes on in blocks after the header; the last byte that it uses tells whether there is one more. */
  #afterSparseMap(header: TarHeader, content: number): number {
    let at = content
    for (let isContinued = header.isMapContinued; isContinued; at += tarBlockBytes)
      isContinued = this.#window.read(at, tarBlockBytes)[504] === 1
    return at
  }

  #endMark(): boolean {
    const second = this.#window.read(this.#offset + tarBlockBytes, tarBlockBytes)
    if (second.length === 0 || isZeroBlock(second)) return true
    return this.#stop('zeros where there should be a tar header, and the archive goes on after them')
  }

  #endWithoutMark(available: number): boolean {
    if (this.#offset === 0 && available === 0) return this.#stop('the file is empty')
    return this.#stop(
      available === 0 ? 'the archive ends here, without an end mark' : 'the archive ends inside a header',
    )
  }

  #stop(why: string): true {
    this.flaw = { file: this.#file, offset: this.#offset, why }
    return true
  }
}

/**
 * What was last read of a file. Reads small after a jump, and more and more ahead as long as the next bytes wanted are the
 * next ones there: large contents are skipped cheaply, small ones come many at a time.
 */
class TarWindow {
  readonly size: number
  /** How often the file was read. */
  reads = 0
  readonly #file: string
  readonly #descriptor: number
  readonly #buffer = Buffer.allocUnsafeSlow(256 * 1024)
  #start = 0
  #bytes = this.#buffer.subarray(0, 0)
  #ahead = minAheadBytes

  /** @throws KnownError FILE_UNREADABLE */
  constructor(file: string) {
    this.#file = file
    this.#descriptor = this.#attempt(0, () => openSync(file, 'r'))
    this.size = this.#attempt(0, () => fstatSync(this.#descriptor).size)
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  /** The bytes at `offset`: `length` of them, fewer at the end of the file. They are valid until the next read. */
  read(offset: number, length: number): Buffer {
    const from = offset - this.#start
    if (from >= 0 && from + length <= this.#bytes.length) return this.#bytes.subarray(from, from + length)
    const isNext = from >= 0 && from <= this.#bytes.length
    this.#ahead = isNext ? Math.min(this.#ahead * 4, this.#buffer.length) : minAheadBytes
    const wanted = Math.max(0, Math.min(Math.max(length, this.#ahead), this.size - offset))
    const buffer = wanted > this.#buffer.length ? Buffer.allocUnsafeSlow(wanted) : this.#buffer
    let filled = 0
    while (filled < wanted) {
      const position = offset + filled
      const count = this.#attempt(position, () => readSync(this.#descriptor, buffer, filled, wanted - filled, position))
      this.reads += 1
      if (count === 0) break
      filled += count
    }
    this.#start = offset
    this.#bytes = buffer.subarray(0, filled)
    return this.#bytes.subarray(0, length)
  }

  #attempt<Result>(offset: number, action: () => Result): Result {
    try {
      return action()
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new KnownError('FILE_UNREADABLE', `${this.#file}: cannot be read at byte ${offset}: ${why}`, {
        details: { file: this.#file, offset },
        cause,
      })
    }
  }
}

const minAheadBytes = 4096
