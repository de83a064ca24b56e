/**
 * Credentials from `docker-credential-NAME get` (docker/docker-credential-helpers README, "Development").
 */
import { KnownError } from '../errors/known-error.ts'
import { parsedFields } from '../errors/parsed-json.ts'
import type { Env } from '../host/env.ts'
import { exec } from '../host/exec.ts'
import type { Credentials } from './credentials.ts'

/** What the programs print when they have nothing, by their protocol (credentials/error.go). */
const nothingFound = /credentials not found|not found in native keychain|no credentials/i

/**
 * @param name the part after `docker-credential-`
 * @throws KnownError PROGRAM_FAILED
 */
export async function credentialsFromProgram(name: string, server: string, env: Env): Promise<Credentials | undefined> {
  const program = `docker-credential-${name}`
  const failed = (why: string) =>
    new KnownError('PROGRAM_FAILED', `${program}: ${why}`, { details: { program, host: server } })
  if (!/^[A-Za-z0-9._-]+$/.test(name)) throw failed('this is no name of a program')
  const { status, stdout } = await exec(program, ['get'], { env, input: server })
  if (status !== 0) {
    if (nothingFound.test(stdout)) return undefined
    throw failed(`ended with status ${status} when asked for the credentials of ${server}`)
  }
  const answer = readAnswer(stdout)
  if (answer === undefined) throw failed('did not print the JSON that it should')
  const { username, secret } = answer
  const key = `${server} (${program})`
  if (username === '<token>') return { kind: 'identity-token', username: '', token: secret, key }
  return secret === '' ? undefined : { kind: 'password', username, password: secret, key }
}

function readAnswer(stdout: string): { username: string; secret: string } | undefined {
  const { Username: username, Secret: secret } = parsedFields(stdout) ?? {}
  return typeof username === 'string' && typeof secret === 'string' ? { username, secret } : undefined
}
