/** `Range` and `Content-Range`. Pure. */

/** Bytes from `start` up to and without `end`. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * The bytes that a `Range` header asks for (RFC 9110 section 14.2): undefined for all of them, which is also the answer
 * to another unit, to several ranges and to what is malformed; 'unsatisfiable' where none of them exists.
 */
export function requestedRange(header: string | undefined, sizeBytes: number): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=\s*([0-9]*)-([0-9]*)\s*$/.exec(header ?? '')
  if (match === null) return undefined
  const [, first = '', last = ''] = match
  if (first === '') return last === '' ? undefined : suffixRange(Number(last), sizeBytes)
  const start = Number(first)
  const end = last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes)
  if (last !== '' && Number(last) < start) return undefined
  return start < sizeBytes ? { start, end } : 'unsatisfiable'
}

function suffixRange(count: number, sizeBytes: number): ByteRange | 'unsatisfiable' {
  if (count === 0 || sizeBytes === 0) return 'unsatisfiable'
  return { start: Math.max(0, sizeBytes - count), end: sizeBytes }
}

/** The place of a chunk in its blob (distribution-spec, "Pushing a blob in chunks"): `0-1023`, inclusive. */
export function parseContentRange(header: string): ByteRange | undefined {
  // Docker's older clients write the unit, and some the whole size.
  const match = /^(?:bytes[ =])?([0-9]+)-([0-9]+)(?:\/(?:[0-9]+|\*))?$/.exec(header)
  if (match === null) return undefined
  const start = Number(match[1])
  const end = Number(match[2]) + 1
  return end > start && Number.isSafeInteger(end) ? { start, end } : undefined
}
