/**
 * Bytes on their way in: written in order, hashed as they arrive, and given their name only when they are proven.
 *
 * Chunks are gathered and written in batches while the next ones arrive, and long files are flushed as they grow, so
 * that the flush before the rename finds little left to do. A file that turns out to be long is hashed in a thread of its
 * own, from what is written of it (docs/adr/0008-large-uploads-in-a-worker.md).
 */
import { closeSync, createReadStream, fstatSync, ftruncateSync, openSync, writev, writevSync } from 'node:fs'
import { KnownError } from '../errors/known-error.ts'
import { algorithmOf, type Digest, type DigestAlgorithm, hasherFor } from '../oci/digest.ts'
import { diskError, flushData, withDirectory } from './disk.ts'
import { privateFile } from './file-modes.ts'
import { removeFile } from './files.ts'
import type { HashThread } from './hash-thread.ts'
import type { NameLog } from './name-log.ts'

/** One write call. Larger ones gain nothing and keep more memory busy. */
const batchBytes = 512 * 1024
/** More than this unwritten, and the sender has to wait. */
const maxPendingBytes = 2 * batchBytes
/** A file that outgrows this is flushed while it grows, so that the flush at its end is short. */
const flushEveryBytes = 256 * 1024 * 1024
/** A file that outgrows this is handed to the hash thread. Below it, asking another thread costs more than hashing. */
const hashHereBytes = 4 * 1024 * 1024

/** What files on their way in share; a `BlobStore` is one. */
interface Staging {
  readonly names: NameLog
  readonly hashing: HashThread
}

export class StagedFile {
  readonly path: string
  readonly #hashing: HashThread
  #file: number | undefined
  #hash: { readonly algorithm: DigestAlgorithm; readonly hasher: ReturnType<typeof hasherFor> } | undefined
  /** The algorithm with which the hash thread follows this file. */
  #followed: DigestAlgorithm | undefined
  #pending: Uint8Array[] = []
  #pendingBytes = 0
  /** Bytes in the file. */
  #written = 0
  #flushed = 0
  #writing: Promise<void> | undefined
  #flushing: Promise<void> | undefined
  #failure: unknown

  private constructor(path: string, hashing: HashThread) {
    this.path = path
    this.#hashing = hashing
  }

  /** @throws KnownError DISK_FULL */
  static create(path: string, { names, hashing }: Staging, algorithm: DigestAlgorithm = 'sha256'): StagedFile {
    const staged = new StagedFile(path, hashing)
    staged.#file = withDirectory(path, names, () => openSync(path, 'wx', privateFile))
    staged.#hash = { algorithm, hasher: hasherFor(algorithm) }
    return staged
  }

  /** Goes on with a file that another process, or this one before a restart, left. It is hashed again at the end. */
  static reopen(path: string, { hashing }: Staging): StagedFile {
    const staged = new StagedFile(path, hashing)
    staged.#file = openSync(path, 'r+')
    staged.#written = fstatSync(staged.#file).size
    return staged
  }

  /** Bytes accepted so far. */
  get size(): number {
    return this.#written + this.#pendingBytes
  }

  /** True after a write failed: what is in the file is good, and this object is not. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /**
   * Takes the next bytes. Where a promise is returned, wait for it before the next call.
   *
   * @throws KnownError DISK_FULL
   */
  write(chunk: Uint8Array): Promise<void> | undefined {
    if (this.#failure !== undefined) throw this.#failure
    this.#hash?.hasher.update(chunk)
    this.#pending.push(chunk)
    this.#pendingBytes += chunk.byteLength
    if (this.#pendingBytes < batchBytes) return undefined
    this.#writing ??= this.#writeBatches()
    return this.#pendingBytes < maxPendingBytes ? undefined : this.#writing
  }

  /** Waits until everything accepted is in the file (not yet on the disk). */
  async settle(): Promise<void> {
    await this.#writing
    if (this.#failure !== undefined) throw this.#failure
    if (this.#pendingBytes === 0) return
    try {
      while (this.#pendingBytes > 0) this.#wrote(writevSync(this.#open(), this.#pending, this.#written))
    } catch (error) {
      throw this.#fail(error)
    }
  }

  /** Cuts the file back to `size`; what follows is written from there. */
  async truncate(size: number): Promise<void> {
    await this.settle()
    ftruncateSync(this.#open(), size)
    this.#written = size
    this.#forgetHash()
  }

  /** Flushes, and gives the digest of everything written. */
  async prove(algorithm: DigestAlgorithm): Promise<Digest> {
    await this.settle()
    const [digest] = await Promise.all([this.#digest(algorithm), this.#flush()])
    return digest
  }

  /**
   * Flushes the file and checks that it is what `digest` says.
   *
   * @throws KnownError BLOB_DIGEST_MISMATCH, DISK_FULL
   */
  async verify(digest: Digest): Promise<void> {
    const actual = await this.prove(algorithmOf(digest))
    if (actual === digest) return
    throw new KnownError('BLOB_DIGEST_MISMATCH', `Expected ${digest}, received ${actual} (${this.#written} bytes)`, {
      details: { expected: digest, actual, size: this.#written },
    })
  }

  /** Gives the file handle back; the next write takes a new one. */
  async suspend(): Promise<void> {
    await this.#writing
    await this.#flushing
    if (this.#file === undefined) return
    const file = this.#file
    this.#file = undefined
    closeSync(file)
  }

  /** Removes the file. Never fails: it is called where something already did. */
  async discard(): Promise<void> {
    await this.suspend()
    this.#forgetHash()
    removeFile(this.path)
  }

  async #writeBatches(): Promise<void> {
    try {
      while (this.#pendingBytes >= batchBytes) {
        this.#wrote(await writeAt(this.#open(), this.#pending.slice(), this.#written))
        this.#flushEarly()
        this.#hashElsewhere()
      }
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#writing = undefined
    }
  }

  /** Takes what is written off the pending chunks; a write may be short. */
  #wrote(count: number): void {
    this.#written += count
    this.#pendingBytes -= count
    let rest = count
    let whole = 0
    for (const chunk of this.#pending) {
      if (chunk.byteLength > rest) break
      rest -= chunk.byteLength
      whole += 1
    }
    this.#pending.splice(0, whole)
    const [first] = this.#pending
    if (rest > 0 && first !== undefined) this.#pending[0] = first.subarray(rest)
  }

  #flushEarly(): void {
    if (this.#flushing !== undefined || this.#written - this.#flushed < flushEveryBytes) return
    this.#flushed = this.#written
    this.#flushing = flushData(this.#open())
      .catch((error: unknown) => void this.#fail(error))
      .finally(() => {
        this.#flushing = undefined
      })
  }

  /** Lets the hash thread take over a long file from its first byte on, and tells it how far it may go. */
  #hashElsewhere(): void {
    if (this.#hash !== undefined && this.#written > hashHereBytes) {
      this.#followed = this.#hash.algorithm
      this.#hash = undefined
    }
    if (this.#followed === undefined) return
    this.#hashing.advance({ path: this.path, size: this.#written, algorithm: this.#followed })
  }

  #forgetHash(): void {
    this.#hash = undefined
    if (this.#followed !== undefined) this.#hashing.forget(this.path)
    this.#followed = undefined
  }

  async #flush(): Promise<void> {
    await this.#flushing
    if (this.#failure !== undefined) throw this.#failure
    try {
      await flushData(this.#open())
    } catch (error) {
      throw this.#fail(error)
    }
  }

  async #digest(algorithm: DigestAlgorithm): Promise<Digest> {
    if (this.#hash?.algorithm === algorithm) return `${algorithm}:${this.#hash.hasher.copy().digest('hex')}`
    const digest = await this.#digestElsewhere(algorithm)
    if (digest !== undefined) return digest
    const hasher = hasherFor(algorithm)
    for await (const chunk of createReadStream(this.path, { highWaterMark: 256 * 1024 })) hasher.update(chunk)
    return `${algorithm}:${hasher.digest('hex')}`
  }

  async #digestElsewhere(algorithm: DigestAlgorithm): Promise<Digest | undefined> {
    if (this.#written <= hashHereBytes) return undefined
    this.#followed = undefined
    return this.#hashing.finish({ path: this.path, size: this.#written, algorithm })
  }

  #open(): number {
    this.#file ??= openSync(this.path, 'r+')
    return this.#file
  }

  /** What arrived but is not in the file is forgotten, so that the length of the file stays the truth. */
  #fail(error: unknown): unknown {
    this.#failure ??= diskError(error, this.path)
    this.#pending = []
    this.#pendingBytes = 0
    this.#forgetHash()
    return this.#failure
  }
}

function writeAt(file: number, chunks: Uint8Array[], position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(file, chunks, position, (error, count) => (error ? reject(error) : resolve(count)))
  })
}
