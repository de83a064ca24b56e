/** Files as images that are made here: their bytes go from where they are straight into the target, and are proven on the way. */
import { KnownError } from '../errors/known-error.ts'
import { type ChunkConsumer, type ChunkStream, type ConsumeOptions, forEachChunk } from '../oci/chunk-stream.ts'
import type { FetchBlobOptions } from '../oci/content.ts'
import { algorithmOf, type Digest, hasherFor } from '../oci/digest.ts'
import { emptyConfig, type FileInArtifact, fileManifest } from '../oci/file-artifact.ts'
import type { Reference } from '../oci/reference.ts'
import type { WebClient } from '../remote/web-client.ts'
import type { MadeImage } from './made-content.ts'

/** A file of which everything is known but its bytes. */
export interface FileArtifact extends FileInArtifact {
  /** At the registry of made images. */
  readonly reference: Reference
  /** The bytes from an offset on. */
  readonly open: (options: FetchBlobOptions) => AsyncIterable<Uint8Array>
}

export function makeFileArtifact({ reference, open, ...file }: FileArtifact): MadeImage {
  const config = async function* ({ offset = 0 }: FetchBlobOptions) {
    yield emptyConfig.bytes.subarray(offset)
  }
  return {
    reference,
    manifests: [fileManifest(file)],
    blobs: new Map([
      [emptyConfig.descriptor.digest, config],
      [file.digest, open],
    ]),
  }
}

/** Where a file is, and what it must be. */
export interface FileOrigin {
  readonly name: string
  /** `http:`, `https:`, or `file:` for a file of this machine. */
  readonly url: URL
  readonly digest: Digest
  /** In bytes; absent where nobody says. */
  readonly size?: number
}

/**
 * The bytes of a file from `offset` on. Those that are read from the first on are proven here, because only here it is known
 * which URL the wrong ones came from.
 *
 * @throws KnownError while they are read: FILE_MISMATCH, WEB_ and FILE_UNREADABLE
 */
export function openOrigin(
  web: Pick<WebClient, 'open'>,
  origin: FileOrigin,
  { offset = 0, signal }: { readonly offset?: number | undefined; readonly signal: AbortSignal },
): ChunkStream {
  const { name, url, size } = origin
  const isFileAllowed = url.protocol === 'file:'
  const what = `file ${name}`
  const bytes = web.open(url, { what, signal, isFileAllowed, offset, ...(size !== undefined && { size }) })
  return offset === 0 ? new CheckedFile(bytes, origin) : bytes
}

class CheckedFile implements ChunkStream {
  readonly #bytes: ChunkStream
  readonly #origin: FileOrigin
  readonly #hash
  #received = 0

  constructor(bytes: ChunkStream, origin: FileOrigin) {
    this.#bytes = bytes
    this.#origin = origin
    this.#hash = hasherFor(algorithmOf(origin.digest))
  }

  async forEachChunk(consume: ChunkConsumer, options?: ConsumeOptions): Promise<void> {
    const take = (chunk: Uint8Array) => {
      this.#update(chunk)
      return consume(chunk)
    }
    await forEachChunk(this.#bytes, take, options)
    this.#finish()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#bytes) {
      this.#update(chunk)
      yield chunk
    }
    this.#finish()
  }

  #update(chunk: Uint8Array): void {
    this.#received += chunk.byteLength
    const { size } = this.#origin
    if (size !== undefined && this.#received > size) throw this.#mismatch(`it has more than ${size} bytes`)
    this.#hash.update(chunk)
    // Who reads as many bytes as there are does not ask for more: the last chunk is handed on only when the whole is proven.
    if (this.#received === size) this.#prove()
  }

  #finish(): void {
    const { size } = this.#origin
    if (size === undefined || this.#received < size || size === 0) this.#prove()
  }

  #prove(): void {
    const { digest, size } = this.#origin
    const actual: Digest = `${algorithmOf(digest)}:${this.#hash.digest('hex')}`
    if (actual === digest) return
    const isShort = size !== undefined && this.#received < size
    const amount = isShort ? `${this.#received} of ${size} bytes` : `${this.#received} bytes`
    throw this.#mismatch(`expected ${digest}, received ${actual} (${amount})`, actual)
  }

  #mismatch(why: string, actual?: Digest): KnownError {
    const { name, digest } = this.#origin
    const place = placeOf(this.#origin.url)
    return new KnownError('FILE_MISMATCH', `${place}: this is not the file ${name} that was asked for: ${why}`, {
      details: { file: name, url: place, expected: digest, actual },
    })
  }
}

/** For people: a path, or a URL without what may be secret in it. */
export function placeOf(url: URL): string {
  return url.protocol === 'file:' ? decodeURIComponent(url.pathname) : `${url.origin}${url.pathname}`
}
