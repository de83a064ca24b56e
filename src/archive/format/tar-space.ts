/** How much of a tar an entry takes. */
import { sizes } from './format.ts'

const maxUstarSize = 8 ** 11 - 1

/** Bytes before the content of an entry or part: a tar header, and a pax header where name or size might not fit into it. */
export function headerBytes(name: string, entrySize: number): number {
  return needsPax(name, entrySize) ? 3 * sizes.tarBlock : sizes.tarBlock
}

/** The size of the whole entry decides for its parts too, so that their places do not hang on each other. */
export function needsPax(name: string, entrySize: number): boolean {
  return Buffer.byteLength(name) > 100 || entrySize > maxUstarSize
}

/** Rounded up to whole tar blocks. */
export function padded(size: number): number {
  return Math.ceil(size / sizes.tarBlock) * sizes.tarBlock
}
