/** Who we are, and whom we trust, at the sources alone or at the destination alone: the hidden `--src-…` and `--dest-…`. */
import { type Command, Option } from 'commander'
import { KnownError } from '../errors/known-error.ts'
import { credentialsFromFiles } from '../remote/auth-file.ts'
import { type Credentials, type CredentialsProvider, fixedCredentials, noCredentials } from '../remote/credentials.ts'
import { type TlsOptions, tlsOptionsFromEnv } from '../remote/tls-settings.ts'
import type { CliContext } from './context.ts'

export type Side = 'src' | 'dest'

type SideTexts = {
  [Name in `${Side}${'Authfile' | 'Creds' | 'Username' | 'Password' | 'RegistryToken' | 'CertDir'}`]?: string
}

/** Shared by both sides where neither is named. */
export interface SideOptions extends SideTexts {
  authfile?: string
  ca?: string[]
  srcNoCreds?: boolean
  destNoCreds?: boolean
  /** Older names of `--src-creds` and `--dest-creds`. */
  screds?: string
  dcreds?: string
}

/** What one side is built from. */
export interface SideAccess {
  readonly credentials: CredentialsProvider
  readonly tls: TlsOptions
}

const descriptions = {
  authfile: 'as --authfile, for this side alone',
  creds: 'NAME[:PASSWORD] for every registry of this side',
  username: 'the name alone',
  password: 'the password alone',
  'registry-token': 'a bearer token for every registry of this side',
  'cert-dir': 'directory with *.crt, *.cert and *.key for every registry of this side',
} as const

/** They are not listed in `--help`: a password in an argument can be seen by every user of the machine. */
export function addSideOptions(command: Command): Command {
  for (const side of ['src', 'dest'] as const) {
    for (const [name, description] of Object.entries(descriptions)) {
      command.addOption(new Option(`--${side}-${name} <value>`, description).hideHelp())
    }
    command.addOption(new Option(`--${side}-no-creds`, 'no credentials for this side').hideHelp())
    command.addOption(new Option(`--${side[0]}creds <value>`, `as --${side}-creds`).hideHelp())
  }
  return command
}

/** What is said of one side, with the names of the flags taken away. */
interface Said {
  readonly side: Side
  readonly authfile: string | undefined
  readonly creds: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly token: string | undefined
  readonly certDir: string | undefined
  readonly isAnonymous: boolean
}

function saidOf(side: Side, options: SideOptions): Said {
  const isSource = side === 'src'
  return {
    side,
    authfile: isSource ? options.srcAuthfile : options.destAuthfile,
    creds: isSource ? (options.srcCreds ?? options.screds) : (options.destCreds ?? options.dcreds),
    username: isSource ? options.srcUsername : options.destUsername,
    password: isSource ? options.srcPassword : options.destPassword,
    token: isSource ? options.srcRegistryToken : options.destRegistryToken,
    certDir: isSource ? options.srcCertDir : options.destCertDir,
    isAnonymous: (isSource ? options.srcNoCreds : options.destNoCreds) === true,
  }
}

/** True where something is said of one side that is not said of the other: then one client cannot serve both. */
export function areSidesApart(options: SideOptions): boolean {
  return (['src', 'dest'] as const).some((side) => {
    const { side: _, isAnonymous, ...texts } = saidOf(side, options)
    return isAnonymous || Object.values(texts).some((text) => text !== undefined)
  })
}

/** @throws KnownError USAGE where two flags contradict each other, or one lacks its other half */
export function sideAccess(side: Side, options: SideOptions, { env }: Pick<CliContext, 'env'>): SideAccess {
  const said = saidOf(side, options)
  const authFile = said.authfile ?? options.authfile
  const files = credentialsFromFiles({ env, authFile, userId: process.getuid?.() })
  return {
    credentials: credentialsOf(said, files),
    tls: { ...tlsOptionsFromEnv(env), certDir: said.certDir, extraCaFiles: options.ca ?? [] },
  }
}

function credentialsOf(said: Said, files: CredentialsProvider): CredentialsProvider {
  checkCredentials(said)
  if (said.isAnonymous) return noCredentials
  const own = ownCredentials(said)
  return own === undefined ? files : fixedCredentials(own, files)
}

/** What oc-mirror refuses (openshift/oc-mirror `internal/pkg/mirror/options.go:validateCredentials`). */
function checkCredentials({ side, creds, username, password, isAnonymous }: Said): void {
  const wrong = (why: string) => {
    throw new KnownError('USAGE', why, { hint: 'Give the credentials of a side once, or name a file: --authfile.' })
  }
  if (isAnonymous && creds !== undefined) wrong(`--${side}-no-creds and --${side}-creds contradict each other`)
  if (isAnonymous && username !== undefined) wrong(`--${side}-no-creds and --${side}-username contradict each other`)
  if (creds !== undefined && username !== undefined) wrong(`--${side}-creds and --${side}-username are the same thing`)
  if (username !== undefined && password === undefined) wrong(`--${side}-username lacks --${side}-password`)
  if (password !== undefined && username === undefined) wrong(`--${side}-password lacks --${side}-username`)
  if (creds !== undefined && /^(?::|$)/.test(creds)) wrong(`--${side}-creds has no name before the password`)
}

function ownCredentials({ side, creds, username, password, token }: Said): Credentials | undefined {
  if (token !== undefined) return { kind: 'registry-token', username: '', token, key: `--${side}-registry-token` }
  if (creds !== undefined) {
    const colon = creds.indexOf(':')
    const name = colon < 0 ? creds : creds.slice(0, colon)
    return {
      kind: 'password',
      username: name,
      password: colon < 0 ? '' : creds.slice(colon + 1),
      key: `--${side}-creds`,
    }
  }
  if (username === undefined || password === undefined) return undefined
  return { kind: 'password', username, password, key: `--${side}-username` }
}
