/** Bytes that come in chunks, without a promise for each. */

/** Returns a promise where the producer has to wait before the next chunk. */
export type ChunkConsumer = (chunk: Uint8Array) => Promise<void> | undefined

export interface ConsumeOptions {
  /** True for a consumer that is done with a chunk when it returns, so that the next one may be read into the same place. */
  readonly isTransient?: boolean
}

/** An iterable that can also hand its chunks to a function, without a promise for each. */
export interface ChunkStream extends AsyncIterable<Uint8Array> {
  forEachChunk(consume: ChunkConsumer, options?: ConsumeOptions): Promise<void>
}

/** Reads `source` to its end in the fastest way that it has. */
export async function forEachChunk(
  source: AsyncIterable<Uint8Array>,
  consume: ChunkConsumer,
  options?: ConsumeOptions,
): Promise<void> {
  if (isChunkStream(source)) return source.forEachChunk(consume, options)
  for await (const chunk of source) {
    const pending = consume(chunk)
    if (pending !== undefined) await pending
  }
}

function isChunkStream(source: AsyncIterable<Uint8Array>): source is ChunkStream {
  return 'forEachChunk' in source && typeof source.forEachChunk === 'function'
}
