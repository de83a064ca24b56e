import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { randomId } from '../host/random.ts'
import { diskError } from './disk.ts'

/**
 * Gives a file its name only once `write` has put everything into it; where that fails, nothing is left.
 *
 * @param write flushes by itself what must outlast a power cut
 * @param mode of the file; default: what the umask leaves
 * @throws KnownError DISK_FULL, and what `write` throws
 */
export async function writeStaged(
  path: string,
  write: (file: FileHandle) => Promise<void>,
  mode?: number,
): Promise<void> {
  const staged = `${path}.${randomId()}.new`
  await mkdir(dirname(path), { recursive: true })
  try {
    const file = await open(staged, 'wx', mode)
    try {
      await write(file)
    } finally {
      await file.close()
    }
    await rename(staged, path)
  } catch (cause) {
    await rm(staged, { force: true })
    throw diskError(cause, path)
  }
}

/**
 * The same for content that is there, flushed: a reader sees the old or the new, also after a power cut.
 *
 * @throws KnownError DISK_FULL
 */
export function writeFlushed(path: string, content: string | Uint8Array, mode?: number): Promise<void> {
  const write = async (file: FileHandle) => {
    await file.writeFile(content)
    await file.sync()
  }
  return writeStaged(path, write, mode)
}
