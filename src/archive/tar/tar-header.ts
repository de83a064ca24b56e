/**
 * Reads the headers of tar archives that other programs wrote: ustar, pax, GNU and the format before them.
 *
 * Sources: POSIX.1-2024 pax, "ustar Interchange Format" and "pax Header Block"; GNU tar manual, "Basic Tar Format".
 */

export const tarBlockBytes = 512

export interface TarHeader {
  readonly name: string
  /** Bytes of content, as the header says them; NaN where it does not say a number, negative where it does so. */
  readonly size: number
  /** The type flag: one character, `0` also for what tar wrote before there were types. */
  readonly type: string
  /** GNU's sparse files: more of the map follows in a block of its own. */
  readonly isMapContinued: boolean
}

const offsets = { size: 124, checksum: 148, type: 156, magic: 257, prefix: 345, isMapContinued: 482 } as const

/** Undefined for a block that is no header: its checksum is wrong. */
export function parseTarHeader(block: Buffer): TarHeader | undefined {
  if (!hasChecksum(block)) return undefined
  const flag = String.fromCharCode(block[offsets.type] ?? 0)
  const name = textAt(block, 0, 100)
  // GNU's magic is "ustar " and its headers have other fields in the place of the prefix.
  const isUstar = block.toString('latin1', offsets.magic, offsets.magic + 6) === 'ustar\0'
  const prefix = isUstar ? textAt(block, offsets.prefix, 155) : ''
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    size: numberAt(block, offsets.size, 12),
    type: flag === '\0' || flag === '7' ? '0' : flag,
    isMapContinued: block[offsets.isMapContinued] === 1,
  }
}

export function isZeroBlock(block: Buffer): boolean {
  return block[0] === 0 && block.every((byte) => byte === 0)
}

/** The records of a pax header, `LENGTH KEY=VALUE\n` each; undefined where they are not well formed. */
export function parsePaxRecords(bytes: Buffer): ReadonlyMap<string, string> | undefined {
  const records = new Map<string, string>()
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at)
    const digits = space < 0 ? '' : bytes.toString('latin1', at, space)
    const end = at + Number(digits)
    const equals = bytes.indexOf(0x3d, space)
    const isWhole = /^\d{1,9}$/.test(digits) && end <= bytes.length && equals > space && equals < end
    if (!isWhole || bytes[end - 1] !== 0x0a) return undefined
    records.set(bytes.toString('utf8', space + 1, equals), bytes.toString('utf8', equals + 1, end - 1))
    at = end
  }
  return records
}

/** Unsigned, or signed as some old programs summed. The field itself counts as spaces. */
function hasChecksum(block: Buffer): boolean {
  const expected = numberAt(block, offsets.checksum, 8)
  const spaces = 8 * 0x20
  let unsigned = spaces
  let high = 0
  for (let index = 0; index < tarBlockBytes; index += 1) {
    if (index === offsets.checksum) index += 8
    const byte = block[index] ?? 0
    unsigned += byte
    if (byte > 127) high += 1
  }
  return expected === unsigned || expected === unsigned - high * 256
}

/** Text up to the first NUL. */
function textAt(block: Buffer, offset: number, length: number): string {
  const end = block.indexOf(0, offset)
  return block.toString('utf8', offset, end < 0 || end > offset + length ? offset + length : end)
}

/** Octal digits, or GNU's two's complement in base 256 where the first bit is set. */
function numberAt(block: Buffer, offset: number, length: number): number {
  const first = block[offset] ?? 0
  if ((first & 0x80) === 0) {
    const text = block.toString('latin1', offset, offset + length).replaceAll(/^ +|[ \0]+$/g, '')
    if (text === '') return 0
    return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN
  }
  const isNegative = (first & 0x40) !== 0
  let value = isNegative ? -1n : BigInt(first & 0x3f)
  if (isNegative) value = value * 64n + BigInt(first & 0x3f)
  for (const byte of block.subarray(offset + 1, offset + length)) value = value * 256n + BigInt(byte)
  return Number(value)
}
