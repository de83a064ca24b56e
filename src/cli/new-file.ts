/** Files that a command makes for a person to keep: never over one that is there, unless that is asked for. */
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { isTaken } from '../store/presence.ts'
import { writeStaged } from '../store/staged-write.ts'

interface NewFile {
  readonly text: string
  /** Default: what the umask leaves. */
  readonly mode?: number
  readonly isForced: boolean
}

/**
 * Whether something has this name, be it a link that leads nowhere.
 *
 * @throws KnownError FILE_UNWRITABLE where nothing can have it
 */
export function isInTheWay(path: string): Promise<boolean> {
  return isTaken(path).catch((cause: unknown) => {
    throw unwritable(path, cause)
  })
}

/** @throws KnownError FILE_EXISTS, FILE_UNWRITABLE, DISK_FULL */
export async function writeNewFile(path: string, { text, mode, isForced }: NewFile): Promise<void> {
  if (!isForced && (await isInTheWay(path)))
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
    throw unwritable(path, cause)
  }
}

function unwritable(path: string, cause: unknown): unknown {
  if (!hasSystemCode(cause, 'EACCES', 'EROFS', 'ENOTDIR', 'EISDIR', 'EPERM', 'EEXIST', 'ELOOP', 'ENAMETOOLONG'))
    return cause
  return new KnownError('FILE_UNWRITABLE', `${path} cannot be written`, { details: { file: path }, cause })
}
