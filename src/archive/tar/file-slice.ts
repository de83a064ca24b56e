/** A piece of a file: where content lies inside an archive. */
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { KnownError } from '../../errors/known-error.ts'

export interface FileSlice {
  /** Path of the file. */
  readonly file: string
  /** Of the first byte, in the file. */
  readonly offset: number
  /** In bytes. */
  readonly size: number
}

/**
 * The bytes of a slice from `start` on. Not proven.
 *
 * @throws KnownError FILE_UNREADABLE, also where the file has become shorter
 */
export async function* streamSlice(slice: FileSlice, start: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  if (start >= slice.size) return
  const first = slice.offset + start
  const end = slice.offset + slice.size
  let position = first
  const stream = createReadStream(slice.file, { start: first, end: end - 1, highWaterMark: 256 * 1024, signal })
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      position += chunk.byteLength
      yield chunk
    }
  } catch (cause) {
    signal?.throwIfAborted()
    throw unreadable(slice.file, position, cause)
  }
  if (position < end) throw unreadable(slice.file, position, new Error(`it ends there; it had ${end} bytes`))
}

/** @throws KnownError FILE_UNREADABLE, also where the file has become shorter */
export async function readSlice(slice: FileSlice): Promise<Buffer> {
  let position = slice.offset
  try {
    await using file = await open(slice.file, 'r')
    const bytes = Buffer.alloc(slice.size)
    while (position < slice.offset + slice.size) {
      const { bytesRead } = await file.read(bytes, position - slice.offset, undefined, position)
      if (bytesRead === 0) throw new Error(`it ends there; it had ${slice.offset + slice.size} bytes`)
      position += bytesRead
    }
    return bytes
  } catch (cause) {
    throw unreadable(slice.file, position, cause)
  }
}

function unreadable(file: string, offset: number, cause: unknown): KnownError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new KnownError('FILE_UNREADABLE', `${file}: cannot be read at byte ${offset}: ${why}`, {
    details: { file, offset },
    cause,
  })
}
