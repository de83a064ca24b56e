import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, rmSync, statSync, writeFileSync } from 'node:fs'
import { constants as systemConstants } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Env } from './env.ts'
import { groupWrapper } from './group-wrapper.ts'
import { processNumbers } from './process-cookies.ts'
import { processStat } from './process-stat.ts'

export interface GroupSpec {
  readonly argv: readonly string[]
  /** All of its environment. Names that no shell can have are left out by some shells. */
  readonly env: Env
  readonly cwd?: string
  /**
   * Gets the status of the program as soon as it has ended: a number; with ` orphaned` where nobody was there any more, or it was
   * disowned.
   */
  readonly exitFile?: string
  /** What the group has to end, and what its program leaves behind has, when this process is gone. */
  readonly graceMs: number
  readonly restGraceMs: number
}

/** A promise: nothing is read until it is there, so the program waits, too. */
export type TakeOutput = (chunk: Uint8Array) => void | Promise<void>

export interface ProgramEnd {
  /** As a shell gives it. */
  readonly status: number
  /** Of a status above 128 that stands for one: the program was ended by it, or says so. */
  readonly signal?: string
}

/** A program and all that it starts, with one number. */
export interface ProcessGroup {
  /** Of the group, and of its leader. */
  readonly pid: number
  /** When the leader started; undefined where there is no /proc. */
  readonly started: string | undefined
  /** How the program ended; undefined where its whole group was killed. */
  readonly ended: Promise<ProgramEnd | undefined>
  /** The leader is gone, and there will be no more output. */
  readonly closed: Promise<void>
  /** Begins to read what it prints. Until then the program waits when the pipe is full, and nothing is closed. */
  read(take: TakeOutput): void
  /** To all processes of the group; false where there is none. What is stopped goes on, so that it can obey. */
  signal(name: NodeJS.Signals): boolean
  /** From now on the exit file says that its end is not its own. */
  disown(): void
  /** Whether any process of the group is there. Zombies do not count, where there is /proc. */
  isAlive(): boolean
}

/**
 * Starts a program in a process group of its own, with nothing to read. When this process is gone, however that came, the group
 * is asked to end, and then ended.
 *
 * @throws KnownError PROGRAM_FAILED where it cannot be started
 */
export async function spawnGroup(spec: GroupSpec): Promise<ProcessGroup> {
  const { argv, exitFile } = spec
  const [program = ''] = argv
  const fail = (why: string, cause?: unknown) =>
    new KnownError('PROGRAM_FAILED', `${program}: cannot be run: ${why}`, { details: { program }, cause })
  if (!isRunnable(program, spec)) throw fail('there is no such program')
  for (const end of ['', '.new', '.orphaned']) if (exitFile !== undefined) rmSync(`${exitFile}${end}`, { force: true })
  const child = start(spec, fail)
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error) => reject(fail(error.message, error)))
  })
  child.stdin?.on('error', () => undefined)
  const pid = child.pid ?? 0
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const course = courseOf(child)
  await course.started
  return {
    pid,
    started: processStat(pid)?.started,
    ended: course.ended,
    closed,
    read: (take) => readOutput(child, take),
    signal: (name) => signalGroup(pid, name),
    disown: () => noteOrphaned(exitFile),
    isAlive: () => isGroupAlive(pid),
  }
}

type Failure = (why: string, cause?: unknown) => KnownError

function start({ argv, env, cwd, exitFile = '', graceMs, restGraceMs }: GroupSpec, fail: Failure): ChildProcess {
  // Shells export what nobody gave them.
  const own = ['PWD', 'OLDPWD', 'SHLVL'].filter((name) => env[name] === undefined)
  const script = own.length > 0 ? `unset ${own.join(' ')}${groupWrapper}` : groupWrapper
  const tenths = [graceMs, restGraceMs].map((milliseconds) => `${Math.ceil(milliseconds / 100)}`)
  const words = ['-c', script, 'sallyport', exitFile && resolve(exitFile), ...tenths, ...argv]
  try {
    return spawn('/bin/sh', words, {
      env: { ...env },
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
      detached: true,
      ...(cwd !== undefined && { cwd }),
    })
  } catch (error) {
    // What the kernel refuses because of its size, and what no program can be given.
    if (hasSystemCode(error, 'E2BIG')) throw fail('its arguments and variables are too large for this system', error)
    if (hasSystemCode(error, 'ERR_INVALID_ARG_VALUE')) throw fail('an argument or a variable has a zero byte', error)
    throw error
  }
}

/** Asked before, because a shell only says 127, which a program says, too. */
function isRunnable(program: string, { env, cwd = '.' }: GroupSpec): boolean {
  const folders = (env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter)
  const paths = program.includes('/') ? [resolve(cwd, program)] : folders.map((folder) => join(folder || '.', program))
  return paths.some((path) => {
    try {
      accessSync(path, constants.X_OK)
      return statSync(path).isFile()
    } catch (error) {
      if (hasSystemCode(error, 'ENOENT', 'EACCES', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')) return false
      throw error
    }
  })
}

interface Course {
  /** Signals reach the program from now on, or its group is gone. */
  readonly started: Promise<void>
  readonly ended: Promise<ProgramEnd | undefined>
}

/** What the wrapper says of the program. */
function courseOf(child: ChildProcess): Course {
  const started = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<ProgramEnd | undefined>()
  const words = child.stdio[3]
  words?.on('error', () => undefined)
  if (words && 'setEncoding' in words) {
    let text = ''
    words.setEncoding('latin1')
    words.on('data', (more: string) => {
      text += more
      if (/^started\n/.test(text)) started.resolve()
      const [, status] = /^started\n(\d+)\n$/.exec(text) ?? []
      if (status !== undefined) ended.resolve(endWith(Number(status)))
    })
    words.on('close', () => {
      started.resolve()
      ended.resolve(undefined)
    })
  }
  return { started: started.promise, ended: ended.promise }
}

function endWith(status: number): ProgramEnd {
  const signal = Object.entries(systemConstants.signals).find(([, number]) => number === status - 128)?.[0]
  return { status, ...(signal !== undefined && { signal }) }
}

function readOutput({ stdout }: ChildProcess, take: TakeOutput): void {
  stdout?.on('error', () => undefined)
  stdout?.on('data', (chunk: Uint8Array) => {
    const taken = take(chunk)
    if (taken === undefined) return
    stdout.pause()
    void taken.finally(() => stdout.resume())
  })
}

/** As the watcher of the group does. Where it cannot be noted, it is asked to end all the same. */
function noteOrphaned(exitFile: string | undefined): void {
  if (exitFile === undefined) return
  try {
    writeFileSync(`${exitFile}.orphaned`, '')
  } catch (error) {
    if (!hasSystemCode(error, 'ENOSPC', 'EDQUOT', 'ENOENT')) throw error
  }
}

function signalGroup(group: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(-group, name)
    if (name !== 'SIGKILL') process.kill(-group, 'SIGCONT')
    return true
  } catch (error) {
    if (hasSystemCode(error, 'ESRCH')) return false
    // macOS, where only zombies are left.
    if (hasSystemCode(error, 'EPERM')) return false
    throw error
  }
}

function isGroupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch (error) {
    if (hasSystemCode(error, 'ESRCH', 'EPERM')) return false
    throw error
  }
  const members = processNumbers()
  return members === undefined || members.some((pid) => isMember(pid, group))
}

function isMember(pid: number, group: number): boolean {
  const stat = processStat(pid)
  return stat !== undefined && stat.group === group && !stat.isZombie
}
