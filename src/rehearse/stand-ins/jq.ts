/**
 * `jq` where the machine has none: the three things that scripts of a bootstrap ask it for, and paths.
 *
 * Where the machine has jq, that is what the scripts run. A filter beyond these is told as unknown: it prints nothing.
 *
 * Source: jq 1.6 manual; the filters of openshift/installer `data/data/bootstrap/files/usr/local/bin`.
 */
import { KnownError } from '../../errors/known-error.ts'
import { parsedJson } from '../../errors/parsed-json.ts'
import { evaluateJsonPath, parseJsonPath } from '../../openshift/json-path.ts'

export interface JqCall {
  readonly args: readonly string[]
  /** Of its standard input, or of the one file that it is given. */
  readonly input: string
}

/** What it prints; undefined for a filter that is not known here. */
export function runJq({ args, input }: JqCall): string | undefined {
  const { filter, variables, isRaw } = parseArguments(args)
  if (input.trim() === '') return ''
  const document = parsedJson(input)
  if (filter === undefined || document === undefined) return undefined
  const results = recorded(filter, document, variables) ?? ownDigests(filter, document) ?? atPath(filter, document)
  return results
    ?.map((one) => `${isRaw && typeof one === 'string' ? one : JSON.stringify(one, undefined, 2)}\n`)
    .join('')
}

interface JqArguments {
  readonly filter: string | undefined
  readonly variables: ReadonlyMap<string, string>
  readonly isRaw: boolean
}

function parseArguments(args: readonly string[]): JqArguments {
  const variables = new Map<string, string>()
  const words: string[] = []
  let isRaw = false
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? ''
    if (word === '--arg') {
      variables.set(args[index + 1] ?? '', args[index + 2] ?? '')
      index += 2
    } else if (/^-[a-z]+$|^--/.test(word)) isRaw ||= word === '--raw-output' || /^-[a-z]*r/.test(word)
    else words.push(word)
  }
  // A second word is the file that `input` comes from.
  return { filter: words.length <= 2 ? words[0] : undefined, variables, isRaw }
}

type Results = readonly unknown[] | undefined

const entryFilter =
  /^\s*\.\s*\+=?\s*\[\s*\{((?:\s*\$\w+\s*,?)+)\}\s*\|\s*(?:reduce keys\[\] as \$k \(\.; if \.\[\$k\] == "" then del\(\.\[\$k\]\) else \. end\)|with_entries\(select\(\.value != ""\)\))\s*\]\s*$/

/** `. += [{$timestamp,$stage,…} | reduce …]`: one more entry, without what is empty (bootstrap-service-record.sh). */
function recorded(filter: string, document: unknown, variables: ReadonlyMap<string, string>): Results {
  const [, names] = entryFilter.exec(filter) ?? []
  if (names === undefined || !Array.isArray(document)) return undefined
  const own = [...names.matchAll(/\$(\w+)/g)].map(([, name = '']) => [name, variables.get(name) ?? ''] as const)
  return [[...document, Object.fromEntries(own.filter(([, value]) => value !== ''))]]
}

const digestFilter =
  /^\.\[\](?: \| )?\.Digest as \$(\w+) \| (?:\.\[\])?\.RepoDigests\[\] \| select\(contains\(\$\1\)\)$/

/** `.[].Digest as $digest | .[].RepoDigests[] | select(contains($digest))` (release-image.sh). */
function ownDigests(filter: string, document: unknown): Results {
  if (!digestFilter.test(filter.replaceAll(/\s+/g, ' ').trim())) return undefined
  const texts = (path: string) => evaluateJsonPath(parseJsonPath(path), document).map(({ value }) => String(value))
  const named = texts('{[*].RepoDigests[*]}')
  return texts('{[*].Digest}').flatMap((digest) => named.filter((one) => one.includes(digest)))
}

/** `.a.b[0]`, `.items[].c`: what is absent is null, as there. */
function atPath(filter: string, document: unknown): Results {
  const path = filter.trim()
  if (!/^(?:\.[A-Za-z_]\w*|\[\d*\]|\.\[\d*\])+$/.test(path)) return undefined
  try {
    const found = evaluateJsonPath(parseJsonPath(`{${path.replaceAll('.[', '[').replaceAll('[]', '[*]')}}`), document)
    return found.length === 0 && !path.includes('[]') ? [null] : found.map(({ value }) => value)
  } catch (error) {
    if (error instanceof KnownError) return undefined
    throw error
  }
}
