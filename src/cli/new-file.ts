/** Files that a command makes for a person to keep: never over one that is there, unless that is asked for. */
import { access } from 'node:fs/promises'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { writeStaged } from '../store/staged-write.ts'

interface NewFile {
  readonly text: string
  /** Default: what the umask leaves. */
  readonly mode?: number
  readonly isForced: boolean
}

export async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** @throws KnownError FILE_EXISTS, FILE_UNWRITABLE, DISK_FULL */
export async function writeNewFile(path: string, { text, mode, isForced }: NewFile): Promise<void> {
  if (!isForced && (await isThere(path)))
    throw new KnownError('FILE_EXISTS', `${path} is there already`, {
      details: { file: path },
      hint: 'Name another place with --output, or replace what is there with --force.',
    })
  try {
    await writeStaged(path, async (file) => {
      if (mode !== undefined) await file.chmod(mode)
      await file.writeFile(text)
    })
  } catch (cause) {
    if (!hasSystemCode(cause, 'EACCES', 'EROFS', 'ENOTDIR', 'EISDIR', 'EPERM')) throw cause
    throw new KnownError('FILE_UNWRITABLE', `${path} cannot be written`, { details: { file: path }, cause })
  }
}
