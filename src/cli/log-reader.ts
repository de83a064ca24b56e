import { open } from 'node:fs/promises'
import { hasSystemCode } from '../errors/known-error.ts'
import { withoutStamp } from './log-tail.ts'

const chunkBytes = 64 * 1024

/** Reads a log on from where it was read to. */
export class LogReader {
  readonly #path: string
  readonly #isBare: boolean
  #offset = 0
  /** The beginning of a line whose end is not there yet. */
  #rest = Buffer.alloc(0)

  /** @param isBare without the time before each line */
  constructor(path: string, { isBare }: { readonly isBare: boolean }) {
    this.#path = path
    this.#isBare = isBare
  }

  /** Hands over what is there and was not read yet: whole lines; with `isLast` the rest of the last one, too. */
  async read(print: (text: string) => void, { isLast }: { readonly isLast: boolean }): Promise<void> {
    for await (const chunk of this.#chunks()) {
      const bytes = Buffer.concat([this.#rest, chunk])
      const end = bytes.lastIndexOf(0x0a) + 1
      this.#rest = bytes.subarray(end)
      if (end > 0) print(this.#shown(bytes.toString('utf8', 0, end)))
    }
    if (!isLast || this.#rest.byteLength === 0) return
    print(`${this.#shown(this.#rest.toString('utf8'))}\n`)
    this.#rest = Buffer.alloc(0)
  }

  #shown(text: string): string {
    return this.#isBare ? text.split('\n').map(withoutStamp).join('\n') : text
  }

  async *#chunks(): AsyncGenerator<Buffer> {
    const file = await open(this.#path, 'r').catch((error: unknown) => {
      // An attempt is in the journal before its log is there.
      if (hasSystemCode(error, 'ENOENT')) return undefined
      throw error
    })
    try {
      for (;;) {
        const read = await file?.read(Buffer.alloc(chunkBytes), 0, chunkBytes, this.#offset)
        if (read === undefined || read.bytesRead === 0) return
        this.#offset += read.bytesRead
        yield read.buffer.subarray(0, read.bytesRead)
      }
    } finally {
      await file?.close()
    }
  }
}
