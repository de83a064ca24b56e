import type { ChunkConsumer, ConsumeOptions } from '../oci/chunk-stream.ts'
import { type AnswerBody, cutInBody } from './answer-body.ts'
import { ChunkedDecoder } from './chunked-coding.ts'
import type { IdleWatch } from './idle-watch.ts'
import type { ResponseHead } from './response-head.ts'

/** What a body needs of the connection that it comes over. */
interface BodyConnection {
  /** Makes bytes that were just read outlast the next read. */
  keep(bytes: Uint8Array): Uint8Array
  /** The body was read whole; `isLast` where nothing else can come over this connection. */
  release(isLast: boolean): void
  resume(): void
  destroy(): void
}

/** One body on its way: held back until somebody reads it. */
export class BulkBody implements AnswerBody {
  readonly #connection: BodyConnection
  readonly #watch: IdleWatch
  readonly #head: ResponseHead
  readonly #decoder: ChunkedDecoder | undefined
  readonly #waiting: Uint8Array[] = []
  readonly #closed: (() => void)[] = []
  #left: number
  #consume: ChunkConsumer | undefined
  #isTransient = false
  #settle: { resolve: () => void; reject: (error: unknown) => void } | undefined
  #isPaused = false
  #isOver = false
  #failure: Error | undefined

  constructor(connection: BodyConnection, head: ResponseHead, watch: IdleWatch) {
    this.#connection = connection
    this.#watch = watch
    this.#head = head
    this.#left = typeof head.framing === 'number' ? head.framing : Number.POSITIVE_INFINITY
    this.#decoder = head.framing === 'chunked' ? new ChunkedDecoder() : undefined
  }

  /** What came in one read with the head. */
  begin(bytes: Uint8Array): boolean {
    if (this.#left === 0) {
      this.#end(bytes.byteLength > 0)
      return true
    }
    return bytes.byteLength === 0 || this.accept(bytes)
  }

  /** From the socket; false to stop reading. */
  accept(bytes: Uint8Array): boolean {
    this.#watch.touch()
    const payload = this.#decoder ? this.#decode(bytes) : [bytes.subarray(0, this.#left)]
    for (const part of payload) this.#take(part)
    const isExtra = this.#left < bytes.byteLength && !this.#decoder
    this.#left -= Math.min(this.#left, bytes.byteLength)
    if (this.#left === 0 || this.#decoder?.isDone) this.#end(isExtra)
    return !this.#isPaused
  }

  #decode(bytes: Uint8Array): Uint8Array[] {
    try {
      return this.#decoder?.decode(bytes) ?? []
    } catch (error) {
      this.#fail(error)
      return []
    }
  }

  #take(part: Uint8Array): void {
    if (part.byteLength === 0 || this.#isOver) return
    if (this.#consume && this.#waiting.length === 0 && !this.#isPaused) {
      this.#hand(this.#isTransient ? part : this.#connection.keep(part), this.#consume)
    } else {
      this.#waiting.push(this.#connection.keep(part))
      this.#isPaused = true
    }
  }

  #hand(chunk: Uint8Array, consume: ChunkConsumer): void {
    let pending: Promise<void> | undefined
    try {
      pending = consume(chunk)
    } catch (error) {
      this.#fail(error)
      return
    }
    if (pending === undefined) return
    this.#isPaused = true
    this.#watch.paused = true
    pending.then(
      () => this.#goOn(),
      (error: unknown) => this.#fail(error),
    )
  }

  #goOn(): void {
    this.#watch.paused = false
    this.#isPaused = false
    for (let chunk = this.#waiting.shift(); chunk !== undefined && this.#consume; chunk = this.#waiting.shift()) {
      this.#hand(chunk, this.#consume)
      if (this.#isPaused) return
    }
    if (this.#isOver) this.#finish()
    else this.#connection.resume()
  }

  forEachChunk(consume: ChunkConsumer, { isTransient = false }: ConsumeOptions = {}): Promise<void> {
    this.#isTransient = isTransient
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#settle = { resolve, reject }
      this.#consume = consume
      this.#goOn()
    })
  }

  drain(): void {
    this.forEachChunk(() => undefined).catch(() => this.destroy())
  }

  destroy(): void {
    this.#fail(cutInBody())
  }

  onClose(action: () => void): void {
    if (this.#isOver) action()
    else this.#closed.push(action)
  }

  onConnectionEnd(error: Error | undefined): void {
    if (this.#isOver) return
    if (this.#head.framing === 'close' && error === undefined) this.#end(false)
    else this.#fail(error ?? cutInBody())
  }

  #end(isExtra: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#watch.stop()
    this.#connection.release(this.#head.isLast || isExtra)
    for (const action of this.#closed.splice(0)) action()
    this.#finish()
  }

  /** Resolves the reader once the last chunk was consumed. */
  #finish(): void {
    if (this.#waiting.length === 0 && !this.#isPaused) this.#settle?.resolve()
  }

  #fail(error: unknown): void {
    const failure = error instanceof Error ? error : new Error(String(error))
    this.#failure ??= failure
    this.#settle?.reject(error)
    if (this.#isOver) return
    this.#isOver = true
    this.#watch.stop()
    for (const action of this.#closed.splice(0)) action()
    this.#connection.destroy()
  }
}
