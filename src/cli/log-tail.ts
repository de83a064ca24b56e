import { open } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'
import { hasSystemCode } from '../errors/known-error.ts'

const readBytes = 16 * 1024

/** Of one line. */
const shownCharacters = 500

/** The last lines of a log, as a terminal can show them, without the time before each; none where there is no log. */
export async function logTail(path: string, lines: number): Promise<readonly string[]> {
  try {
    const file = await open(path, 'r')
    try {
      const { size } = await file.stat()
      const start = Math.max(0, size - readBytes)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(readBytes), 0, readBytes, start)
      const all = buffer.toString('utf8', 0, bytesRead).split('\n')
      const whole = start > 0 && all.length > 2 ? all.slice(1) : all
      return whole
        .filter((line) => line.trim() !== '')
        .slice(-lines)
        .map((line) => printable(withoutStamp(line)))
    } finally {
      await file.close()
    }
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return []
    throw error
  }
}

/** What is binary must not take the terminal with it. */
function printable(line: string): string {
  const text = stripVTControlCharacters(line).replace(/(?!\t)[\p{Cc}\uFFFD]+/gu, '?')
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters)} …`
}

/** A line of a log as the step printed it. */
export function withoutStamp(line: string): string {
  return line.replace(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z /, '')
}
