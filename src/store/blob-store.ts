/**
 * Content under the name of its digest.
 *
 * Readers see a whole, proven blob or none: bytes land in a private file, are hashed on the way, flushed, compared, and
 * only then renamed. Any number of processes may do this on one directory, also with the same blob: the last rename wins
 * and brings the same bytes. A process that is killed leaves at most a file in `staging/`, which the next one removes.
 */
import { fstatSync, linkSync, openSync, readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import { isAlive, thisProcess } from '../host/processes.ts'
import { randomId } from '../host/random.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { algorithmOf, type Digest, isDigest } from '../oci/digest.ts'
import { verified } from '../oci/verified.ts'
import { withDirectory, writeFlushed } from './disk.ts'
import { absentAsUndefined, readText, removeFile, touch } from './files.ts'
import { HashThread } from './hash-thread.ts'
import { NameLog } from './name-log.ts'
import { type StorePaths, storePaths } from './paths.ts'
import { StagedFile } from './staged-file.ts'

const layoutVersion = 1
/** A staging file that nobody touched for so long has no owner, even one on another machine. */
const abandonedAfterMs = 24 * 60 * 60 * 1000

/** An open blob. Whoever asked for it closes `file`. */
export interface OpenBlob {
  readonly file: number
  readonly sizeBytes: number
}

export class BlobStore {
  readonly paths: StorePaths
  readonly names = new NameLog()
  readonly hashing = new HashThread()
  readonly clock: Clock
  readonly #owner: string

  private constructor(root: string, clock: Clock) {
    this.paths = storePaths(root)
    this.clock = clock
    const { host, pid } = thisProcess()
    this.#owner = `${host}~${pid}~`
  }

  /**
   * Opens the store at `root`, making it where there is none, and removes what dead processes left behind.
   *
   * @throws KnownError STORE_CORRUPT for a layout of another version, DISK_FULL
   */
  static async open(root: string, clock: Clock): Promise<BlobStore> {
    const store = new BlobStore(root, clock)
    const { paths, names } = store
    for (const directory of [root, paths.staging, paths.uploads, paths.trash, paths.repositories])
      names.makeDirectory(directory)
    await store.#checkLayout()
    store.#removeAbandoned()
    store.recoverTrash()
    return store
  }

  /** Size in bytes, or undefined where the store does not have it. */
  sizeOf(digest: Digest): number | undefined {
    return statSync(this.paths.blob(digest), { throwIfNoEntry: false })?.size
  }

  /** True where the blob is here; it is then safe from garbage collection for the grace period. */
  renew(digest: Digest): boolean {
    return touch(this.paths.blob(digest), this.clock.now())
  }

  open(digest: Digest): OpenBlob | undefined {
    return absentAsUndefined(() => {
      const file = openSync(this.paths.blob(digest), 'r')
      return { file, sizeBytes: fstatSync(file).size }
    })
  }

  /** A path for bytes on their way in, which says whose they are. */
  stagingPath(suffix = ''): string {
    return join(this.paths.staging, `${this.#owner}${randomId()}${suffix}`)
  }

  /**
   * Gives a staged file the name `digest`, if it is that. One that is there already is replaced: should the disk have
   * lost bytes of it, sending it again brings them back.
   *
   * @throws KnownError BLOB_DIGEST_MISMATCH, DISK_FULL. The staged file is then still there.
   */
  async commit(staged: StagedFile, digest: Digest): Promise<void> {
    await staged.verify(digest)
    await staged.suspend()
    const path = this.paths.blob(digest)
    withDirectory(path, this.names, () => renameSync(staged.path, path))
    this.names.changed(path)
  }

  /**
   * Stores `source` under its digest.
   *
   * @param origin names image and host in messages
   * @throws KnownError BLOB_SIZE_MISMATCH, BLOB_DIGEST_MISMATCH, DISK_FULL
   */
  async put(descriptor: Descriptor, source: AsyncIterable<Uint8Array>, origin: string): Promise<void> {
    if (this.renew(descriptor.digest)) return
    const staged = StagedFile.create(this.stagingPath(), this, algorithmOf(descriptor.digest))
    try {
      for await (const chunk of verified(source, descriptor, origin)) await staged.write(chunk)
      await this.commit(staged, descriptor.digest)
    } catch (error) {
      await staged.discard()
      throw error
    }
  }

  /**
   * Stores a manifest whose digest was computed from these very bytes.
   *
   * The bytes lie in `staging/` until `record` is done: garbage collection looks there first and into the repositories
   * after that, so it sees a manifest on its way in one place or the other, and leaves alone what it names.
   *
   * @param check called before anything but the staged bytes is there; what it throws ends the matter
   * @param record enters the manifest into its repository
   */
  async putManifestBytes(
    manifest: { readonly digest: Digest; readonly bytes: Uint8Array },
    check: () => void,
    record: () => Promise<void>,
  ): Promise<void> {
    const { digest, bytes } = manifest
    const staged = this.stagingPath('.manifest')
    await writeFlushed(staged, bytes, this.names)
    try {
      check()
      const path = this.paths.blob(digest)
      // Bytes that the disk lost come back with the next push, as with `commit`.
      if (hasOther(path, bytes)) removeFile(path)
      if (!this.renew(digest)) withDirectory(path, this.names, () => linkUnlessThere(staged, path))
      this.names.changed(path)
      await record()
    } finally {
      removeFile(staged)
    }
  }

  /** Replaces a small file at once and for good, except for its directory: see `NameLog`. */
  async replaceFile(path: string, text: string): Promise<void> {
    const staged = this.stagingPath()
    await writeFlushed(staged, Buffer.from(text), this.names)
    withDirectory(path, this.names, () => renameSync(staged, path))
    this.names.changed(path)
  }

  /** Moves a blob out of sight, to where `recoverTrash` finds it; undefined where somebody else did. */
  takeAway(digest: Digest): string | undefined {
    const path = this.paths.blob(digest)
    const trashed = join(this.paths.trash, `${digest}~${randomId()}`)
    return absentAsUndefined(() => {
      renameSync(path, trashed)
      this.names.changed(path)
      return trashed
    })
  }

  /** Puts back what a garbage collection that was killed had taken away and not judged. */
  recoverTrash(): void {
    for (const name of readdirSync(this.paths.trash)) {
      const [digest = ''] = name.split('~')
      const path = join(this.paths.trash, name)
      if (isDigest(digest)) absentAsUndefined(() => renameSync(path, this.paths.blob(digest)))
    }
  }

  /** Removes uploads that nobody wrote to for a day. */
  removeAbandonedUploads(isBusy: (id: string) => boolean = () => false): number {
    const { paths, clock } = this
    const abandoned = readdirSync(paths.uploads).filter((id) => {
      const changed = statSync(paths.upload(id), { throwIfNoEntry: false })?.mtimeMs ?? 0
      return clock.now() - changed > abandonedAfterMs && !isBusy(id)
    })
    return abandoned.filter((id) => removeFile(paths.upload(id))).length
  }

  async #checkLayout(): Promise<void> {
    const text = readText(this.paths.layout)
    if (text === undefined) {
      await this.replaceFile(this.paths.layout, `${JSON.stringify({ layout: layoutVersion })}\n`)
      return this.names.flush()
    }
    if (text.trim() === JSON.stringify({ layout: layoutVersion })) return
    throw new KnownError('STORE_CORRUPT', `${this.paths.layout} says ${text.trim()}; this version reads layout 1`, {
      hint: 'Use the version of sallyport that made this store, or name another directory with --root.',
    })
  }

  #removeAbandoned(): void {
    const { host } = thisProcess()
    for (const name of readdirSync(this.paths.staging)) {
      const [owner = '', pid = ''] = name.split('~')
      const path = join(this.paths.staging, name)
      const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
      const isOld = this.clock.now() - changed > abandonedAfterMs
      if (isOld || (owner === host && !isAlive(Number(pid)))) removeFile(path)
    }
  }
}

/** True for a file that is there and holds anything else. */
function hasOther(path: string, bytes: Uint8Array): boolean {
  return absentAsUndefined(() => readFileSync(path))?.equals(bytes) === false
}

function linkUnlessThere(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (!hasSystemCode(error, 'EEXIST')) throw error
  }
}
