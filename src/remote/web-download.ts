/** The bytes of a file of the web, resumed by `Range` as often as the link breaks (RFC 9110 14). */
import { KnownError } from '../errors/known-error.ts'
import type { ChunkConsumer, ChunkStream, ConsumeOptions } from '../oci/chunk-stream.ts'
import { iterateChunks } from './chunk-reader.ts'
import { DownloadProgress } from './download-progress.ts'
import { connectionError } from './failure.ts'
import { beforeNextAttempt } from './retry.ts'
import type { WebAnswer, WebExchange } from './web-exchange.ts'

export interface WebDownloadOptions {
  readonly what: string
  readonly signal: AbortSignal
  readonly headers?: Readonly<Record<string, string>>
  readonly offset?: number
  /** Of the whole file, where it is known. */
  readonly size?: number
}

export class WebDownload implements ChunkStream {
  readonly #exchange: WebExchange
  readonly #url: URL
  readonly #options: WebDownloadOptions

  constructor(exchange: WebExchange, url: URL, options: WebDownloadOptions) {
    this.#exchange = exchange
    this.#url = url
    this.#options = options
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return iterateChunks(this)
  }

  async forEachChunk(consume: ChunkConsumer, options?: ConsumeOptions): Promise<void> {
    const { offset = 0, size, signal } = this.#options
    const progress = new DownloadProgress(offset, consume, options)
    let version: FileVersion = { size, validator: undefined }
    for (let attempt = 1; ; attempt += 1) {
      const before = progress.position
      // Of a file of which nothing is here yet, any version will do.
      if (before === offset) version = { size, validator: undefined }
      try {
        await this.#read(progress, version, attempt)
        if (version.size === undefined || progress.position === version.size) return
        throw this.#cut(`the answer ended after ${progress.position} of ${version.size} bytes`)
      } catch (error) {
        if (progress.isConsumersFault) throw error
        signal.throwIfAborted()
        if (progress.position > before) attempt = 1
        await beforeNextAttempt(this.#exchange.retries, error, { attempt, signal })
      }
    }
  }

  async #read(progress: DownloadProgress, version: FileVersion, attempt: number): Promise<void> {
    const { what, signal, headers = {} } = this.#options
    const from = progress.position
    if (from > 0 && from === version.size) return
    const resume = { ...(from > 0 && { range: `bytes=${from}-` }), ...(from > 0 && ifSame(version)) }
    const question = { method: 'GET', url: this.#url, what, signal, isBulk: true } as const
    const expect = from === 0 ? [200] : [200, 206, 416]
    const answer = await this.#exchange.sendOnce({ ...question, headers: { ...headers, ...resume }, expect }, attempt)
    try {
      if (answer.status === 416) return this.#nothingLeft(answer, version, from)
      progress.skip = this.#bytesToSkip(answer, version, from)
      await answer.body.forEachChunk((chunk) => {
        const after = progress.position + chunk.byteLength - progress.skip
        if (version.size !== undefined && after > version.size) {
          throw this.#invalid(`more than ${version.size} bytes came`)
        }
        return progress.accept(chunk)
      }, progress.options)
    } catch (error) {
      answer.body.destroy()
      const about = { subject: what, peer: 'web', method: 'GET', url: answer.url, attempt } as const
      throw progress.isConsumersFault ? error : connectionError(about, error)
    }
  }

  /** How many bytes of this answer came before: all of them where a server does not know `Range`. */
  #bytesToSkip(answer: WebAnswer, version: FileVersion, from: number): number {
    const { status, headers } = answer
    const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers['content-range'] ?? '')
    if (status === 206 && Number(range?.[1]) !== from) {
      throw this.#invalid(`asked for the bytes from ${from} on, it answered with ${headers['content-range']}`)
    }
    this.#compare(version, versionOf(status === 206 ? range?.[3] : headers['content-length'], headers))
    return status === 206 ? 0 : from
  }

  /** The server has no byte after those that are here already. */
  #nothingLeft(answer: WebAnswer, version: FileVersion, from: number): void {
    answer.body.drain()
    const total = /^bytes \*\/(\d+)$/.exec(answer.headers['content-range'] ?? '')?.[1]
    if (Number(total) !== from) throw this.#invalid(`it has nothing after byte ${from}`)
    this.#compare(version, { size: from, validator: undefined })
  }

  /** Keeps what is learnt about the file, and sees to it that every answer is of the same one. */
  #compare(known: FileVersion, seen: FileVersion): void {
    if (known.size !== undefined && seen.size !== undefined && known.size !== seen.size) {
      throw this.#invalid(`it has ${seen.size} bytes instead of ${known.size}`)
    }
    if (known.validator !== undefined && seen.validator !== undefined && known.validator !== seen.validator) {
      throw this.#invalid('it was changed there while it was read')
    }
    known.size ??= seen.size
    known.validator ??= seen.validator
  }

  #invalid(why: string): KnownError {
    return this.#error('WEB_INVALID', why)
  }

  #cut(why: string): KnownError {
    return this.#error('WEB_UNREACHABLE', why)
  }

  #error(code: 'WEB_INVALID' | 'WEB_UNREACHABLE', why: string): KnownError {
    const { host, origin, pathname } = this.#url
    return new KnownError(code, `${this.#options.what}: GET ${origin}${pathname}: ${why}`, {
      details: { host, path: pathname },
    })
  }
}

interface FileVersion {
  size: number | undefined
  /** A strong ETag, or the time of the last change. */
  validator: string | undefined
}

function versionOf(length: string | undefined, headers: WebAnswer['headers']): FileVersion {
  const { etag, 'last-modified': changed } = headers
  const isStrong = etag !== undefined && !etag.startsWith('W/')
  const size = length === undefined || length === '*' ? undefined : Number(length)
  return { size, validator: isStrong ? etag : changed }
}

function ifSame({ validator }: FileVersion): Record<string, string> {
  return validator === undefined ? {} : { 'if-range': validator }
}
