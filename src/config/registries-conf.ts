/**
 * Finds and reads registries.conf and its drop-ins, as podman does on this machine.
 *
 * The main file is the first of: the one named on the command line, `CONTAINERS_REGISTRIES_CONF`, the user's, the
 * system's. Where the user's is read, the system's files are not. Naming a main file does not turn the drop-ins off:
 * those of the system and of the user are read after it, unless another folder is named.
 *
 * Source: containers/image `pkg/sysregistriesv2/system_registries_v2.go:newConfigWrapperWithHomeDir, dropInConfigs`.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { parseRegistriesConf } from '../registries/parse.ts'
import { mergeRegistriesConf, noRegistriesConf, type RegistriesConf } from '../registries/registries-conf.ts'

export interface RegistriesConfOptions {
  /** The file named on the command line; it must exist. */
  readonly path?: string | undefined
  /** Read instead of all other folders with drop-ins. */
  readonly dropInDir?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Default: /etc/containers */
  readonly systemDir?: string
}

export interface LoadedRegistriesConf {
  readonly conf: RegistriesConf
  /** What was read, in this order. */
  readonly files: readonly string[]
}

/**
 * No file at all is no error: every image is then read from where its name says.
 *
 * @throws KnownError REGISTRIES_CONF_INVALID; FILE_UNREADABLE, also for a named file that does not exist
 */
export async function loadRegistriesConf(options: RegistriesConfOptions): Promise<LoadedRegistriesConf> {
  const { main, isNamed, dropInDirs } = whereToLook(options)
  const files: string[] = []
  const confs: RegistriesConf[] = []
  const mainText = await readText(main, isNamed)
  if (mainText !== undefined) files.push(main)
  const mainConf = mainText === undefined ? noRegistriesConf : parseRegistriesConf(mainText, main)
  for (const path of (await Promise.all(dropInDirs.map(dropIns))).flat()) {
    const text = await readText(path, false)
    // It was there a moment ago when the folder was listed.
    if (text === undefined) continue
    files.push(path)
    confs.push(parseRegistriesConf(text, path, { isDropIn: true }))
  }
  return { conf: mergeRegistriesConf(mainConf, confs), files }
}

interface Places {
  readonly main: string
  /** True where the main file must exist. */
  readonly isNamed: boolean
  readonly dropInDirs: readonly string[]
}

function whereToLook({ path, dropInDir, env, systemDir = '/etc/containers' }: RegistriesConfOptions): Places {
  const home = env['HOME']
  const userDir = home === undefined || home === '' ? undefined : join(home, '.config', 'containers')
  const userFile = userDir === undefined ? undefined : join(userDir, 'registries.conf')
  const userDropIns = userDir === undefined ? [] : [join(userDir, 'registries.conf.d')]
  const systemDropIns = join(systemDir, 'registries.conf.d')
  const named = path ?? (env['CONTAINERS_REGISTRIES_CONF'] || undefined)
  const dropInDirs = dropInDir === undefined ? [systemDropIns, ...userDropIns] : [dropInDir]
  if (named !== undefined) return { main: named, isNamed: true, dropInDirs }
  if (userFile !== undefined && existsSync(userFile))
    return { main: userFile, isNamed: false, dropInDirs: dropInDir === undefined ? userDropIns : dropInDirs }
  return { main: join(systemDir, 'registries.conf'), isNamed: false, dropInDirs }
}

async function dropIns(dir: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(dir, { withFileTypes: true })
    const names = entries
      .filter((entry) => !entry.isDirectory() && entry.name.endsWith('.conf'))
      .map(({ name }) => name)
    return names.sort().map((name) => join(dir, name))
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return []
    throw unreadable(dir, error)
  }
}

async function readText(path: string, isNamed: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (!isNamed && hasSystemCode(error, 'ENOENT')) return undefined
    throw unreadable(path, error)
  }
}

function unreadable(path: string, cause: unknown): KnownError {
  return new KnownError('FILE_UNREADABLE', `Cannot read registries configuration ${path}`, {
    details: { file: path },
    cause,
  })
}
