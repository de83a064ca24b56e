/** The volumes of an archive while they are mended: read as far as they are there, and written only where they differ. */
import { type FileHandle, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Place } from '../format/layout.ts'
import { volumeName } from '../format/volume-names.ts'
import { openBlocks, readBlock, writeBlock } from './block-file.ts'
import { rebuildingSuffix } from './repair-rows.ts'

interface MendedVolume {
  /** Undefined where there is no such file. */
  input: FileHandle | undefined
  output: FileHandle | undefined
  readonly wasMissing: boolean
  writtenBytes: number
}

export interface MendedFile {
  readonly volume: number
  /** Name of the file. */
  readonly file: string
  readonly wasMissing: boolean
  readonly writtenBytes: number
}

export class MendedVolumes {
  readonly #directory: string
  readonly #stem: string
  readonly #volumes = new Map<number, MendedVolume>()

  constructor(directory: string, stem: string) {
    this.#directory = directory
    this.#stem = stem
  }

  /** Those that were written to. */
  get mended(): readonly MendedFile[] {
    return [...this.#volumes]
      .filter(([, { output }]) => output !== undefined)
      .sort(([a], [b]) => a - b)
      .map(([volume, { wasMissing, writtenBytes }]) => {
        return { volume, file: volumeName(this.#stem, volume), wasMissing, writtenBytes }
      })
  }

  /** As many bytes as are there. */
  async read({ volume, offset }: Place, buffer: Uint8Array): Promise<Uint8Array> {
    const { input, output } = await this.#open(volume)
    const file = output ?? input
    return file ? readBlock(file, buffer, offset) : buffer.subarray(0, 0)
  }

  async write({ volume, offset }: Place, bytes: Uint8Array): Promise<void> {
    const entry = await this.#open(volume)
    const path = this.#path(volume)
    if (!entry.output && entry.wasMissing) await rm(path + rebuildingSuffix, { force: true })
    entry.output ??= await openBlocks(
      entry.wasMissing ? path + rebuildingSuffix : path,
      entry.wasMissing ? 'create' : 'write',
    )
    if (!entry.output) return
    await writeBlock(entry.output, bytes, offset)
    entry.writtenBytes += bytes.byteLength
  }

  /** Writes `bytes` unless they are there. */
  async ensure(place: Place, bytes: Uint8Array): Promise<void> {
    const there = await this.read(place, new Uint8Array(bytes.byteLength))
    if (!Buffer.from(there.buffer, there.byteOffset, there.byteLength).equals(bytes)) await this.write(place, bytes)
  }

  /** Gives a volume its size, with zeros from `contentEnd` on, and flushes what was written. */
  async finish(volume: number, { contentEnd, size }: { contentEnd: number; size: number }): Promise<void> {
    for (let offset = contentEnd; offset < size; offset += zeros.byteLength) {
      await this.ensure({ volume, offset }, zeros.subarray(0, Math.min(zeros.byteLength, size - offset)))
    }
    const entry = await this.#open(volume)
    const file = entry.output ?? entry.input
    if (file && (await file.stat()).size > size) {
      await this.write({ volume, offset: size - 1 }, zeros.subarray(0, 1))
      await entry.output?.truncate(size)
    }
    await entry.output?.sync()
  }

  /** Gives the volumes that were missing their names. */
  async publish(): Promise<void> {
    for (const [volume, { wasMissing, output }] of this.#volumes) {
      const path = this.#path(volume)
      if (wasMissing && output) await rename(path + rebuildingSuffix, path)
    }
  }

  async close(): Promise<void> {
    for (const [volume, { input, output, wasMissing }] of this.#volumes) {
      await input?.close()
      await output?.close()
      // Where it was published there is nothing any more.
      if (wasMissing) await rm(this.#path(volume) + rebuildingSuffix, { force: true })
    }
  }

  async #open(volume: number): Promise<MendedVolume> {
    const known = this.#volumes.get(volume)
    if (known) return known
    const input = await openBlocks(this.#path(volume), 'read')
    const entry: MendedVolume = { input, output: undefined, wasMissing: input === undefined, writtenBytes: 0 }
    this.#volumes.set(volume, entry)
    return entry
  }

  #path(volume: number): string {
    return join(this.#directory, volumeName(this.#stem, volume))
  }
}

const zeros = Buffer.alloc(64 * 1024)
