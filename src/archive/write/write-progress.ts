/**
 * What is written of an unfinished archive: a file of lines of JSON beside its volumes.
 *
 * A line is only a claim about bytes in the page cache, until a line `flushed` says that they are on the disk. Whoever goes on with an
 * archive believes what was flushed and hashes the rest again, so that neither a killed process nor a power cut leaves a
 * wrong byte behind, and a killed one repeats next to nothing.
 */
import { closeSync, fdatasync, ftruncateSync, openSync, write } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import * as z from 'zod'
import { hasSystemCode } from '../../errors/known-error.ts'
import { parsedJson } from '../../errors/parsed-json.ts'
import type { Digest } from '../../oci/digest.ts'
import { digestText } from '../../oci/digest-text.ts'
import { diskError } from '../../store/disk.ts'

const flushData = promisify(fdatasync)

const DigestText = digestText()
const Hex64 = z.string().regex(/^[0-9a-f]{64}$/)

/** The first line. It is there once the index and the plan are on the disk. */
const Head = z.object({
  format: z.literal('sallyport-progress'),
  version: z.literal(1),
  id: DigestText,
  /** Size of `sallyport/archive.json`, from which the places of all else follow. */
  recordSize: z.number().int().positive(),
  volumeBytes: z.number().int().positive(),
})

const Line = z.union([
  /** A blob is whole and proven; `sums` where its name does not tell the sha256 of its pieces. */
  z.object({ written: DigestText, sums: z.array(Hex64).optional() }),
  /** A blob is whole up to an offset. 0: forget what was said about it. */
  z.object({ reached: DigestText, offset: z.number().int().nonnegative() }),
  /** As many `written` lines, from the first, are about bytes on the disk. */
  z.object({ flushed: z.number().int().nonnegative() }),
  /** A volume is about to get its final name. */
  z.object({ sealed: z.number().int().positive(), checksum: Hex64 }),
])
export type ProgressLine = z.infer<typeof Line>

export interface WrittenProgress {
  readonly sums: readonly string[] | undefined
  readonly isFlushed: boolean
}

/** What the lines come to. */
export interface Progress {
  readonly id: Digest
  readonly recordSize: number
  readonly volumeBytes: number
  readonly written: ReadonlyMap<Digest, WrittenProgress>
  readonly reached: ReadonlyMap<Digest, number>
  /** Checksum of each sealed volume. */
  readonly sealed: ReadonlyMap<number, string>
  /** How many `written` lines there are. */
  readonly count: number
  /** Bytes of the file that could be read; the rest was cut by a crash. */
  readonly size: number
}

/** Undefined where there is no such file, or it ends before its first line does. */
export async function readProgress(path: string): Promise<Progress | undefined> {
  const bytes = await readFile(path).catch((error: unknown) => {
    if (hasSystemCode(error, 'ENOENT')) return Buffer.alloc(0)
    throw error
  })
  const end = bytes.indexOf(10)
  const head = Head.safeParse(parsedJson(bytes.toString('utf8', 0, Math.max(0, end))))
  return head.success ? fold(head.data, bytes.toString('utf8'), end + 1) : undefined
}

function fold({ id, recordSize, volumeBytes }: z.infer<typeof Head>, text: string, start: number): Progress {
  const written = new Map<Digest, { sums: readonly string[] | undefined; index: number }>()
  const reached = new Map<Digest, number>()
  const sealed = new Map<number, string>()
  let count = 0
  let flushed = 0
  let size = start
  for (let end = text.indexOf('\n', size); end >= 0; end = text.indexOf('\n', size)) {
    const line = Line.safeParse(parsedJson(text.slice(size, end))).data
    if (line === undefined) break
    if ('written' in line) {
      reached.delete(line.written)
      written.set(line.written, { sums: line.sums, index: count })
      count += 1
    } else if ('reached' in line) {
      written.delete(line.reached)
      reached.set(line.reached, line.offset)
    } else if ('flushed' in line) flushed = line.flushed
    else sealed.set(line.sealed, line.checksum)
    size = end + 1
  }
  const claims = [...written].map(
    ([digest, { sums, index }]) => [digest, { sums, isFlushed: index < flushed }] as const,
  )
  return { id, recordSize, volumeBytes, written: new Map(claims), reached, sealed, count, size }
}

/** Appends lines. What a full disk did not take is kept, and written before the next line. */
export class ProgressFile {
  readonly #path: string
  readonly #file: number
  #size: number
  #unwritten: string[] = []
  #writing: Promise<void> | undefined

  private constructor(path: string, size: number) {
    this.#path = path
    this.#file = openSync(path, size > 0 ? 'r+' : 'w', 0o644)
    this.#size = size
  }

  /** Begins the file. Everything that its lines will build on has to be on the disk. */
  static async create(path: string, about: Omit<z.infer<typeof Head>, 'format' | 'version'>): Promise<ProgressFile> {
    const file = new ProgressFile(path, 0)
    const head: z.infer<typeof Head> = { format: 'sallyport-progress', version: 1, ...about }
    file.#unwritten.push(`${JSON.stringify(head)}\n`)
    try {
      await file.flush()
    } catch (error) {
      closeSync(file.#file)
      throw error
    }
    return file
  }

  static reopen(path: string, { size }: Progress): ProgressFile {
    const file = new ProgressFile(path, size)
    ftruncateSync(file.#file, size)
    return file
  }

  /** @throws KnownError DISK_FULL */
  append(line: ProgressLine): Promise<void> {
    this.#unwritten.push(`${JSON.stringify(line)}\n`)
    return this.#write()
  }

  /** Waits until every line is on the disk. */
  async flush(): Promise<void> {
    await this.#write()
    await flushData(this.#file)
  }

  /** @throws KnownError DISK_FULL where lines are lost */
  async close(): Promise<void> {
    try {
      await this.#write()
    } finally {
      closeSync(this.#file)
    }
  }

  /** Lines that come while others are written go together. */
  async #write(): Promise<void> {
    while (this.#unwritten.length > 0) {
      this.#writing ??= this.#writeAll().finally(() => {
        this.#writing = undefined
      })
      await this.#writing
    }
  }

  async #writeAll(): Promise<void> {
    const lines = this.#unwritten.length
    const bytes = Buffer.from(this.#unwritten.join(''))
    try {
      for (let done = 0; done < bytes.byteLength; )
        done += await writeAt(this.#file, bytes.subarray(done), this.#size + done)
    } catch (error) {
      throw diskError(error, this.#path)
    }
    this.#size += bytes.byteLength
    this.#unwritten = this.#unwritten.slice(lines)
  }
}

function writeAt(file: number, bytes: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file, bytes, 0, bytes.byteLength, position, (error, count) => (error ? reject(error) : resolve(count)))
  })
}
