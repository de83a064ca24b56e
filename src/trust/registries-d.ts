/**
 * registries.d: where the signatures of an image are kept.
 *
 * Source: containers-registries.d(5); containers/image `docker/registries_d.go`. `lookaside-staging` is for writing,
 * which is not done here.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openYaml, type YamlFile } from '../config/yaml-document.ts'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Reference } from '../oci/reference.ts'
import { scopesOf } from './policy-scope.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface RegistriesDOptions {
  /** The folder named on the command line; one that does not exist counts as empty, as with containers/image. */
  readonly path?: string | undefined
  /** `HOME` is looked at. */
  readonly env: Env
  /** Default: /etc/containers */
  readonly systemDir?: string
}

interface StorageNamespace {
  /** URL of a lookaside store; empty where this namespace does not say. */
  readonly lookaside: string
  readonly useSigstoreAttachments: boolean | undefined
  /** True where it says nothing at all, not even where to write. */
  readonly isSilent: boolean
  /** The file that says it. */
  readonly file: string
}

export interface RegistriesD {
  readonly defaultDocker: StorageNamespace | undefined
  readonly docker: ReadonlyMap<string, StorageNamespace>
}

/** Where the signatures of one image are. */
export interface SignatureStorage {
  /** Of the whole store; the paths of repositories are below it. Absent where nothing is configured. */
  readonly lookaside?: string
  /** Whether the tag `sha256-<hex>.sig` is looked at. */
  readonly usesSigstoreAttachments: boolean
}

/** @throws KnownError POLICY_INVALID, FILE_UNREADABLE */
export async function loadRegistriesD(options: RegistriesDOptions): Promise<RegistriesD> {
  const folder = whereToLook(options)
  const docker = new Map<string, StorageNamespace>()
  let defaultDocker: StorageNamespace | undefined
  for (const file of await yamlFiles(folder)) {
    const parsed = parseFile(await read(file), file)
    if (parsed.defaultDocker !== undefined) {
      if (defaultDocker !== undefined) throw duplicate('default-docker', defaultDocker.file, file)
      defaultDocker = parsed.defaultDocker
    }
    for (const [scope, namespace] of parsed.docker) {
      const known = docker.get(scope)
      if (known !== undefined) throw duplicate(`docker."${scope}"`, known.file, file)
      docker.set(scope, namespace)
    }
  }
  return { defaultDocker, docker }
}

/**
 * What registries.d becomes where oc-mirror reads it: sigstore attachments are looked at wherever nothing else is said, as
 * long as `default-docker` says nothing.
 *
 * Source: oc-mirror `internal/pkg/registriesd/registriesd.go:PrepareRegistrydCustomDir`.
 */
export function withAttachmentsByDefault(config: RegistriesD): RegistriesD {
  if (config.defaultDocker?.isSilent === false) return config
  const file = config.defaultDocker?.file ?? 'default'
  return { ...config, defaultDocker: { lookaside: '', useSigstoreAttachments: true, isSilent: false, file } }
}

/**
 * @param place where the image is really read from: a mirror has its own signatures. Each of the two settings is taken
 * from the closest scope that has it
 */
export function storageOf(config: RegistriesD, place: Reference): SignatureStorage {
  const scoped = scopesOf(place).flatMap((scope) => config.docker.get(scope) ?? [])
  const namespaces = [...scoped, ...(config.defaultDocker === undefined ? [] : [config.defaultDocker])]
  const lookaside = namespaces.find((one) => one.lookaside !== '')?.lookaside
  const uses = namespaces.find((one) => one.useSigstoreAttachments !== undefined)?.useSigstoreAttachments
  return { usesSigstoreAttachments: uses ?? false, ...(lookaside !== undefined && { lookaside }) }
}

function whereToLook({ path, env, systemDir = '/etc/containers' }: RegistriesDOptions): string {
  if (path !== undefined) return path
  const home = env['HOME']
  const own = home ? join(home, '.config', 'containers', 'registries.d') : undefined
  return own !== undefined && existsSync(own) ? own : join(systemDir, 'registries.d')
}

async function yamlFiles(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder)
    return names
      .filter((name) => name.endsWith('.yaml'))
      .sort()
      .map((name) => join(folder, name))
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT')) return []
    throw unreadable(folder, cause)
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

const urlFields = ['lookaside', 'sigstore', 'lookaside-staging', 'sigstore-staging']

function parseFile(text: string, file: string): RegistriesD {
  const yaml = open(text, file)
  const root = mapping(yaml, [])
  const namespace = (path: readonly string[]): StorageNamespace => {
    const [lookaside = '', sigstore = '', ...staging] = urlFields.map((field) => textAt(yaml, [...path, field]))
    const useSigstoreAttachments = flagAt(yaml, [...path, 'use-sigstore-attachments'])
    const isSilent = useSigstoreAttachments === undefined && [lookaside, sigstore, ...staging].join('') === ''
    return { lookaside: lookaside || sigstore, useSigstoreAttachments, isSilent, file }
  }
  const isGiven = root['default-docker'] !== undefined && root['default-docker'] !== null
  if (isGiven) mapping(yaml, ['default-docker'])
  const scopes = Object.keys(mapping(yaml, ['docker']))
  for (const scope of scopes) mapping(yaml, ['docker', scope])
  return {
    defaultDocker: isGiven ? namespace(['default-docker']) : undefined,
    docker: new Map(scopes.map((scope) => [scope, namespace(['docker', scope])])),
  }
}

function open(text: string, file: string): YamlFile {
  try {
    return openYaml({ file, text })
  } catch (cause) {
    if (!(cause instanceof KnownError)) throw cause
    throw new KnownError('POLICY_INVALID', cause.message, { details: { file }, cause })
  }
}

/** The mapping at `path`; an empty value is an empty mapping, other fields than the known ones are passed over. */
function mapping(yaml: YamlFile, path: readonly string[]): Readonly<Record<string, unknown>> {
  const value = valueAt(yaml, path)
  if (value === undefined || value === null) return {}
  if (typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalid(yaml, path, 'must be a mapping')
}

function textAt(yaml: YamlFile, path: readonly string[]): string {
  const value = valueAt(yaml, path)
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw invalid(yaml, path, 'must be a URL')
}

/** yaml.v3 reads the words of YAML 1.1 where a boolean is wanted. */
const words: Readonly<Record<string, boolean>> = { y: true, yes: true, on: true, n: false, no: false, off: false }

function flagAt(yaml: YamlFile, path: readonly string[]): boolean | undefined {
  const value = valueAt(yaml, path)
  if (value === undefined || value === null) return undefined
  const flag = typeof value === 'string' ? words[value.toLowerCase()] : value
  if (typeof flag === 'boolean') return flag
  throw invalid(yaml, path, 'must be true or false')
}

function valueAt({ document }: YamlFile, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => {
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isMapping && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
  }, document.toJS())
}

function invalid(yaml: YamlFile, path: readonly string[], why: string): KnownError {
  const { file, line } = yaml.placeOf(path)
  return new KnownError('POLICY_INVALID', `${file}:${line}: ${path.join('.') || 'the file'} ${why}`, {
    details: { file, line },
  })
}

function duplicate(what: string, first: string, second: string): KnownError {
  return new KnownError('POLICY_INVALID', `${what} stands both in ${first} and in ${second}`, {
    hint: 'Keep it in one of the two files: the order in which registries.d is read is not defined.',
    details: { file: second, other: first },
  })
}

function unreadable(file: string, cause: unknown): KnownError {
  return new KnownError('FILE_UNREADABLE', `Cannot read ${file}`, { details: { file }, cause })
}
