/** Operations on names and small files; an absent file is an answer, not an error. */
import { existsSync, readFileSync, unlinkSync, utimesSync } from 'node:fs'
import { hasSystemCode } from '../errors/known-error.ts'

/** The text of a small file, or undefined where there is none. */
export function readText(path: string): string | undefined {
  return absentAsUndefined(() => readFileSync(path, 'utf8'))
}

/** Removes a file; false where there was none. */
export function removeFile(path: string): boolean {
  return absentAsUndefined(() => unlinkSync(path) ?? true) ?? false
}

/** Sets the time of a file to `now`, which also proves that it is there; false where it is not. */
export function touch(path: string, now: number): boolean {
  try {
    utimesSync(path, now / 1000, now / 1000)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return false
    // A store on a read-only disk can be served, and nobody collects garbage there.
    if (hasSystemCode(error, 'EROFS', 'EACCES', 'EPERM')) return existsSync(path)
    throw error
  }
}

/** `action`, or undefined where its path does not exist. */
export function absentAsUndefined<Result>(action: () => Result): Result | undefined {
  try {
    return action()
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}
