import type { FileHandle } from 'node:fs/promises'
import { readBlock } from './block-file.ts'

interface RowFile {
  /** Undefined for a file that is missing: its blocks are empty. */
  readonly file: FileHandle | undefined
  /** Bytes that the file should have. */
  readonly size: number
}

/** A block of one file; `words` is the whole block, with zeros after the bytes. Both are valid until the next block. */
export interface Block {
  readonly row: number
  /** Index of the file. */
  readonly column: number
  /** Bytes of this block that the file should have; 0 past its end. */
  readonly expected: number
  readonly bytes: Uint8Array
  readonly words: Uint32Array
}

/** Reads files side by side: for each row the blocks of all files in their order. The next block is read ahead. */
export async function* readRows(
  files: readonly RowFile[],
  { from, rows, blockBytes }: { readonly from: number; readonly rows: number; readonly blockBytes: number },
): AsyncGenerator<Block> {
  const buffers = [new Uint8Array(blockBytes), new Uint8Array(blockBytes)] as const
  const read = async (index: number): Promise<Block> => {
    const row = from + Math.floor(index / files.length)
    const column = index % files.length
    const { file, size } = files[column] ?? { file: undefined, size: 0 }
    const expected = Math.max(0, Math.min(blockBytes, size - row * blockBytes))
    const buffer = buffers[index % 2 === 0 ? 0 : 1]
    const bytes = file ? await readBlock(file, buffer.subarray(0, expected), row * blockBytes) : buffer.subarray(0, 0)
    buffer.fill(0, bytes.byteLength)
    return { row, column, expected, bytes, words: wordsOf(buffer) }
  }
  const count = rows * files.length
  let next = read(0)
  for (let index = 0; index < count; index += 1) {
    const block = await next
    if (index + 1 < count) {
      next = read(index + 1)
      // Where the consumer stops early, nobody waits for this one.
      next.catch(() => undefined)
    }
    yield block
  }
}

/** The same bytes as 32-bit words. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4)
}

export function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength)
}
