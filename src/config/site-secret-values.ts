/** The secrets that a site names, from where it says they are. */
import { resolve } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import type { SiteConfig } from './site-configuration.ts'
import { readTextFile } from './yaml-document.ts'

export interface SecretPlace {
  /** What paths in the site are relative to: the directory of `sallyport.yaml`. */
  readonly directory: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface SiteSecrets {
  /** Values by name, without the line end that editors add. */
  readonly values: ReadonlyMap<string, string>
  /** Those that are not here, each with the reason: another side may have them. */
  readonly missing: ReadonlyMap<string, string>
}

export async function readSiteSecrets(site: Pick<SiteConfig, 'secrets'>, place: SecretPlace): Promise<SiteSecrets> {
  const values = new Map<string, string>()
  const missing = new Map<string, string>()
  for (const name of Object.keys(site.secrets)) {
    const found = await readSiteSecret(site, name, place)
    if (found === undefined) continue
    if ('value' in found) values.set(name, found.value)
    else missing.set(name, found.why)
  }
  return { values, missing }
}

/** The value, or why it is not here. */
export type FoundSecret = { readonly value: string } | { readonly why: string }

/** Undefined where the site names no such secret. */
export async function readSiteSecret(
  { secrets }: Pick<SiteConfig, 'secrets'>,
  name: string,
  place: SecretPlace,
): Promise<FoundSecret | undefined> {
  const { file, env } = secrets[name] ?? {}
  if (file !== undefined) return fromFile(resolve(place.directory, file))
  return env === undefined ? undefined : fromEnv(env, place)
}

function fromEnv(variable: string, { env }: SecretPlace): FoundSecret {
  const value = env[variable]
  return value ? { value } : { why: `the environment has no ${variable}` }
}

async function fromFile(path: string): Promise<FoundSecret> {
  try {
    return { value: (await readTextFile(path)).replace(/\r?\n$/, '') }
  } catch (error) {
    if (error instanceof KnownError && error.code === 'FILE_UNREADABLE') return { why: error.message }
    throw error
  }
}
