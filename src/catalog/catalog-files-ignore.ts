/**
 * Which files of a catalog do not belong to it, as `.indexignore` says: the patterns of .gitignore, but for some that `opm` reads
 * in its own way (operator-framework/operator-registry `alpha/declcfg/load.go`, joelanford/ignore `ignore.go`, go-git/go-git
 * `plumbing/format/gitignore/pattern.go`).
 */
import { posix } from 'node:path'

export const ignoreFileName = '.indexignore'

interface Pattern {
  /** The folder of the file that says it, as names. */
  readonly folder: readonly string[]
  readonly isInclusion: boolean
  readonly isFolderOnly: boolean
  /** Of each name in turn; several only where the pattern has a slash. */
  readonly names: readonly string[]
}

/** The rules of all files of one catalog. */
export class IgnoreRules {
  readonly #byFile = new Map<string, readonly Pattern[]>()
  #ordered: readonly Pattern[] | undefined

  /** @param path of the `.indexignore` */
  add(path: string, text: string): void {
    const directory = posix.dirname(path)
    const folder = directory === '.' ? [] : directory.split('/')
    const lines = text.split('\n').map((line) => line.trim())
    const patterns = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => parse(line, folder))
    this.#byFile.set(path, patterns)
    this.#ordered = undefined
  }

  /** True for a file that does not belong to the catalog. The rule that is said last counts. */
  excludes(path: string): boolean {
    this.#ordered ??= [...this.#byFile].toSorted(([one], [other]) => comparePaths(one, other)).flatMap(([, all]) => all)
    const names = path.split('/')
    const last = this.#ordered.findLast((pattern) => matches(pattern, names))
    return last !== undefined && !last.isInclusion
  }
}

/** As a walk meets them: name by name. */
function comparePaths(one: string, other: string): number {
  const [left, right] = [one.split('/'), other.split('/')]
  const at = left.findIndex((name, index) => name !== right[index])
  if (at < 0) return left.length - right.length
  return (left[at] ?? '') < (right[at] ?? '') ? -1 : 1
}

function parse(line: string, folder: readonly string[]): Pattern {
  const isInclusion = line.startsWith('!')
  const pattern = isInclusion ? line.slice(1) : line
  const isFolderOnly = pattern.endsWith('/')
  return { folder, isInclusion, isFolderOnly, names: (isFolderOnly ? pattern.slice(0, -1) : pattern).split('/') }
}

function matches(pattern: Pattern, path: readonly string[]): boolean {
  if (path.length <= pattern.folder.length || pattern.folder.some((name, index) => path[index] !== name)) return false
  const below = path.slice(pattern.folder.length)
  return pattern.names.length > 1 ? matchesPath(pattern, below) : matchesName(pattern, below)
}

/** A pattern without a slash is for any name on the way to the file. */
function matchesName({ names: [name = ''], isFolderOnly }: Pattern, path: readonly string[]): boolean {
  const at = path.findIndex((each) => nameMatches(name, each))
  return at >= 0 && !(isFolderOnly && at === path.length - 1)
}

function matchesPath({ names, isFolderOnly }: Pattern, path: readonly string[]): boolean {
  let at = 0
  let isMatched = false
  let isAnywhere = false
  for (const [index, name] of names.entries()) {
    if (name === '**') {
      if (index === names.length - 1) break
      isAnywhere = true
      continue
    }
    if (name === '') {
      isAnywhere = false
      continue
    }
    if (at === path.length || name.includes('**')) return false
    const found = isAnywhere ? path.findIndex((each, place) => place >= at && nameMatches(name, each)) : at
    if (!isAnywhere && !nameMatches(name, path[at] ?? '')) return false
    isAnywhere = false
    isMatched = found >= 0
    at = found < 0 ? path.length : found + 1
  }
  return isMatched && !(isFolderOnly && at === path.length)
}

/** Go's `path/filepath.Match` for one name; a pattern that it would refuse matches nothing. */
function nameMatches(pattern: string, name: string): boolean {
  let source = ''
  for (const [piece, escaped, set] of pattern.matchAll(/\\(.)|\[(\^?(?:\\.|[^\]\\])+)\]|[\s\S]/gu)) {
    if (escaped !== undefined) source += literal(escaped)
    else if (set !== undefined) source += `[${set.replace(/(?<!^)\^|\[/gu, '\\$&')}]`
    else if (piece === '*') source += '[^/]*'
    else if (piece === '?') source += '[^/]'
    else if (piece === '[' || piece === '\\') return false
    else source += literal(piece)
  }
  try {
    return new RegExp(`^${source}$`, 'u').test(name)
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
