/** The contents of an auth file (containers-auth.json(5), docker's config.json). */
import { KnownError } from '../errors/known-error.ts'
import { parsedJson } from '../errors/parsed-json.ts'
import type { Credentials } from './credentials.ts'

export interface AuthFile {
  /** By key as written: `host`, `host/ns`, `host/ns/repo`. */
  readonly entries: ReadonlyMap<string, Credentials>
  /** The same by host, for keys as docker once wrote them: `https://host/v1/`. */
  readonly legacyEntries: ReadonlyMap<string, Credentials>
  /** Name of the program `docker-credential-NAME`, by host. */
  readonly credHelpers: ReadonlyMap<string, string>
  readonly credsStore?: string | undefined
}

/**
 * @param path for messages; the text itself is never quoted
 * @throws KnownError CONFIG_INVALID
 */
export function parseAuthFile(text: string, path: string): AuthFile {
  const invalid = (why: string) =>
    new KnownError('CONFIG_INVALID', `${path}: not a file of registry credentials: ${why}`, { details: { file: path } })
  const document = asRecord(parsedJson(text))
  if (document === undefined) throw invalid('it is not a JSON object')
  const entries = new Map<string, Credentials>()
  const legacyEntries = new Map<string, Credentials>()
  for (const [key, value] of Object.entries(asRecord(document['auths']) ?? {})) {
    const credentials = readEntry(key, asRecord(value) ?? {})
    if (credentials === 'malformed') throw invalid(`the auth of "${key}" is not the Base64 of user:password`)
    if (credentials === undefined) continue
    entries.set(key, credentials)
    const host = legacyHost(key)
    if (host !== undefined && !legacyEntries.has(host)) legacyEntries.set(host, credentials)
  }
  const credsStore = document['credsStore']
  return {
    entries,
    legacyEntries,
    credHelpers: new Map(Object.entries(asRecord(document['credHelpers']) ?? {}).filter(isTextPair)),
    credsStore: typeof credsStore === 'string' && credsStore !== '' ? credsStore : undefined,
  }
}

function readEntry(key: string, entry: Readonly<Record<string, unknown>>): Credentials | 'malformed' | undefined {
  const { auth, identitytoken, username: plainName, password: plainPassword } = entry
  const pair = typeof auth === 'string' && auth !== '' ? decodePair(auth) : undefined
  if (typeof identitytoken === 'string' && identitytoken !== '') {
    return { kind: 'identity-token', username: pair?.username ?? '', token: identitytoken, key }
  }
  if (pair !== undefined) return { kind: 'password', ...pair, key }
  if (typeof auth === 'string' && auth !== '') return 'malformed'
  if (typeof plainName !== 'string' || typeof plainPassword !== 'string' || plainName === '') return undefined
  return { kind: 'password', username: plainName, password: plainPassword, key }
}

function decodePair(auth: string): { username: string; password: string } | undefined {
  const text = Buffer.from(auth, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  // Docker pads the password with NUL (config.go:decodeDockerAuth).
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: trimNul(text.slice(colon + 1)) }
}

function trimNul(text: string): string {
  let end = text.length
  while (end > 0 && text.charCodeAt(end - 1) === 0) end -= 1
  return text.slice(0, end)
}

/** `index.docker.io` of `https://index.docker.io/v1/`; undefined for a key that names a path within a registry. */
function legacyHost(key: string): string | undefined {
  const bare = key.replace(/^https?:\/\//, '')
  const host = bare.split('/')[0] ?? ''
  const isPathScoped = bare === key && bare.includes('/') && !/\/v[12]\/?$/.test(bare)
  if (isPathScoped || host === '') return undefined
  return host === 'docker.io' || host === 'registry-1.docker.io' ? 'index.docker.io' : host
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
}

function isTextPair(pair: [string, unknown]): pair is [string, string] {
  return typeof pair[1] === 'string'
}
