/**
 * Says in the progress file what is written, and from time to time brings the volumes to the disk and says that too.
 *
 * Flushing goes on beside the writing: what is flushed early need not be waited for at the end, and only what is not
 * flushed has to be read again after a crash.
 */
import type { Digest } from '../../oci/digest.ts'
import type { ProgressFile } from './write-progress.ts'
import type { WrittenEntry } from './written-entries.ts'
import type { WrittenVolumes } from './written-volumes.ts'

/** What a small entry counts as: reading many of them again takes its time too. */
const bytesOfSmall = 64 * 1024

interface ClaimOptions {
  /** How many `written` lines earlier runs put down. */
  readonly count: number
  /** The volumes of those among them that were never flushed. */
  readonly dirty: Iterable<number>
  readonly flushEveryBytes: number
}

export class WrittenClaims {
  readonly #volumes: WrittenVolumes
  readonly #progress: ProgressFile
  /** Volumes with bytes that may not be on the disk. */
  readonly #dirty: Set<number>
  readonly #flushEveryBytes: number
  #count: number
  #unflushedBytes = 0
  #flushing: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  constructor(volumes: WrittenVolumes, progress: ProgressFile, options: ClaimOptions) {
    this.#volumes = volumes
    this.#progress = progress
    this.#flushEveryBytes = options.flushEveryBytes
    this.#count = options.count
    this.#dirty = new Set(options.dirty)
  }

  /** An entry is in its place, whole and proven. */
  async written({ digest, size, extraSums, segments }: WrittenEntry): Promise<void> {
    if (this.#failure) throw this.#failure.error
    if (!digest) return
    for (const { volume } of segments) this.#dirty.add(volume)
    this.#count += 1
    this.#unflushedBytes += Math.max(size, bytesOfSmall)
    await this.#progress.append({ written: digest, ...(extraSums && { sums: [...extraSums] }) })
    if (this.#unflushedBytes >= this.#flushEveryBytes) this.#flushing ??= this.#flush()
  }

  /** An entry is in its place up to `offset`, not proven. 0: forget everything about it. */
  async reached(digest: Digest, offset: number): Promise<void> {
    await this.#progress.append({ reached: digest, offset })
  }

  /** A volume is on the disk, and nothing is going to change in it. */
  sealed(volume: number): void {
    this.#dirty.delete(volume)
  }

  /** Waits for a flush that is under way. */
  async settle(): Promise<void> {
    await this.#flushing
    if (this.#failure) throw this.#failure.error
  }

  /**
   * A failure is kept: after one, the kernel takes the pages for clean, and flushing again would prove nothing
   * (fsync(2), "BUGS" of the Linux page). The next run hashes what was not flushed.
   */
  async #flush(): Promise<void> {
    const volumes = [...this.#dirty]
    const count = this.#count
    this.#dirty.clear()
    this.#unflushedBytes = 0
    try {
      for (const volume of volumes) await this.#volumes.flush(volume)
      await this.#progress.append({ flushed: count })
      await this.#progress.flush()
    } catch (error) {
      this.#failure = { error }
    } finally {
      this.#flushing = undefined
    }
  }
}
