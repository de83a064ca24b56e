import { KnownError } from '../errors/known-error.ts'
import type { OpenBlob } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { Verifier } from '../oci/verified.ts'
import { ChunkReader } from './chunk-reader.ts'
import type { BodySink } from './http-message.ts'

/**
 * The bytes of an upload: read from any offset, hashed once, however often parts of them are sent again.
 *
 * An upload that goes on where another process stopped never sees its first bytes; then nothing
 * can be proven here, and the registry's own proof has to do.
 */
export class UploadSource {
  readonly #open: OpenBlob
  readonly #descriptor: Descriptor
  readonly #origin: string
  readonly #verifier: Verifier
  readonly #stop = new AbortController()
  #reader: ChunkReader | undefined
  /** Position of the next byte that the reader gives. */
  #position = 0
  #isProven = false
  #failure: { readonly error: unknown } | undefined

  constructor(open: OpenBlob, descriptor: Descriptor, origin: string) {
    this.#open = open
    this.#descriptor = descriptor
    this.#origin = origin
    this.#verifier = new Verifier(descriptor, origin)
  }

  /** What the source failed with, or what is wrong with its bytes: for the one who must not blame the target. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  /** @throws KnownError BLOB_SIZE_MISMATCH, BLOB_DIGEST_MISMATCH */
  prove(): void {
    if (this.#isProven) return
    this.#watched(() => this.#verifier.finish())
    this.#isProven = true
  }

  /**
   * Writes the bytes from `from` up to `to`.
   *
   * @param isLast hold the last chunk back until the whole is proven, so that wrong bytes never arrive completely
   */
  async write(sink: BodySink, { from, to, isLast }: { from: number; to: number; isLast: boolean }): Promise<void> {
    const reader = this.#readerAt(from)
    let held: Uint8Array | undefined
    while (this.#position < to) {
      const chunk = reader.take()
      if (chunk === undefined) {
        await this.#awaitMore(reader, sink)
        continue
      }
      const part = this.#upTo(to, chunk, reader)
      const ready = isLast ? held : part
      held = part
      const pending = ready === undefined ? undefined : sink.write(ready)
      if (pending !== undefined) await pending
    }
    if (!isLast) return
    this.prove()
    if (held !== undefined) await sink.write(held)
  }

  close(): void {
    this.#reader?.close()
    this.#reader = undefined
    this.#stop.abort()
  }

  #readerAt(position: number): ChunkReader {
    if (this.#reader !== undefined && this.#position === position) return this.#reader
    this.#reader?.close()
    this.#reader = this.#watched(() => new ChunkReader(this.#open(position, this.#stop.signal)))
    this.#position = position
    return this.#reader
  }

  async #awaitMore(reader: ChunkReader, sink: BodySink): Promise<void> {
    sink.starving = true
    try {
      if (!(await reader.more())) throw this.#tooShort()
    } catch (error) {
      this.#failure = { error }
      throw error
    } finally {
      sink.starving = false
    }
  }

  /** Counts and hashes a chunk, up to `to`; the rest stays in the reader. */
  #upTo(to: number, chunk: Uint8Array, reader: ChunkReader): Uint8Array {
    const room = to - this.#position
    const part = chunk.byteLength <= room ? chunk : chunk.subarray(0, room)
    if (part !== chunk) reader.unread(chunk.subarray(room))
    const known = this.#verifier.received - this.#position
    this.#position += part.byteLength
    if (known >= 0 && known < part.byteLength) {
      this.#watched(() => this.#verifier.update(known === 0 ? part : part.subarray(known)))
    }
    return part
  }

  #tooShort(): KnownError {
    const { digest, size } = this.#descriptor
    return new KnownError(
      'BLOB_SIZE_MISMATCH',
      `${this.#origin}: received ${this.#position} of ${size} bytes of ${digest}`,
      {
        details: { origin: this.#origin, digest, expected: size, received: this.#position },
      },
    )
  }

  #watched<T>(action: () => T): T {
    try {
      return action()
    } catch (error) {
      this.#failure = { error }
      throw error
    }
  }
}
