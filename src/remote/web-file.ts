/** `file://` URLs, read as if a server gave them. */
import { open, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { type ChunkConsumer, type ChunkStream, forEachChunk } from '../oci/chunk-stream.ts'

interface FileRequest {
  readonly what: string
  readonly signal: AbortSignal
}

interface ReadDocument {
  readonly bytes: Uint8Array
  readonly contentType: string
}

/** @throws KnownError WEB_INVALID, FILE_UNREADABLE */
export async function readFileDocument(
  url: URL,
  { what, signal, maxBytes }: FileRequest & { readonly maxBytes: number },
): Promise<ReadDocument | undefined> {
  const size = await sizeOf(url)
  if (size === undefined) return undefined
  if (size > maxBytes) {
    throw new KnownError('WEB_INVALID', `${what}: ${url.href} has more than ${maxBytes} bytes`, {
      details: { url: url.href, limit: maxBytes, size },
    })
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of openFile(url, { what, signal })) chunks.push(chunk)
  return { bytes: Buffer.concat(chunks), contentType: '' }
}

export function openFile(url: URL, { signal, offset = 0 }: FileRequest & { readonly offset?: number }): ChunkStream {
  const stream = () => chunksOf(url, offset, signal)
  return {
    [Symbol.asyncIterator]: stream,
    forEachChunk: (consume: ChunkConsumer) => forEachChunk({ [Symbol.asyncIterator]: stream }, consume),
  }
}

export async function describeFile(url: URL, { signal }: FileRequest): Promise<{ readonly size: number } | undefined> {
  signal.throwIfAborted()
  const size = await sizeOf(url)
  return size === undefined ? undefined : { size }
}

async function* chunksOf(url: URL, start: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    const file = await open(fileURLToPath(url))
    yield* file.createReadStream({ start, signal }) as AsyncIterable<Uint8Array>
  } catch (cause) {
    signal.throwIfAborted()
    throw unreadable(url, cause)
  }
}

async function sizeOf(url: URL): Promise<number | undefined> {
  try {
    return (await stat(fileURLToPath(url))).size
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT')) return undefined
    throw unreadable(url, cause)
  }
}

function unreadable(url: URL, cause: unknown): KnownError {
  return new KnownError('FILE_UNREADABLE', `${fileURLToPath(url)}: this file cannot be read`, {
    details: { file: fileURLToPath(url) },
    cause,
  })
}
