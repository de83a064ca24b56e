import { hostname } from 'node:os'
import { hasSystemCode } from '../errors/known-error.ts'

/** This process, as its files name it. */
export interface ProcessIdentity {
  readonly host: string
  readonly pid: number
}

export function thisProcess(): ProcessIdentity {
  return { host: hostname(), pid: process.pid }
}

/** True while a process with this number exists on this machine, whoever owns it. */
export function isAlive(pid: number): boolean {
  // 0 and less are groups of processes (kill(2)).
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'ESRCH')) return false
    if (hasSystemCode(error, 'EPERM')) return true
    throw error
  }
}

/** Sends a signal to a process of this machine; false where there is none with that number. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  // 0 and less are groups of processes (kill(2)).
  if (!(pid > 0)) return false
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if (hasSystemCode(error, 'ESRCH')) return false
    throw error
  }
}
