/** Files read and written block by block at given places. */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'

/**
 * Opens a file for reading, or for reading and writing. A link is not followed: what comes in an archive must not lead
 * outside its directory.
 *
 * @returns undefined where there is no such file
 * @throws KnownError FILE_UNREADABLE, also for what is no file
 */
export async function openBlocks(path: string, access: 'read' | 'write' | 'create'): Promise<FileHandle | undefined> {
  const flags = { read: constants.O_RDONLY, write: constants.O_RDWR, create: constants.O_RDWR | constants.O_CREAT }
  try {
    const file = await open(path, flags[access] | constants.O_NOFOLLOW, 0o644)
    // For everybody, whatever the umask: who carries an archive is often somebody else than who wrote it.
    if (access === 'create') await file.chmod(0o644)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT')) return undefined
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new KnownError('FILE_UNREADABLE', `${path}: ${why}`, { details: { file: path }, cause })
  }
  throw new KnownError('FILE_UNREADABLE', `${path} is no file`, { details: { file: path } })
}

/**
 * Reads into `buffer` from `offset` on.
 *
 * @returns the part of the buffer that was filled: shorter where the file ends, or where the disk cannot be read, which
 * counts as damage like any other
 */
export async function readBlock(file: FileHandle, buffer: Uint8Array, offset: number): Promise<Uint8Array> {
  let filled = 0
  try {
    while (filled < buffer.byteLength) {
      const { bytesRead } = await file.read(buffer, filled, buffer.byteLength - filled, offset + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
  } catch (error) {
    if (!hasSystemCode(error, 'EIO', 'EBADMSG', 'EUCLEAN')) throw error
  }
  return buffer.subarray(0, filled)
}

/** @throws KnownError DISK_FULL */
export async function writeBlock(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  for (let written = 0; written < bytes.byteLength; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.byteLength - written, offset + written)
    written += bytesWritten
  }
}
