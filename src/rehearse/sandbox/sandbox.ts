/**
 * A place to run the scripts of a bootstrap host: namespaces of their own for users, mounts, processes, network and names.
 *
 * Nothing of the machine is to be seen there but its programs, read-only; there is no network at all. What a stand-in is
 * asked comes out through a pipe, and the answer goes in as a file that the sandbox cannot write.
 */
import { constants, openSync } from 'node:fs'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { KnownError } from '../../errors/known-error.ts'
import { exec } from '../../host/exec.ts'
import { shellQuote } from '../../host/shell-quote.ts'
import { spawnLogged } from '../../host/spawn-logged.ts'
import { neededPrograms } from './host-programs.ts'
import { outerScript, standInFolder } from './launch-scripts.ts'
import { equipRoot, hostProgram, type SandboxPrograms } from './sandbox-root.ts'

/** How a stand-in was called. */
export interface StandInCall {
  readonly name: string
  readonly args: readonly string[]
  /** Where the script stands. */
  readonly cwd: string
  readonly unit: string
  /** What was piped into it, where an argument was `-`; for jq always. */
  readonly input: string
}

/** A script in bash that the stand-in runs in the sandbox, last of all `exit`. */
export type AnswerCall = (call: StandInCall) => Promise<string>

export interface SandboxOptions extends SandboxPrograms {
  /** A folder for this sandbox alone; what is in its `root` already is what the scripts see. */
  readonly directory: string
  readonly answer: AnswerCall
}

export interface RunOptions {
  readonly unit: string
  readonly workingDirectory: string
  readonly env: Readonly<Record<string, string>>
  readonly logFile: string
}

export interface Sandbox {
  /** Runs a command there to its end. */
  run(command: readonly string[], options: RunOptions): { readonly ended: Promise<number | string>; kill(): void }
  /** Resolves when a call could not be answered for want of disk or memory; from then on nothing there gets anywhere. */
  readonly failed: Promise<void>
  /** @throws what a call could not be answered for */
  throwIfFailed(): void
  /** Answers no more calls. Its folder is the caller's to remove. */
  close(): void
}

/** Why there can be no sandbox on this machine; undefined where there can. */
export async function whyNoSandbox(): Promise<string | undefined> {
  for (const name of [...neededPrograms, 'unshare', 'mount', 'umount', 'pivot_root']) {
    if ((await hostProgram(name)) === undefined) return `${name} is not installed`
  }
  const flags = [...namespaceFlags, '--', '/bin/sh', '-c', 'mount --make-rprivate / && mount -t proc proc /proc']
  try {
    const { status, stderr } = await exec('unshare', flags, { env: { PATH: hostPath } })
    return status === 0 ? undefined : `this machine or this user may not make namespaces: ${stderr.trim()}`
  } catch (error) {
    if (error instanceof KnownError) return error.message
    throw error
  }
}

const hostPath = '/usr/bin:/usr/sbin:/bin:/sbin'

const namespaceFlags = [
  '--user',
  '--map-root-user',
  '--mount',
  '--pid',
  '--fork',
  '--kill-child',
  '--net',
  '--uts',
  '--ipc',
]

/** @throws KnownError PROGRAM_FAILED */
export async function openSandbox({ directory, standIns, answer }: SandboxOptions): Promise<Sandbox> {
  const root = join(directory, 'root')
  const replies = join(directory, 'replies')
  await mkdir(replies, { recursive: true })
  await equipRoot(root, { standIns })
  const calls = join(root, standInFolder, 'calls')
  const all = join(calls, 'all')
  await exec('mkfifo', [all], { env: { PATH: hostPath } })
  const pipe = openSync(all, constants.O_RDWR | constants.O_NONBLOCK)
  const socket = new Socket({ fd: pipe, readable: true, writable: false })
  const lines = createInterface({ input: socket })
  const failures: unknown[] = []
  const { promise: failed, resolve: onFailed } = Promise.withResolvers<void>()
  lines.on('line', (id) => {
    serve(id, { calls, replies, answer }).catch((error: unknown) => {
      failures.push(error)
      onFailed()
    })
  })
  let runs = 0
  return {
    run: (command, { unit, workingDirectory, env, logFile }) => {
      // Numbers of processes begin anew in every run.
      runs += 1
      const all = variables({ ...env, SALLYPORT_UNIT: unit, SALLYPORT_RUN: String(runs) })
      const inner = ['/.host/usr/bin/env', '-i', '-C', workingDirectory, ...all, ...command]
      const words = [...namespaceFlags, '--', '/bin/sh', '-c', outerScript, 'sallyport', root, replies, '--', ...inner]
      return spawnLogged('unshare', words, { env: { PATH: hostPath }, logFile })
    },
    failed,
    throwIfFailed: () => {
      if (failures.length > 0) throw failures[0]
    },
    close: () => {
      lines.close()
      socket.destroy()
    },
  }
}

function variables(env: Readonly<Record<string, string>>): readonly string[] {
  const own = {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin',
    HOME: '/root',
    LANG: 'C.UTF-8',
    BASH_ENV: `${standInFolder}/bash-env`,
  }
  return Object.entries({ ...env, ...own }).map(([name, value]) => `${name}=${value}`)
}

interface Exchange {
  readonly calls: string
  readonly replies: string
  readonly answer: AnswerCall
}

/** One call. What lies in `calls` was written in the sandbox: no link in it is followed. */
async function serve(id: string, { calls, replies, answer }: Exchange): Promise<void> {
  if (!/^[\w.@:-]+$/.test(id) || id.startsWith('.')) return
  const path = join(calls, id)
  let script: string
  try {
    const words = (await readOwn(`${path}.args`)).split('\0').slice(0, -1)
    const [name = '', cwd = '/', unit = '', ...args] = words
    const isPiped = name === 'jq' || args.includes('-')
    const input = isPiped ? await readOwn(`${path}.input`) : ''
    script = await answer({ name, cwd, unit, args, input })
  } catch (error) {
    script = `printf '%s\\n' ${shellQuote(`sallyport: ${error instanceof Error ? error.message : error}`)} >&2\nexit 70\n`
  }
  await writeFile(join(replies, id), script)
  await wake(`${path}.answer`)
}

async function readOwn(path: string): Promise<string> {
  return readFile(path, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK })
}

async function wake(path: string): Promise<void> {
  try {
    await using pipe = await open(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if ((await pipe.stat()).isFIFO()) await pipe.write('\n')
  } catch {
    // The stand-in was ended while its answer was on the way.
  }
}
