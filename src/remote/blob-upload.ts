/**
 * One blob into one repository (distribution-spec, "Pushing blobs").
 *
 * Small ones go as POST and one PUT. Large ones go in chunks, so that a broken upload goes on at the offset where the
 * registry stands; where a registry has no chunks, as one PUT. Wrong bytes are never completed: the last request is
 * made only when the hash is right.
 */
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { OpenBlob, PushBlobOptions } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { type Reference, repositoryName } from '../oci/reference.ts'
import type { Connections } from './connections.ts'
import { beforeNextAttempt } from './retry.ts'
import { UploadSource } from './upload-source.ts'
import { type UploadState, UploadWire } from './upload-wire.ts'

export interface UploadSettings {
  /** Blobs up to this size are sent in one request, and sent again from the start when it breaks. */
  readonly monolithicBytes: number
  /** Size of a chunk of the others. */
  readonly chunkBytes: number
  /** Registries that have refused chunks in this process, by host. */
  readonly refusesChunks: Set<string>
}

export interface Upload {
  readonly repository: Reference
  readonly descriptor: Descriptor
  readonly open: OpenBlob
  readonly options: PushBlobOptions
}

/** A proxy in front of the registry may allow less than a chunk; below this it is not worth trying. */
const smallestChunkBytes = 1024 * 1024

export class BlobUpload {
  readonly #connections: Connections
  readonly #settings: UploadSettings
  readonly #upload: Upload
  readonly #wire: UploadWire
  #chunkBytes: number
  #reported = 0

  constructor(connections: Connections, settings: UploadSettings, upload: Upload) {
    this.#connections = connections
    this.#settings = settings
    this.#upload = upload
    this.#wire = new UploadWire(connections, upload)
    this.#chunkBytes = settings.chunkBytes
  }

  /** @throws KnownError the REGISTRY_ codes, BLOB_SIZE_MISMATCH, BLOB_DIGEST_MISMATCH; and whatever the source throws */
  async run(): Promise<void> {
    const { open, descriptor, options, repository } = this.#upload
    const isSmall = descriptor.size <= this.#settings.monolithicBytes && options.session === undefined
    const source = new UploadSource(open, descriptor, options.origin ?? repositoryName(repository))
    try {
      if (isSmall || this.#settings.refusesChunks.has(repository.registry)) await this.#inOnePut(source)
      else await this.#inChunks(source)
    } finally {
      source.close()
    }
  }

  async #inOnePut(source: UploadSource): Promise<void> {
    const { descriptor } = this.#upload
    let state: UploadState | undefined
    await this.#persist(source, async () => {
      state = await this.#wire.begin()
      const to = descriptor.size
      await this.#wire.put(state, {
        length: to,
        writeTo: (sink) => source.write(sink, { from: 0, to, isLast: true }),
      })
      this.#arrived(to)
      return true
    }).catch((error: unknown) => this.#abandon(state, error))
  }

  async #inChunks(source: UploadSource): Promise<void> {
    const { session, onSession } = this.#upload.options
    let state = session === undefined ? undefined : await this.#wire.status(session.location)
    let isUnproven = state !== undefined && state.offset > 0
    const done = this.#persist(source, async (attempt) => {
      if (attempt > 1 && state !== undefined) state = await this.#wire.status(state.location.href)
      if (state === undefined) {
        state = await this.#wire.begin()
        isUnproven = false
      }
      const before = state.offset
      try {
        state = await this.#sendChunks(source, state, (next) => {
          state = next
          return onSession?.({ location: next.location.href })
        })
      } catch (error) {
        const refusal = this.#chunkRefusal(error, source, before)
        if (refusal === 'one-put') {
          await this.#inOnePut(source)
          return true
        }
        if (refusal === 'smaller' || state.offset > before) return false
        throw error
      }
      const isDone = await this.#commit(source, state, isUnproven)
      if (!isDone) state = undefined
      return isDone
    })
    await done.catch((error: unknown) => this.#abandon(onSession === undefined ? state : undefined, error))
  }

  async #sendChunks(
    source: UploadSource,
    start: UploadState,
    onState: (state: UploadState) => Promise<void> | void,
  ): Promise<UploadState> {
    const { size } = this.#upload.descriptor
    let state = start
    this.#arrived(state.offset)
    await onState(state)
    while (state.offset < size) {
      const from = state.offset
      const to = Math.min(size, from + Math.max(this.#chunkBytes, state.minChunkBytes))
      state = await this.#wire.patch(state, {
        from,
        to,
        writeTo: (sink) => source.write(sink, { from, to, isLast: false }),
      })
      this.#arrived(state.offset)
      await onState(state)
    }
    return state
  }

  /**
   * The closing PUT. Bytes that this process has not seen are proven by the registry, which is asked once more.
   *
   * @returns false where what an earlier run had sent was wrong: then everything is sent again
   */
  async #commit(source: UploadSource, state: UploadState, isUnproven: boolean): Promise<boolean> {
    if (!isUnproven) source.prove()
    try {
      await this.#wire.put(state)
      if (!isUnproven) return true
    } catch (error) {
      // The answer to a PUT that succeeded may have been lost; then there is no upload any more, but a blob.
      if (!isUnproven && !(await this.#wire.exists())) throw error
    }
    return this.#wire.exists()
  }

  /** Repeats `action` until it returns true. What the source or its bytes did wrong is thrown as it is. */
  async #persist(source: UploadSource, action: (attempt: number) => Promise<boolean>): Promise<void> {
    const { signal } = this.#upload.options
    let failures = 0
    for (let attempt = 1; ; attempt += 1) {
      this.#wire.attempt = failures + 1
      try {
        if (await action(attempt)) return
        failures = 0
      } catch (error) {
        signal?.throwIfAborted()
        if (source.failure !== undefined) throw source.failure.error
        if (isStaleSocket(error)) continue
        failures += 1
        await beforeNextAttempt(this.#connections.retries, error, { attempt: failures, signal })
      }
    }
  }

  /** What a refused chunk tells about this registry; undefined where it tells nothing. */
  #chunkRefusal(error: unknown, source: UploadSource, offset: number): 'one-put' | 'smaller' | undefined {
    if (!(error instanceof KnownError) || source.failure !== undefined || error.details['method'] !== 'PATCH')
      return undefined
    const status = error.details['status']
    if (status === 413 && this.#chunkBytes > smallestChunkBytes) {
      this.#chunkBytes = Math.max(smallestChunkBytes, Math.floor(this.#chunkBytes / 4))
      return 'smaller'
    }
    const isUnsupported =
      status === 405 || status === 501 || (offset === 0 && (status === 404 || status === 416 || status === 400))
    if (!isUnsupported) return undefined
    this.#settings.refusesChunks.add(this.#upload.repository.registry)
    return 'one-put'
  }

  async #abandon(state: UploadState | undefined, error: unknown): Promise<never> {
    if (state !== undefined) await this.#wire.cancel(state)
    throw error
  }

  #arrived(position: number): void {
    if (position <= this.#reported) return
    this.#upload.options.onBytes?.(position - this.#reported)
    this.#reported = position
  }
}

/** The next attempt takes another connection; there are never more of these than the pool holds. */
function isStaleSocket(error: unknown): boolean {
  return error instanceof KnownError && hasSystemCode(error.cause, 'ERR_STALE_SOCKET')
}
