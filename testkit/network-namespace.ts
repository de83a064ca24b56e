/** Networks of their own, in which only their own loopback is to be reached. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Cleanup } from './temp-dir.ts'

export interface NetworkNamespace {
  /** Words before a command, which then runs in this network. */
  readonly prefix: readonly string[]
}

/** Undefined where this machine or this user may not make one. */
export async function networkNamespace(t: Cleanup): Promise<NetworkNamespace | undefined> {
  const isRoot = process.getuid?.() === 0
  const script = 'ip link set lo up && echo ready && exec sleep infinity'
  const child = spawn('unshare', [isRoot ? '-n' : '-Urn', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  const failed = once(child, 'error').catch((error: unknown) => [error])
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), once(child, 'exit'), failed])
  if (line !== 'ready') return undefined
  t.after(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  })
  const user = isRoot ? [] : ['-U', '--preserve-credentials']
  return { prefix: ['nsenter', '-t', String(child.pid), ...user, '-n'] }
}
