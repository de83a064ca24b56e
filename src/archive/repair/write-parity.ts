/** Makes the parity volumes of an archive that is complete. */
import { type FileHandle, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { parsedJson } from '../../errors/parsed-json.ts'
import { hasherFor } from '../../oci/digest.ts'
import { diskError } from '../../store/disk.ts'
import { sizes } from '../format/format.ts'
import { EndRecord, VolumeRecord } from '../format/records.ts'
import { partialSuffix } from '../format/volume-names.ts'
import { openBlocks, readBlock, writeBlock } from './block-file.ts'
import { type ParityPlaces, type ParityRecord, parityHeaders, parityPlaces, renderParity } from './parity.ts'
import { archiveFiles, parityName } from './parity-names.ts'
import { bytesOf, readRows } from './read-rows.ts'
import { addToParity, maxBlocks } from './reed-solomon.ts'

export interface ParityOptions {
  readonly signal: AbortSignal
  /** Called with the bytes of the volumes that were read since the last call. */
  readonly onBytes?: (bytes: number) => void
}

export interface WrittenParity {
  /** Names of the parity volumes. */
  readonly files: readonly string[]
  readonly bytes: number
}

const blockBytes = 1024 * 1024

/**
 * Writes `count` parity volumes beside the volumes of the archive `stem`, so that any `count` of all these files may be
 * lost; of more than 255 files, any `count` in each of several groups. The same volumes give the same bytes. What is there of
 * older parity volumes is replaced.
 *
 * The volumes are taken as they are: verify them before.
 *
 * @throws KnownError ARCHIVE_INCOMPLETE where a volume is missing, DISK_FULL, FILE_UNREADABLE
 */
export async function writeParity(
  directory: string,
  stem: string,
  count: number,
  options: ParityOptions,
): Promise<WrittenParity> {
  const { parity: former } = await archiveFiles(directory, stem)
  const opened = await openVolumes(directory, stem)
  try {
    const records = await describeGroups(opened, stem, count)
    const files: string[] = []
    let bytes = 0
    for (const group of records) {
      const [first] = group
      if (!first) continue
      const members = opened.filter((_, index) => index % first.groups === first.group - 1)
      await new ParityWriter(directory, group).write(members, options)
      files.push(...group.map(numberedName))
      bytes += parityPlaces(first).fileBytes * group.length
    }
    for (const file of former) if (!files.includes(file)) await rm(join(directory, file))
    return { files, bytes }
  } finally {
    await Promise.all(opened.map(({ file }) => file.close()))
  }
}

interface OpenVolume {
  readonly volume: number
  readonly file: FileHandle
  readonly size: number
}

/** All volumes from the first to that with the end record. */
async function openVolumes(directory: string, stem: string): Promise<OpenVolume[]> {
  const { volumes } = await archiveFiles(directory, stem)
  const opened: OpenVolume[] = []
  try {
    for (const [volume, name] of volumes) {
      const file = await openBlocks(join(directory, name), 'read')
      if (file) opened.push({ volume, file, size: (await file.stat()).size })
    }
    const missing = opened.findIndex(({ volume }, index) => volume !== index + 1)
    const last = opened.at(-1)
    if (!last || missing >= 0) throw incomplete(directory, stem, missing + 1)
    const end = await readEnd(last)
    if (end?.volumes !== opened.length) throw incomplete(directory, stem, opened.length + 1)
    return opened
  } catch (error) {
    await Promise.all(opened.map(({ file }) => file.close()))
    throw error
  }
}

function incomplete(directory: string, stem: string, volume: number): KnownError {
  return new KnownError('ARCHIVE_INCOMPLETE', `Volume ${Math.max(1, volume)} of ${stem} is not in ${directory}`, {
    details: { archive: stem, volume: Math.max(1, volume) },
    hint: 'Parity is made of a complete and sound archive. Put every volume of it into the directory, and run sallyport archive verify.',
  })
}

/** The end record is the last entry of the last volume. */
async function readEnd({ file, size }: OpenVolume): Promise<EndRecord | undefined> {
  const buffer = new Uint8Array(sizes.endRecord)
  return EndRecord.safeParse(parsedJson(await readBlock(file, buffer, size - sizes.tarEnd - sizes.endRecord))).data
}

/** The records of the parity volumes, by group. */
async function describeGroups(
  volumes: readonly OpenVolume[],
  stem: string,
  count: number,
): Promise<readonly (readonly ParityRecord[])[]> {
  const [first] = volumes
  const record = first && VolumeRecord.safeParse(parsedJson(await readBlock(first.file, new Uint8Array(512), 512))).data
  if (!record) throw new KnownError('ARCHIVE_INVALID', `Volume 1 of ${stem} does not begin as a volume does`)
  const groups = Math.ceil(volumes.length / (maxBlocks - count))
  return Array.from({ length: groups }, (_, group) =>
    Array.from({ length: count }, (_, parity) => ({
      format: 'sallyport-parity',
      version: 1,
      id: record.id,
      stem,
      group: group + 1,
      groups,
      parity,
      count,
      blockBytes,
      volumes: volumes.filter((_, index) => index % groups === group).map(({ volume, size }) => ({ volume, size })),
    })),
  )
}

function numberedName({ stem, group, count, parity }: ParityRecord): string {
  return parityName(stem, (group - 1) * count + parity + 1)
}

/** One parity volume that is being written. */
interface Output {
  readonly record: ParityRecord
  readonly path: string
  readonly file: FileHandle
  readonly sum: Uint32Array
  /** Of all checksums written so far. */
  readonly sums: ReturnType<typeof hasherFor>
}

/** Writes the parity volumes of one group together, in one pass over the volumes. */
class ParityWriter {
  readonly #directory: string
  readonly #records: readonly ParityRecord[]
  readonly #outputs: Output[] = []

  constructor(directory: string, records: readonly ParityRecord[]) {
    this.#directory = directory
    this.#records = records
  }

  /** @throws KnownError DISK_FULL */
  async write(volumes: readonly OpenVolume[], options: ParityOptions): Promise<void> {
    try {
      const [record] = this.#records
      if (!record) return
      const places = parityPlaces(record)
      for (const each of this.#records) await this.#create(each)
      await this.#writeRows(volumes, places, options)
      for (const output of this.#outputs) await finish(output, places)
    } catch (error) {
      for (const { path } of this.#outputs) await rm(path, { force: true })
      throw diskError(error, this.#directory)
    } finally {
      await Promise.all(this.#outputs.map(({ file }) => file.close()))
    }
    for (const { path } of this.#outputs) await rename(path, path.slice(0, -partialSuffix.length))
  }

  async #create(record: ParityRecord): Promise<void> {
    const path = join(this.#directory, `${numberedName(record)}${partialSuffix}`)
    await rm(path, { force: true })
    const file = await openBlocks(path, 'create')
    if (!file) return
    this.#outputs.push({ record, path, file, sum: new Uint32Array(blockBytes / 4), sums: hasherFor('sha256') })
  }

  async #writeRows(
    volumes: readonly OpenVolume[],
    places: ParityPlaces,
    { signal, onBytes }: ParityOptions,
  ): Promise<void> {
    const sums = new Map(this.#outputs.map(({ record, sum }) => [record.parity, sum]))
    const checksums = Buffer.alloc(places.rowSumBytes)
    for await (const block of readRows(volumes, { from: 0, rows: places.rows, blockBytes })) {
      signal.throwIfAborted()
      const { row, column, expected, bytes, words } = block
      if (bytes.byteLength < expected) throw changed(volumes[column], row * blockBytes + bytes.byteLength)
      if (column === 0) for (const sum of sums.values()) sum.fill(0)
      addToParity(sums, column, words)
      checksumInto(checksums, column, bytes)
      onBytes?.(bytes.byteLength)
      if (column < volumes.length - 1) continue
      for (const output of this.#outputs) await writeRow(output, { row, checksums, places })
    }
  }
}

function changed(volume: OpenVolume | undefined, offset: number): KnownError {
  return new KnownError('FILE_UNREADABLE', `Volume ${volume?.volume} cannot be read at byte ${offset}`, {
    details: { volume: volume?.volume, offset },
  })
}

/** Zeros for a block without bytes. */
function checksumInto(checksums: Buffer, column: number, bytes: Uint8Array): void {
  const place = checksums.subarray(32 * column, 32 * (column + 1))
  if (bytes.byteLength === 0) place.fill(0)
  else hasherFor('sha256').update(bytes).digest().copy(place)
}

async function writeRow(
  { file, sum, sums, record }: Output,
  { row, checksums, places }: { row: number; checksums: Buffer; places: ParityPlaces },
): Promise<void> {
  const start = row * blockBytes
  const block = bytesOf(sum).subarray(0, Math.min(blockBytes, places.data.size - start))
  checksumInto(checksums, record.volumes.length, block)
  sums.update(checksums)
  await writeBlock(file, block, places.data.offset + start)
  await writeBlock(file, checksums, places.sums.offset + row * places.rowSumBytes)
}

async function finish({ record, file, sums }: Output, places: ParityPlaces): Promise<void> {
  const { bytes, check } = renderParity(record)
  await writeBlock(file, bytes, places.record.offset)
  await writeBlock(file, check(sums.digest('hex')), places.check.offset)
  for (const header of parityHeaders(places)) await writeBlock(file, header.bytes, header.offset)
  await file.truncate(places.fileBytes)
  await file.sync()
}
