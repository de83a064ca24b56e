/** Layers and other blobs that are made when they are read: only their descriptor is kept. */
import { createHash } from 'node:crypto'
import { storedGzip } from '../archive/tar/stored-gzip.ts'
import { type TarEntry, writeTar } from '../archive/tar/ustar.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { type Digest, digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { sampleBytes } from './sample-bytes.ts'

export interface SampleBlob {
  readonly descriptor: Descriptor
  /** The bytes from `offset`, the same each time. */
  open(offset?: number): AsyncIterable<Uint8Array>
}

export interface SampleLayer extends SampleBlob {
  /** Digest of the uncompressed tar (OCI image-spec config.md, `rootfs.diff_ids`). */
  readonly diffId: Digest
}

interface SampleLayerOptions {
  readonly seed: string
  /** Size of the random file in this layer, in bytes; 0 for none. The layer is a little larger. */
  readonly sizeBytes: number
  /** Entries before the random file. */
  readonly entries?: readonly TarEntry[]
  /** Default: an OCI gzip layer. The bytes are gzip unless the type ends in `.tar`. */
  readonly mediaType?: string
}

/** A layer determined by its options. It is read through once, for its digests. */
export function sampleLayer(options: SampleLayerOptions): SampleLayer {
  const mediaType = options.mediaType ?? mediaTypes.ociLayerGzip
  const compress = mediaType.endsWith('.tar') ? passThrough : storedGzip
  const uncompressed = createHash('sha256')
  const compressed = createHash('sha256')
  let size = 0
  for (const chunk of compress(observed(tarOf(options), (bytes) => uncompressed.update(bytes)))) {
    compressed.update(chunk)
    size += chunk.byteLength
  }
  return {
    descriptor: { mediaType, digest: `sha256:${compressed.digest('hex')}`, size },
    diffId: `sha256:${uncompressed.digest('hex')}`,
    open: (offset = 0) => from(compress(tarOf(options)), offset),
  }
}

/** A blob whose bytes are at hand: a config, a signature. */
export function blobOf(bytes: Uint8Array, mediaType: string): SampleBlob {
  return {
    descriptor: { mediaType, digest: digestOf(bytes), size: bytes.byteLength },
    open: (offset = 0) => from([bytes], offset),
  }
}

function tarOf({ seed, sizeBytes, entries = [] }: SampleLayerOptions): Iterable<Uint8Array> {
  const name = `usr/lib/sample-${digestOf(seed).slice(-12)}.bin`
  const file: TarEntry = { name, size: sizeBytes, content: () => sampleBytes(seed, sizeBytes) }
  return writeTar(sizeBytes > 0 ? [...entries, file] : entries)
}

function* observed(chunks: Iterable<Uint8Array>, observe: (chunk: Uint8Array) => void): Generator<Uint8Array> {
  for (const chunk of chunks) {
    observe(chunk)
    yield chunk
  }
}

function passThrough(chunks: Iterable<Uint8Array>): Iterable<Uint8Array> {
  return chunks
}

async function* from(chunks: Iterable<Uint8Array>, offset: number): AsyncGenerator<Uint8Array> {
  let start = 0
  for (const chunk of chunks) {
    const end = start + chunk.byteLength
    if (end > offset) yield start >= offset ? chunk : chunk.subarray(offset - start)
    start = end
  }
}
