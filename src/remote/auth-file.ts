/**
 * Credentials from the files that podman, skopeo and docker keep.
 *
 * Source: containers-auth.json(5); containers/image pkg/docker/config/config.go:getAuthFilePaths, findCredentialsInFile,
 * normalizeAuthFileKey. Beyond it, docker's `credsStore` is asked when nothing else has an answer.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Env } from '../host/env.ts'
import { type AuthFile, parseAuthFile } from './auth-file-format.ts'
import { credentialsFromProgram } from './credential-program.ts'
import type { Credentials, CredentialsProvider } from './credentials.ts'

export interface AuthFileOptions {
  readonly env: Env
  /** `--authfile`: then no other file is looked at. */
  readonly authFile?: string | undefined
  /** Numeric user id, for the place that podman uses where XDG_RUNTIME_DIR is not set. */
  readonly userId?: number | undefined
}

interface AuthFilePlace {
  readonly path: string
  /** Named by the user: it must exist. */
  readonly isRequired: boolean
}

/** In the order they are asked. The first that has credentials wins. */
export function authFilePlaces({ env, authFile, userId }: AuthFileOptions): readonly AuthFilePlace[] {
  const named = authFile ?? (env['REGISTRY_AUTH_FILE'] || undefined)
  if (named !== undefined) return [{ path: named, isRequired: true }]
  const home = env['HOME']
  const runtime = env['XDG_RUNTIME_DIR'] || undefined
  const config = env['XDG_CONFIG_HOME'] || (home === undefined ? undefined : join(home, '.config'))
  const docker = env['DOCKER_CONFIG'] || (home === undefined ? undefined : join(home, '.docker'))
  const paths = [
    runtime !== undefined
      ? join(runtime, 'containers', 'auth.json')
      : userId === undefined
        ? undefined
        : `/run/containers/${userId}/auth.json`,
    config === undefined ? undefined : join(config, 'containers', 'auth.json'),
    docker === undefined ? undefined : join(docker, 'config.json'),
  ]
  return paths.filter((path) => path !== undefined).map((path) => ({ path, isRequired: false }))
}

/** Reads the files once, when the first credentials are asked for. */
export function credentialsFromFiles(options: AuthFileOptions): CredentialsProvider {
  return new AuthFileCredentials(options)
}

/**
 * Credentials out of the text of one such file: those of another machine, whose credential programs are not here.
 *
 * @throws KnownError CONFIG_INVALID
 */
export function credentialsFromText(text: string, path: string): CredentialsProvider {
  const { entries, legacyEntries } = parseAuthFile(text, path)
  const file = { entries, legacyEntries, credHelpers: new Map() }
  return new AuthFileCredentials({ env: {} }, [file])
}

class AuthFileCredentials implements CredentialsProvider {
  readonly #options: AuthFileOptions
  #files: Promise<readonly AuthFile[]> | undefined
  readonly #fromPrograms = new Map<string, Promise<Credentials | undefined>>()

  constructor(options: AuthFileOptions, files?: readonly AuthFile[]) {
    this.#options = options
    if (files !== undefined) this.#files = Promise.resolve(files)
  }

  async find(registry: string, repository?: string): Promise<Credentials | undefined> {
    this.#files ??= loadAll(this.#options)
    for (const file of await this.#files) {
      const found = await this.#findIn(file, registry, repository)
      if (found !== undefined) return found
    }
    return undefined
  }

  async #findIn(file: AuthFile, registry: string, repository: string | undefined): Promise<Credentials | undefined> {
    const program = file.credHelpers.get(registry)
    if (program !== undefined) return this.#ask(program, registry)
    for (const key of keysFor(registry, repository)) {
      const found = file.entries.get(key)
      if (found !== undefined) return found
    }
    const legacy = file.legacyEntries.get(dockerHubName(registry))
    if (legacy !== undefined) return legacy
    return file.credsStore === undefined ? undefined : this.#ask(file.credsStore, hubKey(registry))
  }

  #ask(program: string, registry: string): Promise<Credentials | undefined> {
    const key = `${program} ${registry}`
    const known = this.#fromPrograms.get(key)
    if (known !== undefined) return known
    const asked = credentialsFromProgram(program, registry, this.#options.env)
    this.#fromPrograms.set(key, asked)
    return asked
  }
}

/** `host/ns/repo`, `host/ns`, `host`: the longest match wins. */
function keysFor(registry: string, repository = ''): readonly string[] {
  const parts = repository === '' ? [] : repository.split('/')
  return [...parts.map((_, index) => [registry, ...parts.slice(0, parts.length - index)].join('/')), registry]
}

/** Docker keeps its Hub under this name (docker's `registry.IndexServer`). */
function hubKey(registry: string): string {
  return registry === 'docker.io' ? 'https://index.docker.io/v1/' : registry
}

function dockerHubName(registry: string): string {
  return registry === 'docker.io' || registry === 'registry-1.docker.io' ? 'index.docker.io' : registry
}

async function loadAll(options: AuthFileOptions): Promise<readonly AuthFile[]> {
  const files: AuthFile[] = []
  for (const { path, isRequired } of authFilePlaces(options)) {
    try {
      files.push(parseAuthFile(await readFile(path, 'utf8'), path))
    } catch (cause) {
      if (cause instanceof KnownError) throw cause
      if (!isRequired && hasSystemCode(cause, 'ENOENT', 'ENOTDIR', 'EACCES')) continue
      throw new KnownError('FILE_UNREADABLE', `${path}: the file with the credentials cannot be read`, {
        details: { file: path },
        cause,
      })
    }
  }
  return files
}
