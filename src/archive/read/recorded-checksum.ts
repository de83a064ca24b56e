/** What the records of an archive say, also where they are damaged. */
import type * as z from 'zod'
import { fixedJson } from '../format/format.ts'
import { EndRecord, VolumeRecord } from '../format/records.ts'
import type { ArchiveSignature } from '../format/signature.ts'

/** Undefined unless it is, byte for byte, one that is written. */
export function readVolume(bytes: Uint8Array): VolumeRecord | undefined {
  return readExactly(VolumeRecord, bytes)
}

/** The checksum of the volume before, if it can be read. */
export function readPrevious(bytes: Uint8Array): string | undefined {
  const [, checksum] = /"previous":"([0-9a-f]{64})"/.exec(Buffer.from(bytes).toString('latin1')) ?? []
  return checksum
}

/** As much of the end record as can be read. */
export function readEnd(bytes: Uint8Array): Partial<Pick<EndRecord, 'checksum'>> & {
  readonly signature?: ArchiveSignature | undefined
} {
  const record = readExactly(EndRecord, bytes)
  if (record) return record
  const text = Buffer.from(bytes).toString('latin1')
  const [, checksum] = /"checksum":"([0-9a-f]{64})"/.exec(text) ?? []
  const [, key, value] = /"signature":\{"key":"([0-9a-f]+)","value":"([A-Za-z0-9+/=]+)"/.exec(text) ?? []
  const isSigned = key !== undefined && value !== undefined
  return { ...(checksum !== undefined && { checksum }), ...(isSigned && { signature: { key, value } }) }
}

/** A flipped bit changes a digit; other content changes nearly all of them. */
const fewDigits = 8

/** True where two checksums are the same but for a few digits. */
export function isNear(one: string, other: string): boolean {
  const differing = [...one].filter((digit, index) => digit !== other[index])
  return one.length === other.length && differing.length <= fewDigits
}

function readExactly<T extends object>(schema: z.ZodType<T>, bytes: Uint8Array): T | undefined {
  try {
    const { data } = schema.safeParse(JSON.parse(Buffer.from(bytes).toString('utf8')))
    return data && fixedJson(data, bytes.byteLength).equals(bytes) ? data : undefined
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined
    throw error
  }
}
