import { closeSync, openSync, writeSync } from 'node:fs'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { CliContext } from './context.ts'

/**
 * Writes events of progress, one a line; `-` is standard output. When that is not possible any more it says so once: whoever
 * watches a job does not end it.
 *
 * @throws KnownError FILE_UNWRITABLE where the file cannot be begun
 */
export function openEvents(
  path: string,
  { stdout, log }: Pick<CliContext, 'stdout' | 'log'>,
): NonNullable<CliContext['emitEvent']> {
  if (path === '-') return (event) => stdout(`${JSON.stringify(event)}\n`)
  const file = openFile(path)
  let isOpen = true
  return (event) => {
    if (!isOpen) return
    try {
      writeSync(file, `${JSON.stringify(event)}\n`)
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error)) throw error
      isOpen = false
      closeSync(file)
      log.warn(`${path} cannot be written any more (${error.code}): no more events`)
    }
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, 'a', 0o600)
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'EACCES', 'EPERM', 'EROFS', 'EISDIR', 'ENOTDIR', 'ENOSPC')) throw cause
    throw new KnownError('FILE_UNWRITABLE', `${path} cannot be written (${cause.code})`, {
      details: { file: path },
      cause,
    })
  }
}

/** Whether events go to standard output: its reader may leave, and the job goes on. */
export function hasEventReader(argv: readonly string[]): boolean {
  return argv.some((word, index) => word === '--events=-' || (word === '--events' && argv[index + 1] === '-'))
}
