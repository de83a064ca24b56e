/** Opens the parity volumes of an archive, and tells which of them can be used. */
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { parsedJson } from '../../errors/parsed-json.ts'
import { hasherFor } from '../../oci/digest.ts'
import { openBlocks, readBlock } from './block-file.ts'
import { type ParityPlaces, ParityRecord, parityPlaces, parityRecordPlace, renderParity } from './parity.ts'
import { archiveFiles } from './parity-names.ts'

/** A parity volume whose record and checksums are proven. Its blocks are not: their checksums tell. */
export interface ParityFile {
  readonly name: string
  readonly file: FileHandle
  readonly record: ParityRecord
  readonly places: ParityPlaces
}

export interface OpenParity {
  /** At least one. */
  readonly usable: readonly ParityFile[]
  /** Names of parity volumes that are damaged or not of this archive. */
  readonly unusable: readonly string[]
}

/**
 * The caller closes what is usable.
 *
 * @throws KnownError ARCHIVE_INVALID where the parity volumes are of more than one archive, or contradict each other
 */
export async function openParity(directory: string, stem: string): Promise<OpenParity> {
  const { parity } = await archiveFiles(directory, stem)
  const usable: ParityFile[] = []
  const unusable: string[] = []
  try {
    for (const name of parity) {
      const opened = await openOne(directory, name, stem)
      if (opened) usable.push(opened)
      else unusable.push(name)
    }
    checkAgreement(directory, usable)
    return { usable, unusable }
  } catch (error) {
    await closeParity(usable)
    throw error
  }
}

export async function closeParity(files: readonly ParityFile[]): Promise<void> {
  await Promise.all(files.map(({ file }) => file.close()))
}

/** Undefined for what is damaged where it says what it is. */
async function openOne(directory: string, name: string, stem: string): Promise<ParityFile | undefined> {
  const file = await openBlocks(join(directory, name), 'read')
  if (!file) return undefined
  const record = await readRecord(file)
  if (record?.stem === stem) {
    const places = parityPlaces(record)
    // A record may claim only what its file has: else it could ask for work without end.
    const isWhole = (await file.stat()).size === places.fileBytes
    if (isWhole && (await isProven(file, record, places))) return { name, file, record, places }
  }
  await file.close()
  return undefined
}

async function readRecord(file: FileHandle): Promise<ParityRecord | undefined> {
  const { offset, size } = parityRecordPlace
  // The bytes are not kept: what is rendered again has to have the checksum that is in the file.
  return ParityRecord.safeParse(parsedJson(await readBlock(file, new Uint8Array(size), offset))).data
}

async function isProven(file: FileHandle, record: ParityRecord, { sums, check }: ParityPlaces): Promise<boolean> {
  const hasher = hasherFor('sha256')
  const buffer = new Uint8Array(1024 * 1024)
  for (let done = 0; done < sums.size; ) {
    const wanted = buffer.subarray(0, Math.min(buffer.byteLength, sums.size - done))
    const bytes = await readBlock(file, wanted, sums.offset + done)
    if (bytes.byteLength < wanted.byteLength) return false
    hasher.update(bytes)
    done += bytes.byteLength
  }
  const expected = renderParity(record).check(hasher.digest('hex'))
  return expected.equals(await readBlock(file, new Uint8Array(check.size), check.offset))
}

function checkAgreement(directory: string, files: readonly ParityFile[]): void {
  const claims = (record: ParityRecord) => JSON.stringify({ ...record, group: 0, parity: 0, volumes: [] })
  const shapes = new Set(files.map(({ record }) => claims(record)))
  const groups = Map.groupBy(files, ({ record }) => record.group)
  const isContradicting = [...groups.values()].some(
    (group) =>
      new Set(group.map(({ record }) => JSON.stringify(record.volumes))).size > 1 ||
      new Set(group.map(({ record }) => record.parity)).size < group.length,
  )
  if (shapes.size <= 1 && !isContradicting) return
  throw new KnownError('ARCHIVE_INVALID', `The parity volumes in ${directory} are not all of the same archive`, {
    details: { directory, files: files.map(({ name }) => name).join(' ') },
    hint: 'Remove those that do not belong here: sallyport/parity.json in each says what it is of.',
  })
}
