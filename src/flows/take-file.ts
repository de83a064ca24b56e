/** A file out of an archive or a registry, back onto a disk: proven before it has its name. */
import { createReadStream } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { checkFreeSpace } from '../host/free-space.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { algorithmOf, type Digest, hasherFor } from '../oci/digest.ts'
import { repositoryName } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import { writeStaged } from '../store/staged-write.ts'
import type { FileContent } from './carried-files.ts'

export interface TakeOptions {
  /** Replace a file that is there and another one. */
  readonly force: boolean
  readonly signal: AbortSignal
  readonly onBytes?: (bytes: number) => void
}

const unwritableCodes = ['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR', 'ENAMETOOLONG']

/**
 * Writes the file to `path`, unless it is there already. Where that fails, or is interrupted, nothing is left.
 *
 * @throws KnownError FILE_EXISTS, FILE_UNWRITABLE, DISK_FULL, BLOB_DIGEST_MISMATCH, BLOB_SIZE_MISMATCH, and what the source throws
 */
export async function takeFile(
  { source, repository, layer }: FileContent,
  path: string,
  { force, signal, onBytes }: TakeOptions,
): Promise<'written' | 'present'> {
  if (await isThere(path, layer)) return 'present'
  await refuseOther(path, force)
  await checkFreeSpace([{ path: dirname(path), neededBytes: layer.size, what: 'the file' }])
  await writeStaged(path, async (file) => {
    const bytes = source.fetchBlob(repository, layer, { signal })
    for await (const chunk of verified(bytes, layer, repositoryName(repository))) {
      signal.throwIfAborted()
      // Not `write`, which may store a part and say so: on a full disk it does.
      await file.writeFile(chunk)
      onBytes?.(chunk.byteLength)
    }
    await file.sync()
  }).catch((error: unknown) => {
    throw hasSystemCode(error, ...unwritableCodes) ? unwritable(path, error) : error
  })
  return 'written'
}

/** True where this very file is there. */
async function isThere(path: string, { digest, size }: Descriptor): Promise<boolean> {
  try {
    const status = await stat(path)
    if (!status.isFile() || status.size !== size) return false
    const hash = hasherFor(algorithmOf(digest))
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) hash.update(chunk as Uint8Array)
    const actual: Digest = `${algorithmOf(digest)}:${hash.digest('hex')}`
    return actual === digest
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

/** @throws KnownError FILE_EXISTS */
async function refuseOther(path: string, force: boolean): Promise<void> {
  try {
    // A link that leads nowhere is in the way, too.
    const status = await lstat(path)
    if (force && !status.isDirectory()) return
    const what = status.isDirectory() ? 'a directory' : 'another file'
    throw new KnownError('FILE_EXISTS', `${path} is there already, and is ${what}`, { details: { path } })
  } catch (error) {
    if (!hasSystemCode(error, 'ENOENT', 'ENOTDIR')) throw error
  }
}

function unwritable(path: string, cause: NodeJS.ErrnoException): KnownError {
  return new KnownError('FILE_UNWRITABLE', `${path} cannot be written: ${cause.message}`, { details: { path }, cause })
}
