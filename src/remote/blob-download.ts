/** The bytes of a blob, resumed by `Range` as often as the link breaks (distribution-spec, "Pulling blobs"). */
import { KnownError } from '../errors/known-error.ts'
import type { ChunkConsumer, ChunkStream, ConsumeOptions } from '../oci/chunk-stream.ts'
import type { FetchBlobOptions } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { type Reference, repositoryName } from '../oci/reference.ts'
import { iterateChunks } from './chunk-reader.ts'
import type { Connections } from './connections.ts'
import { DownloadProgress } from './download-progress.ts'
import { connectionError } from './failure.ts'
import type { HttpAnswer } from './http-message.ts'
import { beforeNextAttempt } from './retry.ts'

/**
 * Not proven: whoever consumes the bytes hashes them. What is checked here is what lets a transfer go on: that every
 * chunk continues where the last one ended, and that there are not more bytes than were promised.
 */
export class BlobDownload implements ChunkStream {
  readonly #connections: Connections
  readonly #repository: Reference
  readonly #descriptor: Descriptor
  readonly #options: FetchBlobOptions

  constructor(connections: Connections, repository: Reference, descriptor: Descriptor, options: FetchBlobOptions) {
    this.#connections = connections
    this.#repository = repository
    this.#descriptor = descriptor
    this.#options = options
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return iterateChunks(this)
  }

  /**
   * @throws KnownError BLOB_UNKNOWN, BLOB_SIZE_MISMATCH and the REGISTRY_ codes; and whatever `consume` throws
   */
  async forEachChunk(consume: ChunkConsumer, options?: ConsumeOptions): Promise<void> {
    const { signal } = this.#options
    const progress = new DownloadProgress(this.#options.offset ?? 0, consume, options)
    const { size } = this.#descriptor
    for (let attempt = 1; progress.position < size || size === 0; attempt += 1) {
      const before = progress.position
      try {
        await this.#read(progress, attempt)
        if (progress.position === size) return
        throw this.#mismatch(`the answer ended after ${progress.position} of ${size} bytes`, true)
      } catch (error) {
        if (progress.isConsumersFault) throw error
        signal?.throwIfAborted()
        if (progress.position > before) attempt = 1
        await beforeNextAttempt(this.#connections.retries, error, { attempt, signal })
      }
    }
  }

  async #read(progress: DownloadProgress, attempt: number): Promise<void> {
    const { registry, repository } = this.#repository
    const from = progress.position
    const request = {
      method: 'GET',
      registry,
      repository,
      path: `${repository}/blobs/${this.#descriptor.digest}`,
      subject: this.#subject,
      actions: 'pull',
      lane: 'download',
      headers: from === 0 ? {} : { range: `bytes=${from}-` },
      expect: from === 0 ? [200] : [200, 206, 416],
      signal: this.#options.signal,
    } as const
    const answer = await this.#connections.sendOnce(request, attempt).catch(blobIsUnknown)
    try {
      progress.skip = this.#bytesToSkip(answer, from)
      await answer.body.forEachChunk((chunk) => {
        const after = progress.position + chunk.byteLength - progress.skip
        if (after > this.#descriptor.size) throw this.#mismatch('more bytes came than that', false)
        return progress.accept(chunk)
      }, progress.options)
    } catch (error) {
      answer.body.destroy()
      const about = { subject: this.#subject, method: 'GET', url: answer.url, attempt }
      throw progress.isConsumersFault ? error : connectionError(about, error)
    }
  }

  /** How many bytes of this answer came before: all of them where a server does not know `Range`. */
  #bytesToSkip({ status, headers, url }: HttpAnswer, from: number): number {
    const { size } = this.#descriptor
    if (status === 416) throw this.#mismatch(`the registry has nothing after byte ${from}`, false)
    if (status === 200) {
      const length = headers['content-length']
      if (length !== undefined && Number(length) !== size)
        throw this.#mismatch(`the registry announces ${length}`, false)
      return from
    }
    const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers['content-range'] ?? '')
    if (Number(range?.[1]) !== from || (range?.[3] !== '*' && Number(range?.[3]) !== size)) {
      throw new KnownError(
        'REGISTRY_PROTOCOL',
        `${this.#subject}: asked ${url.host} for bytes ${from}-${size - 1}, it answered with ${headers['content-range'] ?? 'no Content-Range'}`,
        { details: { image: this.#subject, host: url.host, status } },
      )
    }
    return 0
  }

  get #subject(): string {
    return `${repositoryName(this.#repository)}@${this.#descriptor.digest}`
  }

  #mismatch(why: string, retryable: boolean): KnownError {
    const { digest, size } = this.#descriptor
    return new KnownError('BLOB_SIZE_MISMATCH', `${this.#subject}: this blob has ${size} bytes, but ${why}`, {
      details: { image: repositoryName(this.#repository), host: this.#repository.registry, digest, expected: size },
      retryable,
    })
  }
}

function blobIsUnknown(error: unknown): never {
  if (!(error instanceof KnownError) || error.code !== 'MANIFEST_UNKNOWN') throw error
  throw new KnownError('BLOB_UNKNOWN', error.message, { details: { ...error.details }, cause: error.cause })
}
