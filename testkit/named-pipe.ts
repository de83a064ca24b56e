import { readFile } from 'node:fs/promises'
import { hasSystemCode } from '../src/errors/known-error.ts'

/**
 * Resolves once somebody has made a named pipe there and written into it, or when `without` ends: whoever should have written is
 * gone then.
 */
export async function readWhenThere(path: string, without?: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  without?.then(over, over)
  while (!isOver) {
    try {
      await readFile(path)
      return
    } catch (error) {
      if (!hasSystemCode(error, 'ENOENT')) throw error
    }
  }
}
