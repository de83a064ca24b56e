import { hasSystemCode, KnownError } from '../errors/known-error.ts'

const writes = new Set([
  'mkdir',
  'mkdtemp',
  'rename',
  'unlink',
  'rmdir',
  'symlink',
  'link',
  'ftruncate',
  'chmod',
  'copyfile',
])

/**
 * What the system refuses this user is no bug, wherever it comes from, nor is a path that leads through a file: a KnownError
 * FILE_UNREADABLE or FILE_UNWRITABLE instead of the error of the system. Everything else as it is.
 */
export function knownRefusal(error: unknown): unknown {
  if (!hasSystemCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR')) return error
  const { path, syscall = '', code } = error as NodeJS.ErrnoException
  if (path === undefined) return error
  const details = { details: { file: path }, cause: error }
  if (code === 'EROFS')
    return new KnownError('FILE_UNWRITABLE', `${path} is on a disk that cannot be written to`, details)
  if (code === 'ENOTDIR') {
    return new KnownError(
      writes.has(syscall) ? 'FILE_UNWRITABLE' : 'FILE_UNREADABLE',
      `A part of ${path} is a file, where a directory has to be`,
      { ...details, hint: 'Name another path, or move that file away.' },
    )
  }
  if (writes.has(syscall)) return new KnownError('FILE_UNWRITABLE', `This user may not write ${path}`, details)
  return new KnownError('FILE_UNREADABLE', `This user may not open ${path}`, {
    ...details,
    hint: 'Look who owns it and its directory (ls -ld); run as that user, or have the owner allow it.',
  })
}
