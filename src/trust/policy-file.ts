/**
 * Which policy.json is in force: the named one, the user's, or the system's. There is no built-in one.
 *
 * Source: containers/image `signature/policy_config.go:defaultPolicyPathWithHomeDir`.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import { type Policy, parsePolicy } from './policy.ts'

export interface PolicyFileOptions {
  /** The file named on the command line; it must exist. */
  readonly path?: string | undefined
  /** `HOME` is looked at. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Default: /etc/containers */
  readonly systemDir?: string
}

/** @throws KnownError POLICY_INVALID, also where there is none; FILE_UNREADABLE */
export async function loadPolicy(options: PolicyFileOptions): Promise<Policy> {
  const file = whereToLook(options)
  try {
    return parsePolicy(await readFile(file, 'utf8'), file)
  } catch (cause) {
    if (cause instanceof KnownError) throw cause
    throw new KnownError('FILE_UNREADABLE', `Cannot read the policy ${file}`, { details: { file }, cause })
  }
}

function whereToLook({ path, env, systemDir = '/etc/containers' }: PolicyFileOptions): string {
  if (path !== undefined) return path
  const places = [...homePlaces(env['HOME']), join(systemDir, 'policy.json')]
  const found = places.find((place) => existsSync(place))
  if (found !== undefined) return found
  throw new KnownError('POLICY_INVALID', `There is no policy.json: neither ${places.join(' nor ')} exists`, {
    hint: 'Name one with --policy FILE, or write /etc/containers/policy.json (man containers-policy.json).',
    details: { places: places.join(' ') },
  })
}

function homePlaces(home: string | undefined): readonly string[] {
  return home === undefined || home === '' ? [] : [join(home, '.config', 'containers', 'policy.json')]
}
