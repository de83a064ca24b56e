/** Mends rows of blocks: the same block of every volume of a group, and of its parity volumes. */
import { type FileHandle, rm } from 'node:fs/promises'
import { hasherFor } from '../../oci/digest.ts'
import { openBlocks, readBlock, writeBlock } from './block-file.ts'
import type { ParityFile } from './read-parity.ts'
import { bytesOf, readRows, wordsOf } from './read-rows.ts'
import { addToParity, planRebuilding, type Rebuilding, rebuild } from './reed-solomon.ts'

/** A volume that is looked at, and perhaps written to. */
export interface Patient {
  readonly volume: number
  /** Bytes that it should have. */
  readonly size: number
  readonly path: string
  readonly wasMissing: boolean
  readonly file: FileHandle | undefined
  /** Opened when there is something to write. */
  output: FileHandle | undefined
  rebuiltBytes: number
  lostBytes: number
}

/**
 * Of a volume that is being made again. Not `.partial`: that stands for an archive which the other side has not finished.
 */
export const rebuildingSuffix = '.rebuilding'

interface Row {
  readonly row: number
  /** Of the block of every volume, then of the parity block. */
  readonly checksums: Buffer
  /** Columns whose block is damaged. */
  readonly lost: number[]
  /** Parity blocks that are as they should be. */
  readonly available: readonly ParityFile[]
}

/** All rows of a group, one after the other. A row without damage is read once; one with damage again, from the cache. */
export class RowRepair {
  readonly #patients: readonly Patient[]
  readonly #parity: readonly ParityFile[]
  readonly #blockBytes: number
  readonly #rows: number
  readonly #damagedParity = new Set<string>()
  /** Blocks of memory, used again in every row. */
  readonly #memory = new Map<string, Uint8Array>()
  readonly #plans = new Map<string, Rebuilding | undefined>()

  /** @param parity of the same group; at least one */
  constructor(patients: readonly Patient[], parity: readonly ParityFile[]) {
    this.#patients = patients
    this.#parity = parity
    this.#blockBytes = parity[0]?.record.blockBytes ?? 0
    this.#rows = parity[0]?.places.rows ?? 0
  }

  /** Names of parity volumes in which a block was not as it should be. */
  get damagedParity(): readonly string[] {
    return [...this.#damagedParity]
  }

  async run({ signal, onBytes }: { signal: AbortSignal; onBytes?: (bytes: number) => void }): Promise<void> {
    const options = { from: 0, rows: this.#rows, blockBytes: this.#blockBytes }
    let row: Row | undefined
    for await (const block of readRows(this.#patients, options)) {
      signal.throwIfAborted()
      row = row?.row === block.row ? row : await this.#begin(block.row)
      const isSound = isProven(block.bytes, block.expected, checksumAt(row.checksums, block.column))
      if (!isSound) row.lost.push(block.column)
      onBytes?.(block.bytes.byteLength)
      if (block.column === this.#patients.length - 1 && row.lost.length > 0) await this.#mend(row)
    }
  }

  async #begin(row: number): Promise<Row> {
    const available: ParityFile[] = []
    let checksums = Buffer.alloc(0)
    for (const parity of this.#parity) {
      const { file, places, name } = parity
      checksums = Buffer.alloc(places.rowSumBytes)
      await readBlock(file, checksums, places.sums.offset + row * places.rowSumBytes)
      const bytes = await this.#readParity(parity, row, 'block')
      const expected = Math.min(this.#blockBytes, places.data.size - row * this.#blockBytes)
      if (isProven(bytes, expected, checksumAt(checksums, this.#patients.length))) available.push(parity)
      else this.#damagedParity.add(name)
    }
    return { row, checksums, lost: [], available }
  }

  /** Writes what can be made again, and counts what cannot. */
  async #mend({ row, checksums, lost, available }: Row): Promise<void> {
    const plan = this.#plan(
      lost,
      available.map(({ record }) => record.parity),
    )
    const targets = plan ? await this.#rebuild(plan, { row, available }) : []
    for (const [index, column] of lost.entries()) {
      const patient = this.#patients[column]
      if (!patient) continue
      const expected = Math.min(this.#blockBytes, patient.size - row * this.#blockBytes)
      const bytes = targets[index]?.subarray(0, expected)
      if (bytes && isProven(bytes, expected, checksumAt(checksums, column))) {
        await writeTo(patient, bytes, row * this.#blockBytes)
        patient.rebuiltBytes += expected
      } else patient.lostBytes += expected
    }
  }

  #plan(lost: readonly number[], available: readonly number[]): Rebuilding | undefined {
    const key = `${lost} ${available}`
    if (!this.#plans.has(key)) this.#plans.set(key, planRebuilding(lost, available))
    return this.#plans.get(key)
  }

  async #rebuild(
    plan: Rebuilding,
    { row, available }: { row: number; available: readonly ParityFile[] },
  ): Promise<readonly Uint8Array[]> {
    const sums = new Map<number, Uint32Array>()
    for (const parity of available) {
      const { parity: index } = parity.record
      if (!plan.using.includes(index)) continue
      await this.#readParity(parity, row, `sum ${index}`)
      sums.set(index, wordsOf(this.#block(`sum ${index}`)))
    }
    for (const [column, { file, size }] of this.#patients.entries()) {
      const offset = row * this.#blockBytes
      if (plan.lost.includes(column) || !file || size <= offset) continue
      const block = this.#block('block')
      const bytes = await readBlock(file, block.subarray(0, Math.min(block.byteLength, size - offset)), offset)
      block.fill(0, bytes.byteLength)
      addToParity(sums, column, wordsOf(block))
    }
    const targets = plan.lost.map((column) => wordsOf(this.#block(`target ${column}`)))
    rebuild(plan, sums, targets)
    return targets.map(bytesOf)
  }

  /** Reads a parity block into the memory called `into`, with zeros after it. */
  async #readParity({ file, places }: ParityFile, row: number, into: string): Promise<Uint8Array> {
    const offset = row * this.#blockBytes
    const block = this.#block(into)
    const wanted = block.subarray(0, Math.min(block.byteLength, places.data.size - offset))
    const bytes = await readBlock(file, wanted, places.data.offset + offset)
    block.fill(0, bytes.byteLength)
    return bytes
  }

  #block(name: string): Uint8Array {
    const known = this.#memory.get(name) ?? new Uint8Array(this.#blockBytes)
    this.#memory.set(name, known)
    return known
  }
}

async function writeTo(patient: Patient, bytes: Uint8Array, offset: number): Promise<void> {
  const { path, wasMissing } = patient
  if (!patient.output && wasMissing) await rm(path + rebuildingSuffix, { force: true })
  patient.output ??= await openBlocks(wasMissing ? path + rebuildingSuffix : path, wasMissing ? 'create' : 'write')
  if (patient.output) await writeBlock(patient.output, bytes, offset)
}

function checksumAt(checksums: Buffer, column: number): Buffer {
  return checksums.subarray(32 * column, 32 * (column + 1))
}

/** A block without bytes has nothing to prove. */
function isProven(bytes: Uint8Array, expected: number, checksum: Buffer): boolean {
  if (bytes.byteLength !== expected) return false
  return expected === 0 || hasherFor('sha256').update(bytes).digest().equals(checksum)
}
