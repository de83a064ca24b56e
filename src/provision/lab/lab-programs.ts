/** Programs of the machine that a lab is made with. */
import { access, constants } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import type { Clock } from '../../host/clock.ts'
import type { Env } from '../../host/env.ts'
import { type ExecResult, exec } from '../../host/exec.ts'

export interface LabHost {
  readonly env: Env
  readonly clock: Clock
}

/** Where Debian has `ip`, `nft` and `squid`, also when the PATH of who is root does not say so. */
const systemFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin']

/** The environment for programs of the system: no settings of the user, messages in English. */
export function systemEnv(env: Env): Readonly<Record<string, string>> {
  const path = (env['PATH'] ?? '/usr/bin:/bin').split(':')
  return { PATH: [...path, ...systemFolders.filter((folder) => !path.includes(folder))].join(':'), LC_ALL: 'C' }
}

/** Where a program of the system is; undefined where it is not installed. */
export async function findProgram(host: LabHost, name: string): Promise<string | undefined> {
  for (const folder of systemEnv(host.env)['PATH']?.split(':') ?? []) {
    const path = join(folder, name)
    if (isAbsolute(folder) && (await isExecutable(path))) return path
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return false
    throw error
  }
}

/** Runs a program of the system, whatever it ends with. */
export function attempt(host: LabHost, argv: readonly string[], input = ''): Promise<ExecResult> {
  const [program = '', ...words] = argv
  return exec(program, words, { env: systemEnv(host.env), input, maxOutputBytes: 16 * 1024 * 1024 })
}

/**
 * Runs a program of the system that must succeed, and gives what it printed.
 *
 * @throws KnownError LAB_FAILED with the program's own words, PROGRAM_FAILED
 */
export async function must(host: LabHost, argv: readonly string[], input = ''): Promise<string> {
  const { status, stdout, stderr } = await attempt(host, argv, input)
  if (status === 0) return stdout
  throw new KnownError('LAB_FAILED', `${argv.join(' ')} failed: ${(stderr || stdout).trim() || `status ${status}`}`, {
    details: { program: argv[0], status },
  })
}
