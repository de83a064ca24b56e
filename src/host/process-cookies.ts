import { readdirSync, readFileSync } from 'node:fs'
import { hasSystemCode } from '../errors/known-error.ts'
import type { Clock } from './clock.ts'
import { processStat } from './process-stat.ts'

/** The name of the variable that tells whose a process is: `RUN/STEP/ATTEMPT`. */
export const cookieName = 'SALLYPORT_STEP'

const lookMs = 20
/** On a machine that is busy. */
const longestLookMs = 1000
/** Processes may start others while they are ended. */
const killRounds = 100
/** Some 100 ms: it may have to wait for a processor meanwhile. */
const execLooks = 10_000

export interface CookieProcess {
  readonly pid: number
  readonly started: string
  readonly cookie: string
}

/** undefined where the system has no /proc: then nobody knows. */
export type CookieProcesses = readonly CookieProcess[] | undefined

/**
 * Processes of this user (of everybody for root) that were started with a cookie that begins with `prefix`, also those that left
 * their group and session. `RUN/` stands for a run, `RUN/STEP/` for a step.
 */
export function findByCookie(prefix: string): CookieProcesses {
  return processNumbers()?.flatMap((pid) => {
    const cookie = pid === process.pid ? undefined : cookieOf(pid)
    const started = cookie?.startsWith(prefix) ? processStat(pid)?.started : undefined
    return cookie !== undefined && started !== undefined ? [{ pid, started, cookie }] : []
  })
}

/**
 * Ends them: SIGTERM, and SIGKILL after `graceMs`. Gives those that are still there; undefined where the system has no /proc.
 */
export async function endByCookie(
  prefix: string,
  { graceMs, clock }: { readonly graceMs: number; readonly clock: Clock },
): Promise<CookieProcesses> {
  const asked = new Set<string>()
  let found = findByCookie(prefix)
  let waitedMs = 0
  while (found !== undefined && found.length > 0 && waitedMs < graceMs) {
    const before = clock.now()
    // What started meanwhile is asked, too, and each one once: a script cleans up in its trap.
    for (const each of found) {
      const name = `${each.pid} ${each.started}`
      if (!asked.has(name)) signal(each, 'SIGTERM')
      asked.add(name)
    }
    await clock.sleep(lookMs)
    found = findByCookie(prefix)
    // Somebody may set the clock meanwhile, back or forth.
    waitedMs += Math.min(Math.max(clock.now() - before, lookMs), longestLookMs)
  }
  for (let round = 0; found !== undefined && found.length > 0 && round < killRounds; round += 1) {
    for (const each of found) signal(each, 'SIGKILL')
    await clock.sleep(lookMs)
    found = findByCookie(prefix)
  }
  return found
}

/** All numbers of processes; undefined where there is no /proc. */
export function processNumbers(): readonly number[] | undefined {
  try {
    const numbers = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return numbers.length > 0 ? numbers.map(Number) : undefined
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** proc_pid_environ(5): what it was started with. Empty for a zombie. */
function cookieOf(pid: number): string | undefined {
  try {
    let environ = readFileSync(`/proc/${pid}/environ`, 'latin1')
    // Empty, too, for one that becomes another program: what was opened is of the old one, or the new one has none yet
    // (fs/proc/base.c environ_read). One that does so again and again is looked at again.
    for (let look = 0; environ === '' && look < execLooks && processStat(pid)?.hasEnvironment; look += 1) {
      environ = readFileSync(`/proc/${pid}/environ`, 'latin1')
    }
    const words = environ.split('\0')
    return words.find((word) => word.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1)
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return undefined
    throw error
  }
}

/** What is stopped goes on, so that it can obey. */
function signal({ pid, started }: CookieProcess, name: NodeJS.Signals): void {
  // Its number may be another's by now.
  if (processStat(pid)?.started !== started) return
  try {
    process.kill(pid, name)
    if (name !== 'SIGKILL') process.kill(pid, 'SIGCONT')
  } catch (error) {
    if (!hasSystemCode(error, 'ESRCH', 'EPERM')) throw error
  }
}
