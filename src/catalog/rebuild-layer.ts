/** Layers of a rebuilt catalog, packed into files that are named after their digest. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { stableGzip } from '../archive/tar/stable-gzip.ts'
import { type TarEntry, tarFile, writeTar } from '../archive/tar/ustar.ts'
import { hasSystemCode } from '../errors/known-error.ts'
import type { FetchBlobOptions } from '../oci/content.ts'
import { type Digest, digestOf, hexOf } from '../oci/digest.ts'
import { diskError } from '../store/disk.ts'
import { compareText } from './fbc-write.ts'
import { foldersAbove } from './rebuild-content.ts'

export interface PackedLayer {
  readonly digest: Digest
  /** Of the tar (OCI image-spec config.md, `rootfs.diff_ids`). */
  readonly diffId: Digest
  /** In bytes, packed. */
  readonly size: number
}

/** Folders that every user may write to: a layer that names them must say so again. */
const sharedFolders = ['tmp', 'var/tmp']

/**
 * Packs `entries`, the same into the same bytes on every machine.
 *
 * @throws KnownError DISK_FULL
 */
export async function packLayer(
  entries: readonly TarEntry[],
  { directory, signal }: { readonly directory: string; readonly signal: AbortSignal },
): Promise<PackedLayer> {
  const uncompressed = createHash('sha256')
  const compressed = createHash('sha256')
  let size = 0
  const observed = function* () {
    for (const chunk of writeTar(entries)) {
      uncompressed.update(chunk)
      yield chunk
    }
  }
  const digest = await placeBlob(directory, async (file) => {
    for (const chunk of stableGzip(observed())) {
      signal.throwIfAborted()
      compressed.update(chunk)
      size += chunk.byteLength
      await file.writeFile(chunk)
    }
    return `sha256:${compressed.digest('hex')}`
  })
  return { digest, diffId: `sha256:${uncompressed.digest('hex')}`, size }
}

/**
 * What a layer holds that makes `paths` of lower layers disappear (OCI image-spec layer.md, "Whiteouts").
 *
 * Each folder above them is in it with its mode: a program that unpacks each layer for itself would else make up one, and /tmp
 * would belong to root alone.
 */
export function whiteoutEntries(paths: Iterable<string>): TarEntry[] {
  const gone = [...paths].map((path) => path.replace(/^\/+|\/+$/g, ''))
  const folders = new Set(gone.flatMap(foldersAbove))
  const directories = [...folders].map(
    (name): TarEntry => ({ name: `${name}/`, type: 'directory', mode: sharedFolders.includes(name) ? 0o1777 : 0o755 }),
  )
  const whiteouts = gone.map((path) => tarFile(path.replace(/[^/]*$/, '.wh.$&'), ''))
  return [...directories, ...whiteouts].sort((a, b) => compareText(a.name, b.name))
}

/** Keeps bytes that are at hand beside the layers. */
export function writeBlob(directory: string, bytes: Uint8Array): Promise<Digest> {
  return placeBlob(directory, async (file) => {
    await file.writeFile(bytes)
    return digestOf(bytes)
  })
}

/** Bytes of a blob that was kept. They are hashed by whoever reads them. */
export function openBlob(directory: string, digest: Digest) {
  return ({ offset = 0 }: FetchBlobOptions): AsyncIterable<Uint8Array> =>
    createReadStream(blobPath(directory, digest), { start: offset, highWaterMark: 256 * 1024 })
}

/** True where a blob is there, and its bytes are those that it is named after: a disk can return others than were written. */
export async function isIntact(directory: string, digest: Digest): Promise<boolean> {
  const hasher = createHash('sha256')
  try {
    for await (const chunk of openBlob(directory, digest)({})) hasher.update(chunk)
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'EIO')) return false
    throw error
  }
  return `sha256:${hasher.digest('hex')}` === digest
}

function blobPath(directory: string, digest: Digest): string {
  return join(directory, 'blobs', hexOf(digest))
}

/** A blob has its name only once all of it is on the disk. */
async function placeBlob(directory: string, write: (file: FileHandle) => Promise<Digest>): Promise<Digest> {
  const path = join(directory, 'blob.new')
  try {
    await mkdir(join(directory, 'blobs'), { recursive: true })
    const file = await open(path, 'w')
    try {
      const digest = await write(file)
      await file.datasync()
      await rename(path, blobPath(directory, digest))
      return digest
    } finally {
      await file.close()
    }
  } catch (error) {
    await rm(path, { force: true })
    throw diskError(error, path)
  }
}
