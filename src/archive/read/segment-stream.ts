/** Content that lies in pieces over the volumes of an archive, as one stream. */
import type { Segment } from '../format/layout.ts'
import type { ReadVolumes } from './read-volumes.ts'

/** Measured: larger reads cost no less, and each stream holds two of them. */
const readBytes = 256 * 1024

interface Piece {
  readonly volume: number
  readonly offset: number
  readonly length: number
}

/**
 * The content of `segments` from `start` on: the next piece is read while the last one is used. Not proven.
 *
 * @throws KnownError ARCHIVE_INCOMPLETE, ARCHIVE_DAMAGED where a volume is too short, FILE_UNREADABLE
 */
export async function* streamSegments(
  files: ReadVolumes,
  segments: readonly Segment[],
  { start = 0, signal }: { start?: number; signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array> {
  const pieces = piecesOf(segments, start)
  const readNext = () => {
    const { value } = pieces.next()
    const reading = value && readPiece(files, value)
    // Where it fails while the last piece is still used: it is thrown when it is asked for.
    reading?.catch(() => undefined)
    return reading
  }
  let pending = readNext()
  try {
    while (pending) {
      const chunk = await pending
      signal?.throwIfAborted()
      pending = readNext()
      yield chunk
    }
  } finally {
    // Before the files are closed.
    await Promise.allSettled([pending])
  }
}

function* piecesOf(segments: readonly Segment[], from: number): Generator<Piece, undefined> {
  for (const { volume, offset, start, length } of segments) {
    const end = start + length
    for (let position = Math.max(start, from); position < end; ) {
      const size = Math.min(readBytes, end - position)
      yield { volume, offset: offset + position - start, length: size }
      position += size
    }
  }
  return undefined
}

async function readPiece(files: ReadVolumes, { volume, offset, length }: Piece): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(length)
  await files.read({ volume, offset }, buffer)
  return buffer
}
