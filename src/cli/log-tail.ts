import { open } from 'node:fs/promises'
import { hasSystemCode } from '../errors/known-error.ts'

const readBytes = 16 * 1024

/** The last lines of a log, without the time before each; none where there is no log. */
export async function logTail(path: string, lines: number): Promise<readonly string[]> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      const start = Math.max(0, size - readBytes)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(readBytes), 0, readBytes, start)
      const all = buffer.toString('utf8', 0, bytesRead).split('\n')
      const whole = start > 0 ? all.slice(1) : all
      return whole
        .filter((line) => line.trim() !== '')
        .slice(-lines)
        .map(withoutStamp)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return []
    throw error
  }
}

/** A line of a log as the step printed it. */
export function withoutStamp(line: string): string {
  return line.replace(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z /, '')
}
