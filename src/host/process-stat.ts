import { readFileSync } from 'node:fs'
import { hasSystemCode } from '../errors/known-error.ts'

/** What /proc says of a process: proc_pid_stat(5). */
export interface ProcessStat {
  /** When it started, in clock ticks since the machine was: with its number, it is that of one process only. */
  readonly started: string
  readonly group: number
  readonly isZombie: boolean
  /**
   * It has an environment that is not empty; also where it becomes another program just now, and nobody can tell: its code is
   * told last of all (fs/binfmt_elf.c load_elf_binary).
   */
  readonly hasEnvironment: boolean
}

/** undefined where there is no such process, or no /proc. */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program is in parentheses and may have any character.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return {
      isZombie: fields[0] === 'Z',
      group: Number(fields[2]),
      started: fields[19] ?? '',
      hasEnvironment: fields[20] !== '0' && (fields[24] === '0' || fields[47] !== fields[48]),
    }
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ESRCH', 'EACCES')) return undefined
    throw error
  }
}
