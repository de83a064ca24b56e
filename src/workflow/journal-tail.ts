import { open } from 'node:fs/promises'
import { emptyRunState, foldOnto } from '../journal/fold.ts'
import { parseJournalLine } from '../journal/parse-journal.ts'
import type { RunState } from '../journal/run-state.ts'

const newline = 0x0a

/** A journal that another process writes, read on from where it was read to. */
export class JournalTail {
  readonly state: RunState = emptyRunState()
  readonly #path: string
  #offset = 0

  constructor(path: string) {
    this.#path = path
  }

  /**
   * Takes in what was written since.
   *
   * @throws KnownError JOURNAL_CORRUPT, JOURNAL_NEWER
   */
  async advance(): Promise<void> {
    const file = await open(this.#path, 'r')
    try {
      const { size } = await file.stat()
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, size - this.#offset)), {
        position: this.#offset,
      })
      // The rest is a line that is being written just now.
      const end = buffer.subarray(0, bytesRead).lastIndexOf(newline) + 1
      for (let start = 0; start < end; ) {
        const stop = buffer.indexOf(newline, start)
        foldOnto(this.state, parseJournalLine(buffer.toString('utf8', start, stop), this.state.events + 1))
        start = stop + 1
      }
      this.#offset += end
    } finally {
      await file.close()
    }
  }
}
