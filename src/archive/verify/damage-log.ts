/** What was found wrong in the files of an archive, as it is found. */
import type { Digest } from '../../oci/digest.ts'

/** Bytes of a volume that are not what they have to be. */
export interface DamagedRange {
  readonly volume: number
  /** Name of the file. */
  readonly file: string
  /** First byte, and the one after the last, in the file. */
  readonly start: number
  readonly end: number
  /** What lies there: the name of a tar entry, or words for what is none. */
  readonly entry: string
  readonly kind: DamageKind
  /** Of the blob or manifest that it is a piece of. */
  readonly digest?: Digest
}

export type DamageKind =
  /** A blob or manifest. */
  | 'content'
  /** A document of the archive: its index, `holes.json`, `volume.json`, … */
  | 'record'
  /** A tar header, padding, the zeros at the end of a volume. */
  | 'frame'
  | 'unreadable'
  | 'cut'
  | 'longer'
  | 'missing'
  | 'foreign'

export class DamageLog {
  readonly ranges: DamagedRange[] = []

  add(range: DamagedRange): void {
    const { start, end } = range
    if (end > start) this.ranges.push(range)
  }
}

/** The first and the last place where two of one length differ; undefined where they are the same. */
export function difference(actual: Uint8Array, expected: Uint8Array): { start: number; end: number } | undefined {
  const length = Math.min(actual.byteLength, expected.byteLength)
  if (Buffer.compare(actual.subarray(0, length), expected.subarray(0, length)) === 0) return undefined
  let start = 0
  while (actual[start] === expected[start]) start += 1
  let end = length
  while (actual[end - 1] === expected[end - 1]) end -= 1
  return { start, end }
}
