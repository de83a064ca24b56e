import { createInterface } from 'node:readline/promises'
import type { CliContext } from './context.ts'

/** Asks somebody who sits before it; no is what an empty answer means, or an interrupted one. */
export async function askYesNo(question: string, { signal }: Pick<CliContext, 'signal'>): Promise<boolean> {
  if (process.stdin.isTTY !== true) return false
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal })
    return /^y(?:es)?$/i.test(answer.trim())
  } catch (error) {
    if (signal.aborted) return false
    throw error
  } finally {
    terminal.close()
  }
}
