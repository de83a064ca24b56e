/**
 * The format of parity volumes, from which lost volumes of an archive are made again. `docs/archive-format.md` says it for
 * other readers.
 *
 * A parity volume is a plain tar of four entries. All of them are at fixed places, so that damage to a tar header does
 * not matter:
 *
 *     sallyport/parity.json    16384 bytes: which archive, which volumes with which sizes, which parity this is
 *     sallyport/parity.sums    for each row: sha256 of the block of each volume in order (zeros where it has none), then of the parity block
 *     sallyport/parity         for each row: the parity block
 *     sallyport/parity.sha256  of the first two entries, as sha256sum prints it
 *
 * A row is the same block of `blockBytes` of every volume; what a shorter volume lacks counts as zeros. As every block has
 * its checksum, damage is found and mended row by row: two volumes may be damaged and one parity volume mends both, unless
 * it is in the same row.
 */
import * as z from 'zod'
import { hasherFor } from '../../oci/digest.ts'
import { fixedJson, sizes } from '../format/format.ts'
import { VolumeRecord } from '../format/records.ts'
import { headerBytes, needsPax, padded } from '../format/tar-space.ts'
import { fileHeader } from '../tar/ustar.ts'
import { maxBlocks } from './reed-solomon.ts'

const parityFormat = 'sallyport-parity'
const recordBytes = 16_384
const sumBytes = 32

/** `sallyport/parity.json` */
export const ParityRecord = z.object({
  format: z.literal(parityFormat),
  version: z.literal(1),
  /** Of the archive. */
  id: VolumeRecord.shape.id,
  stem: z.string(),
  /** From 1. Volumes are dealt out in turn: group g of G holds the volumes g, g + G, g + 2G, … */
  group: z.number().int().positive(),
  groups: z.number().int().positive(),
  /** Which row of coefficients this is, from 0. */
  parity: z.number().int().nonnegative(),
  /** Parity volumes of each group. */
  count: z.number().int().positive(),
  blockBytes: z
    .number()
    .int()
    .positive()
    .multipleOf(512)
    .max(16 * 1024 * 1024),
  /** Of this group. */
  volumes: z
    .array(z.object({ volume: z.number().int().positive(), size: z.number().int().positive() }))
    .min(1)
    .max(maxBlocks - 1)
    .refine((volumes) => new Set(volumes.map(({ volume }) => volume)).size === volumes.length),
})
export type ParityRecord = z.infer<typeof ParityRecord>

interface Extent {
  readonly offset: number
  readonly size: number
}

/** Where everything is in a parity volume, in bytes. */
export interface ParityPlaces {
  readonly rows: number
  readonly record: Extent
  readonly sums: Extent
  /** Of the checksums of one row. */
  readonly rowSumBytes: number
  readonly data: Extent
  readonly check: Extent
  readonly fileBytes: number
}

const names = {
  record: 'sallyport/parity.json',
  sums: 'sallyport/parity.sums',
  data: 'sallyport/parity',
  check: 'sallyport/parity.sha256',
} as const

export function parityPlaces({ volumes, blockBytes }: Pick<ParityRecord, 'volumes' | 'blockBytes'>): ParityPlaces {
  const longest = Math.max(...volumes.map(({ size }) => size))
  const rows = Math.ceil(longest / blockBytes)
  const rowSumBytes = (volumes.length + 1) * sumBytes
  const record = extent(0, names.record, recordBytes)
  const sums = extent(endOf(record), names.sums, rows * rowSumBytes)
  const data = extent(endOf(sums), names.data, longest)
  const check = extent(endOf(data), names.check, checkText({ record: '', sums: '' }).length + 2 * 64)
  return { rows, record, sums, rowSumBytes, data, check, fileBytes: endOf(check) + sizes.tarEnd }
}

function extent(after: number, name: string, size: number): Extent {
  return { offset: after + headerBytes(name, size), size }
}

function endOf({ offset, size }: Extent): number {
  return offset + padded(size)
}

function checkText({ record, sums }: { record: string; sums: string }): string {
  return `${record}  ${names.record}\n${sums}  ${names.sums}\n`
}

/** The tar headers of a parity volume, with the offset of each. */
export function parityHeaders(places: ParityPlaces): { offset: number; bytes: Buffer }[] {
  return (['record', 'sums', 'data', 'check'] as const).map((part) => {
    const { offset, size } = places[part]
    const name = names[part]
    return { offset: offset - headerBytes(name, size), bytes: fileHeader(name, size, { pax: needsPax(name, size) }) }
  })
}

/** The first entry, and what the last has to say of it and of the sums. */
export function renderParity(record: ParityRecord): { bytes: Buffer; check: (sumsHex: string) => Buffer } {
  const bytes = fixedJson(record, recordBytes)
  const recordHex = sha256Hex(bytes)
  return { bytes, check: (sums) => Buffer.from(checkText({ record: recordHex, sums })) }
}

function sha256Hex(bytes: Uint8Array): string {
  return hasherFor('sha256').update(bytes).digest('hex')
}

/** What is at the beginning of every parity volume that this version reads. */
export const parityRecordPlace: Extent = extent(0, names.record, recordBytes)
