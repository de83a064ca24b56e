/**
 * Servers of a lab, found by what stands in their environment (proc(5) /proc/PID/environ).
 *
 * The mark is known before a server is started, as the undo record must be; a process id is not, and after a while it
 * belongs to somebody else. Whatever a server starts carries the mark, too.
 */
import { readdir, readFile, readlink } from 'node:fs/promises'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import { processNumbers } from '../../host/process-cookies.ts'
import { signalProcess } from '../../host/processes.ts'

const variable = 'SALLYPORT_LAB_PROCESS'

/** How long a server has to end by itself after SIGTERM, in milliseconds. */
const graceMs = 3000
const pollMs = 10

/** What is put into the environment of a server. `version` tells whether one that runs is what is asked for now. */
export function markOf(lab: string, name: string, version: string): Readonly<Record<string, string>> {
  return { [variable]: `${lab}/${name}/${version}` }
}

export interface MarkedProcess {
  readonly pid: number
  readonly name: string
  readonly version: string
}

/** The servers of a lab, and all that they started. */
export async function markedProcesses(lab: string, name?: string): Promise<readonly MarkedProcess[]> {
  const found = await Promise.all((processNumbers() ?? []).map((pid) => readMark(pid, lab)))
  return found.filter((each) => each !== undefined).filter((each) => name === undefined || each.name === name)
}

async function readMark(pid: number, lab: string): Promise<MarkedProcess | undefined> {
  const environ = await readProc(pid, 'environ')
  const entry = environ?.split('\0').find((line) => line.startsWith(`${variable}=${lab}/`))
  const [, name, version] = entry?.split('/') ?? []
  return name === undefined || version === undefined ? undefined : { pid, name, version }
}

/** Undefined where the process is gone or somebody else's. */
async function readProc(pid: number, file: string): Promise<string | undefined> {
  try {
    return await readFile(`/proc/${pid}/${file}`, 'utf8')
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return undefined
    throw error
  }
}

/**
 * Asks them to end, then makes them. True where there was one.
 *
 * @throws KnownError LAB_FAILED where one does not end although it must: it waits for a disk or a driver
 */
export async function endMarked(clock: Clock, lab: string, name?: string): Promise<boolean> {
  const first = await settledProcesses(clock, lab, name)
  for (const { pid } of first) signalProcess(pid, 'SIGTERM')
  const patienceEnds = clock.now() + graceMs
  let left = first
  while (left.length > 0) {
    await clock.sleep(pollMs)
    left = await settledProcesses(clock, lab, name)
    const pids = left.map(({ pid }) => pid).join(', ')
    if (clock.now() >= patienceEnds + graceMs && left.length > 0) {
      throw new KnownError(
        'LAB_FAILED',
        `The server "${left[0]?.name}" of the lab "${lab}" does not end: process ${pids}`,
      )
    }
    if (clock.now() >= patienceEnds) for (const { pid } of left) signalProcess(pid, 'SIGKILL')
  }
  return first.length > 0
}

/** While a program takes the place of another (execve(2)) it has no environment: one look is not enough to see nothing. */
async function settledProcesses(clock: Clock, lab: string, name?: string): Promise<readonly MarkedProcess[]> {
  const first = await markedProcesses(lab, name)
  if (first.length > 0) return first
  await clock.sleep(pollMs)
  return markedProcesses(lab, name)
}

/** True when one of the processes itself listens on this TCP port (proc(5) /proc/PID/net/tcp, state 0A). */
export async function isListening(processes: readonly MarkedProcess[], port: number): Promise<boolean> {
  const [first] = processes
  if (first === undefined) return false
  const tables = await Promise.all(['net/tcp', 'net/tcp6'].map((file) => readProc(first.pid, file)))
  const sockets = new Set(tables.flatMap((table) => listeningSockets(table ?? '', port)))
  if (sockets.size === 0) return false
  const open = await Promise.all(processes.map(({ pid }) => openSockets(pid)))
  return open.flat().some((socket) => sockets.has(socket))
}

/** Inodes of the sockets that listen on a port, out of a table of proc(5). */
export function listeningSockets(table: string, port: number): readonly string[] {
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => state === '0A' && Number.parseInt(local.split(':')[1] ?? '', 16) === port)
    .flatMap((fields) => fields[9] ?? [])
}

async function openSockets(pid: number): Promise<readonly string[]> {
  try {
    const folder = `/proc/${pid}/fd`
    const links = await Promise.all(
      (await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => undefined)),
    )
    return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link ?? '')?.[1] ?? [])
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return []
    throw error
  }
}
