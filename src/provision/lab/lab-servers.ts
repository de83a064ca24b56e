/** Servers of a lab: started detached in their site, ready when they listen. */
import { createHash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { isAlive } from '../../host/processes.ts'
import { spawnDetached } from '../../host/spawn-detached.ts'
import type { Making, ServingProcess, SiteServer } from '../provider.ts'
import { type LabHost, systemEnv } from './lab-programs.ts'
import type { LabUndo } from './lab-undo.ts'
import { endMarked, isListening, type MarkedProcess, markedProcesses, markOf } from './marked-processes.ts'

export interface LabServers {
  readonly lab: string
  readonly logFolder: string
  /** The words that run a server on its site. */
  readonly command: (argv: readonly string[]) => readonly string[]
}

const readyWithinMs = 30_000
const pollMs = 20

/**
 * Starts a server, or leaves the one that runs: the same command with the same environment, and listening.
 *
 * @throws KnownError LAB_FAILED when it ends, or does not listen in time, with the last lines of its log
 */
export async function serveInLab(
  host: LabHost,
  server: SiteServer,
  { lab, logFolder, command, record, signal }: LabServers & Making,
): Promise<ServingProcess> {
  const { name, argv, env, ports } = server
  if (!/^[a-zA-Z0-9.-]+$/.test(name)) {
    throw new KnownError('USAGE', `"${name}" is no name for a server of a lab`, {
      hint: 'Letters, digits, "." and "-".',
    })
  }
  await record({ kind: 'lab-process', lab, name } satisfies LabUndo)
  const logFile = join(logFolder, `${name}.log`)
  const version = versionOf(server)
  const running = await markedProcesses(lab, name)
  const [first] = running
  if (first?.version === version && (await listensAt(running, ports))) return { pid: first.pid, logFile }
  await endMarked(host.clock, lab, name)
  await mkdir(logFolder, { recursive: true, mode: 0o700 })
  const pid = await spawnDetached(command(argv), {
    env: { ...systemEnv(host.env), ...env, ...markOf(lab, name, version) },
    logFile,
  })
  const deadline = host.clock.now() + (server.readyWithinMs ?? readyWithinMs)
  for (;;) {
    signal?.throwIfAborted()
    const processes = await markedProcesses(lab, name)
    if (await listensAt(processes, ports)) return { pid, logFile }
    // One that is being exchanged for another program (execve(2)) has no environment for a moment.
    const hasEnded = processes.length === 0 && !isAlive(pid)
    if (hasEnded || host.clock.now() >= deadline) throw await neverReady(server, logFile, hasEnded)
    await host.clock.sleep(pollMs, signal)
  }
}

/** Of what decides how it behaves; a digest, because the environment may hold secrets. */
function versionOf({ site, argv, env, ports }: SiteServer): string {
  const text = JSON.stringify([site, argv, Object.entries(env).sort(), ports])
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

async function listensAt(processes: readonly MarkedProcess[], ports: readonly number[]): Promise<boolean> {
  if (processes.length === 0) return false
  const found = await Promise.all(ports.map((port) => isListening(processes, port)))
  return found.every(Boolean)
}

async function neverReady({ name, ports }: SiteServer, logFile: string, hasEnded: boolean): Promise<KnownError> {
  const log = (await readFile(logFile, 'utf8')).trim().split('\n').slice(-5).join(' | ')
  const what = hasEnded ? 'ended before it listened' : 'does not listen'
  return new KnownError('LAB_FAILED', `The server "${name}" ${what} on port ${ports.join(', ')}: ${log || 'no word'}`, {
    details: { name, logFile },
    hint: `All that it said is in ${logFile}. A port that is in use already is the usual reason on 127.0.0.1.`,
  })
}
