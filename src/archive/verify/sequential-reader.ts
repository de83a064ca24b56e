/** A volume from its first byte to its last. What the disk does not give back is read as zeros, and told. */
import { KnownError } from '../../errors/known-error.ts'
import type { ReadVolumes } from '../read/read-volumes.ts'

const blockBytes = 512 * 1024
/** Where a block cannot be read, it is read again in these, so that no more is lost than must be. */
const sectorBytes = 4096

interface ReadBlock {
  readonly bytes: Uint8Array
  /** Ranges of the file. */
  readonly unreadable: readonly { readonly start: number; readonly end: number }[]
}

interface SequentialOptions {
  /** Of the file, in bytes. */
  readonly size: number
  readonly onUnreadable: (range: { readonly start: number; readonly end: number }) => void
  readonly onBytes: (bytes: number) => void
}

export class SequentialReader {
  readonly #files: ReadVolumes
  readonly #volume: number
  readonly #options: SequentialOptions
  #block: Uint8Array = new Uint8Array()
  #used = 0
  /** Where the next block begins. */
  #position = 0
  #ahead: Promise<ReadBlock> | undefined

  constructor(files: ReadVolumes, volume: number, options: SequentialOptions) {
    this.#files = files
    this.#volume = volume
    this.#options = options
  }

  /** Gives the next `length` bytes to `consume`, in pieces; fewer where the file ends before. */
  async read(length: number, consume: (bytes: Uint8Array) => void): Promise<void> {
    for (let left = length; left > 0; ) {
      if (this.#used === this.#block.byteLength && !(await this.#advance())) return
      const part = this.#block.subarray(this.#used, this.#used + left)
      this.#used += part.byteLength
      left -= part.byteLength
      consume(part)
    }
  }

  /** The next `length` bytes in one; fewer where the file ends before. */
  async take(length: number): Promise<Buffer> {
    const parts: Uint8Array[] = []
    await this.read(length, (part) => parts.push(part))
    return Buffer.concat(parts)
  }

  async close(): Promise<void> {
    await this.#ahead
  }

  async #advance(): Promise<boolean> {
    const block = await (this.#ahead ?? this.#readBlock(this.#position))
    if (block.bytes.byteLength === 0) return false
    for (const range of block.unreadable) this.#options.onUnreadable(range)
    this.#options.onBytes(block.bytes.byteLength)
    this.#position += block.bytes.byteLength
    this.#ahead = this.#readBlock(this.#position)
    this.#block = block.bytes
    this.#used = 0
    return true
  }

  async #readBlock(offset: number): Promise<ReadBlock> {
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(blockBytes, this.#options.size - offset)))
    if (bytes.byteLength === 0 || (await this.#fill(offset, bytes))) return { bytes, unreadable: [] }
    const unreadable: { start: number; end: number }[] = []
    for (let start = 0; start < bytes.byteLength; start += sectorBytes) {
      const sector = bytes.subarray(start, start + sectorBytes)
      if (await this.#fill(offset + start, sector)) continue
      sector.fill(0)
      unreadable.push({ start: offset + start, end: offset + start + sector.byteLength })
    }
    return { bytes, unreadable }
  }

  async #fill(offset: number, bytes: Uint8Array): Promise<boolean> {
    try {
      await this.#files.read({ volume: this.#volume, offset }, bytes)
      return true
    } catch (error) {
      // The file became shorter, or the disk gives nothing: whatever lies there is damaged.
      if (error instanceof KnownError) return false
      throw error
    }
  }
}
