import { readFile } from 'node:fs/promises'
import { hasSystemCode } from '../src/errors/known-error.ts'

/** Resolves once somebody has made a named pipe there and written into it. */
export async function readWhenThere(path: string): Promise<string> {
  for (;;) {
    try {
      return await readFile(path, 'utf8')
    } catch (error) {
      if (!hasSystemCode(error, 'ENOENT')) throw error
    }
  }
}
