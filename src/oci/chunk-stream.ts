/** Bytes that come in chunks, for consumers that give a chunk back to where it was read into. */

/** Returns a promise where the producer has to wait before the next chunk. */
export type ChunkConsumer = (chunk: Uint8Array) => Promise<void> | undefined

/** An iterable that can also hand its chunks to a function, without a promise for each. */
export interface ChunkStream extends AsyncIterable<Uint8Array> {
  forEachChunk(consume: ChunkConsumer): Promise<void>
}

/** Reads `source` to its end in the fastest way that it has. */
export async function forEachChunk(source: AsyncIterable<Uint8Array>, consume: ChunkConsumer): Promise<void> {
  if (isChunkStream(source)) return source.forEachChunk(consume)
  for await (const chunk of source) {
    const pending = consume(chunk)
    if (pending !== undefined) await pending
  }
}

function isChunkStream(source: AsyncIterable<Uint8Array>): source is ChunkStream {
  return 'forEachChunk' in source && typeof source.forEachChunk === 'function'
}
