import { KnownError } from '../../errors/known-error.ts'
import { forEachChunk } from '../../oci/chunk-stream.ts'
import type { OpenBlob } from '../../oci/content.ts'
import type { Digest } from '../../oci/digest.ts'
import { hashFor, hashPlaced } from './entry-content.ts'
import type { PlacedHash } from './placed-hash.ts'
import { PlacedWriter } from './placed-writer.ts'
import type { WrittenClaims } from './written-claims.ts'
import type { WrittenEntry } from './written-entries.ts'
import type { WrittenVolumes } from './written-volumes.ts'

export interface EntrySource {
  readonly open: OpenBlob
  readonly signal: AbortSignal
  /** Names the place that the bytes come from, in messages. */
  readonly origin: string
  /** Called with the number of bytes that are newly in their place. */
  readonly onBytes?: (count: number) => void
}

interface Destination {
  readonly volumes: WrittenVolumes
  readonly claims: WrittenClaims
  /** How many bytes of an entry may be written before that is put down. */
  readonly noteEveryBytes: number
  /** The entry is whole in its place. */
  readonly onProven: () => void
}

/** Brings the bytes of one blob or manifest to their place and proves them. */
export class EntryArrival {
  readonly #entry: WrittenEntry
  readonly #digest: Digest
  readonly #destination: Destination
  readonly #source: EntrySource
  #reported = 0

  constructor(entry: WrittenEntry & { readonly digest: Digest }, destination: Destination, source: EntrySource) {
    this.#entry = entry
    this.#digest = entry.digest
    this.#destination = destination
    this.#source = source
  }

  /**
   * Goes on where the last attempt stopped. Where it turns out at the end that what that had left is wrong, everything is
   * fetched again.
   *
   * @throws KnownError BLOB_SIZE_MISMATCH, BLOB_DIGEST_MISMATCH, DISK_FULL, ARCHIVE_VOLUME_TOO_LARGE; and whatever the
   * source throws
   */
  async run(): Promise<void> {
    const start = this.#entry.reached
    const actual = await this.#fetch(start)
    if (actual === this.#digest) return
    const again = start > 0 ? await this.#fetch(0) : actual
    if (again === this.#digest) return
    const { origin } = this.#source
    throw new KnownError('BLOB_DIGEST_MISMATCH', `${origin}: expected ${this.#digest}, received ${again}`, {
      details: { origin, expected: this.#digest, actual: again, size: this.#entry.size },
    })
  }

  /** Fetches what follows `start`, and gives the digest of the whole. */
  async #fetch(start: number): Promise<Digest> {
    const { volumes, claims, onProven } = this.#destination
    const hash = start > 0 ? await hashPlaced(volumes, this.#entry, start) : hashFor(this.#entry)
    this.#report(start)
    await this.#write(start, hash)
    const { digest, sums } = hash.finish()
    if (digest !== this.#digest) {
      this.#entry.reached = 0
      await claims.reached(this.#digest, 0)
      return digest
    }
    this.#entry.finish(sums)
    onProven()
    await claims.written(this.#entry)
    return digest
  }

  async #write(start: number, hash: PlacedHash): Promise<void> {
    const { size, segments } = this.#entry
    const { open, signal } = this.#source
    if (start === size) return
    let noted = start
    const writer = new PlacedWriter(this.#destination.volumes, segments, {
      start,
      onWritten: (written) => {
        this.#report(written)
        if (written - noted < this.#destination.noteEveryBytes || written === size) return
        noted = written
        this.#note(written)
      },
    })
    let received = start
    try {
      const take = (chunk: Uint8Array) => {
        // Not every source listens to it.
        signal.throwIfAborted()
        received += chunk.byteLength
        if (received > size) throw this.#sizeMismatch(`more than ${size}`)
        hash.update(chunk)
        return writer.write(chunk)
      }
      await forEachChunk(open(start, signal), take, { isTransient: true })
    } finally {
      await this.#settle(writer)
    }
    if (received < size) throw this.#sizeMismatch(`${received} of ${size}`)
  }

  async #settle(writer: PlacedWriter): Promise<void> {
    try {
      await writer.settle()
    } finally {
      this.#entry.reached = writer.written
      if (writer.written < this.#entry.size) this.#note(writer.written)
    }
  }

  /** Only saves work, so nobody waits for it; on a full disk the line goes with the next one. */
  #note(offset: number): void {
    this.#destination.claims.reached(this.#digest, offset).catch(() => undefined)
  }

  #report(position: number): void {
    if (position <= this.#reported) return
    this.#source.onBytes?.(position - this.#reported)
    this.#reported = position
  }

  #sizeMismatch(amount: string): KnownError {
    const { origin } = this.#source
    return new KnownError('BLOB_SIZE_MISMATCH', `${origin}: received ${amount} bytes of ${this.#digest}`, {
      details: { origin, digest: this.#digest, expected: this.#entry.size },
    })
  }
}
