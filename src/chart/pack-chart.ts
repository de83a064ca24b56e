/**
 * Packs the directory of a chart as `helm package` does, but so that the same files give the same bytes: in the order of
 * their names, without times and owners, compressed by no version of zlib in particular.
 *
 * Source: helm/helm `pkg/chartutil/save.go`, `internal/ignore/rules.go`.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { storedGzip } from '../archive/tar/stored-gzip.ts'
import { tarFile, writeTar } from '../archive/tar/ustar.ts'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import { invalidChart, maxChartBytes } from './chart-archive.ts'

/**
 * @param name of the chart: its directory in the archive
 * @throws KnownError CHART_INVALID where it is too large, FILE_UNREADABLE
 */
export async function packChart(directory: string, name: string): Promise<Buffer> {
  const isIgnored = ignoreRules(await ignoreFile(directory))
  const paths = (await filesBelow(directory, '', isIgnored)).sort()
  const entries = []
  let size = 0
  for (const path of paths) {
    const bytes = await readable(join(directory, path), readFile(join(directory, path)))
    size += bytes.byteLength
    if (size > maxChartBytes)
      throw invalidChart(
        directory,
        `it has more than ${maxChartBytes} bytes; name what does not belong to it in .helmignore`,
      )
    entries.push(tarFile(`${name}/${path}`, bytes))
  }
  return Buffer.concat([...storedGzip(writeTar(entries))])
}

async function filesBelow(root: string, folder: string, isIgnored: Ignores): Promise<string[]> {
  const names = await readable(join(root, folder), readdir(join(root, folder)))
  const found: string[] = []
  for (const name of names) {
    const path = folder === '' ? name : `${folder}/${name}`
    if (isIgnored(path, false)) continue
    // As Helm: links of the machine that packs are followed.
    const status = await readable(join(root, path), stat(join(root, path)))
    if (status.isDirectory() && isIgnored(path, true)) continue
    if (status.isDirectory()) found.push(...(await filesBelow(root, path, isIgnored)))
    else if (status.isFile()) found.push(path)
  }
  return found
}

async function ignoreFile(directory: string): Promise<string> {
  try {
    return await readFile(join(directory, '.helmignore'), 'utf8')
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return ''
    throw unreadable(join(directory, '.helmignore'), error)
  }
}

async function readable<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    throw unreadable(path, error)
  }
}

function unreadable(path: string, cause: unknown): KnownError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new KnownError('FILE_UNREADABLE', `${path}: this file cannot be read: ${why}`, { details: { path }, cause })
}

type Ignores = (path: string, isDirectory: boolean) => boolean

/** The last rule that a path matches decides; templates that begin with a dot are always left out. */
function ignoreRules(text: string): Ignores {
  const lines = `${text}\ntemplates/.?*`.split('\n').map((line) => line.trim())
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#')).map(ruleOf)
  return (path, isDirectory) => {
    const deciding = rules.findLast((rule) => rule.matches(path, isDirectory))
    return deciding !== undefined && !deciding.isNegated
  }
}

function ruleOf(line: string): { readonly isNegated: boolean; readonly matches: Ignores } {
  const isNegated = line.startsWith('!')
  const pattern = isNegated ? line.slice(1) : line
  const isForDirectories = pattern.endsWith('/')
  const bare = pattern.replace(/\/$/, '')
  const glob = globPattern(bare.replace(/^\//, ''))
  // A pattern with a slash is of the whole path, else of the name alone.
  const subject = (path: string) => (bare.includes('/') ? path : basename(path))
  return {
    isNegated,
    matches: (path, isDirectory) => (isDirectory || !isForDirectories) && glob.test(subject(path)),
  }
}

/** Go's `filepath.Match`. */
function globPattern(glob: string): RegExp {
  const source = glob.replace(/\[[^\]]+\]|[*?]|[.+^${}()|\\[\]]/g, (part) => {
    if (part === '*') return '[^/]*'
    if (part === '?') return '[^/]'
    return part.length > 1 ? part : `\\${part}`
  })
  return new RegExp(`^${source}$`)
}
