/**
 * How a catalog image is started, and what is stale in it once its catalog is another.
 *
 * A catalog image holds, beside the catalog, what `opm` made of it beforehand: its cache. `opm serve --cache-dir` checks on
 * its start that both belong together and ends where they do not, or where there is no cache (operator-framework/operator-registry
 * `cmd/opm/serve/serve.go`: `--cache-enforce-integrity` is on wherever `--cache-dir` is given). So the cache goes, and so do
 * the flags: without them `opm` makes a cache of its own under /tmp, which every user can write to.
 */

/** Where the catalog is in the image (operator-framework/operator-registry `pkg/containertools/labelreader.go`). */
export const configsLabel = 'operators.operatorframework.io.index.configs.v1'

export interface ImageCommand {
  readonly entrypoint?: readonly string[] | undefined
  readonly command?: readonly string[] | undefined
}

export interface ServedCommand extends ImageCommand {
  /** Absolute paths of what is stale, beside the catalog itself. */
  readonly caches: readonly string[]
}

/** Where `opm` and all who follow its documentation put the cache. */
const usualCache = '/tmp/cache'
const cacheFlag = /^--cache-(?:dir|only|enforce-integrity)(?:=(.*))?$/s
/** The same inside the argument of a shell. */
const cacheFlagInText = /\s--cache-(?:(dir)(?:=|\s+)("[^"]*"|'[^']*'|\S+)|(?:only|enforce-integrity)(?:=\S+)?)/g

/** The command without the flags of a cache that is gone. */
export function withoutCache({ entrypoint, command }: ImageCommand, directory: string): ServedCommand {
  const caches = new Set([usualCache])
  const served = {
    entrypoint: entrypoint && withoutFlags(entrypoint, caches),
    command: command && withoutFlags(command, caches),
  }
  return { ...served, caches: [...caches].filter((path) => isRemovable(path, directory)) }
}

function withoutFlags(words: readonly string[], caches: Set<string>): string[] {
  const kept: string[] = []
  let isValue = false
  for (const word of words) {
    const flag = cacheFlag.exec(word)
    if (isValue) caches.add(word)
    else if (flag === null) kept.push(textWithoutFlags(word, caches))
    else if (word.startsWith('--cache-dir=')) caches.add(flag[1] ?? '')
    isValue = !isValue && word === '--cache-dir'
  }
  return kept
}

function textWithoutFlags(word: string, caches: Set<string>): string {
  return word.replace(cacheFlagInText, (_flag, isDirectory?: string, value = '') => {
    if (isDirectory !== undefined) caches.add(value.replace(/^(["'])(.*)\1$/, '$2'))
    return ''
  })
}

/**
 * A cache in a folder of its own can go with it. One that is spread in a folder of the system stays, and does no harm without
 * the flag; one in the catalog goes with the catalog.
 */
function isRemovable(path: string, directory: string): boolean {
  const steps = path.split('/').slice(1)
  const isPlain = path.startsWith('/') && steps.every((step) => step !== '' && step !== '.' && step !== '..')
  if (!isPlain || `${directory}/`.startsWith(`${path}/`) || path.startsWith(`${directory}/`)) return false
  return steps.length > 1 || path === '/cache'
}
