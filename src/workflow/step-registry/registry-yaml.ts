/** YAML as ci-tools reads it: sigs.k8s.io/yaml, which is go-yaml 2. A key that stands twice is an error. */
import {
  type Document,
  LineCounter,
  type ParseOptions,
  parseDocument,
  type Scalar,
  type ScalarTag,
  visit,
  type YAMLParseError,
} from 'yaml'
import { goScalars } from './go-scalar.ts'
import { characterFault, type OffsetFault, structureFaults } from './go-yaml-faults.ts'
import { readSimpleYaml } from './simple-yaml.ts'

/** Where something stands; line and column count from 1. */
export interface YamlPlace {
  readonly line: number
  readonly column: number
}

export interface YamlFault extends YamlPlace {
  /** In the words of go-yaml where it has words for it. */
  readonly message: string
}

function tag(name: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag {
  return { tag: `tag:yaml.org,2002:${name}`, default: true, test, resolve }
}

const plainScalars = Object.entries(goScalars).map(([name, { test, resolve }]) => tag(name, test, resolve))

const options = {
  version: '1.1',
  schema: 'failsafe',
  merge: true,
  prettyErrors: false,
  logLevel: 'error',
  customTags: (tags: unknown[]) => [...tags, ...plainScalars],
} as ParseOptions

export type YamlReading = { readonly value: unknown } | { readonly faults: readonly YamlFault[] }

/** The value of the first document of a text, or what is wrong with it. What follows is not looked at, there as here. */
export function readYaml(text: string): YamlReading {
  return readSimpleYaml(text) ?? readAnyYaml(text)
}

/** The same by the whole of YAML: five times slower, and the judge of every text that is not simple. */
export function readAnyYaml(text: string): YamlReading {
  const unreadable = characterFault(text)
  if (unreadable) return { faults: placed(text, [unreadable]) }
  const document = parseDocument(text, options)
  // go-yaml reads one document and leaves the rest.
  const errors = document.errors.filter(({ code }) => code !== 'MULTIPLE_DOCS')
  if (errors.length > 0) return { faults: faultsOf(text, errors) }
  const structure = structureFaults(document, text)
  if (structure.length > 0) return { faults: placed(text, structure) }
  if (!text.endsWith('\n')) cutLastBreak(document, text.length)
  try {
    return { value: document.toJS() }
  } catch (error) {
    // An alias of nothing, or one that unfolds without end: the parser has no type of its own for these.
    if (!(error instanceof Error)) throw error
    return { faults: [{ message: `yaml: ${error.message}`, line: 1, column: 1 }] }
  }
}

function placed(text: string, faults: readonly OffsetFault[]): readonly YamlFault[] {
  return faults.map(({ message, offset }) => {
    const before = text.slice(0, offset).split('\n')
    const line = before.length
    return { message: `yaml: line ${line}: ${message}`, line, column: (before.at(-1)?.length ?? 0) + 1 }
  })
}

/** A block at the end of a text without a last line break has none either, for go-yaml. */
function cutLastBreak(document: Document, end: number): void {
  let last: Scalar | undefined
  visit(document, {
    Scalar: (_, scalar) => {
      last = scalar
    },
  })
  const isAtEnd = last?.type?.startsWith('BLOCK_') && last.range?.[1] === end
  if (isAtEnd && typeof last?.value === 'string') last.value = last.value.replace(/\n$/, '')
}

function faultsOf(text: string, errors: readonly YAMLParseError[]): readonly YamlFault[] {
  const lines = new LineCounter()
  parseDocument(text, { ...options, lineCounter: lines })
  const first = errors.find(({ code }) => code !== 'DUPLICATE_KEY')
  return errors
    .filter((error) => error === first || error.code === 'DUPLICATE_KEY')
    .map(({ code, message, pos: [start] }) => {
      const { line, col } = lines.linePos(start)
      const key = /^["']?([^"'\s:]+)/.exec(text.slice(start, start + 200))?.[1] ?? ''
      const words = code === 'DUPLICATE_KEY' ? `key "${key}" already set in map` : message
      return { message: `yaml: line ${line}: ${words}`, line: Math.max(1, line), column: Math.max(1, col) }
    })
}

/** Places in a text that was read before; made only where there is something to complain about. */
export function yamlPlaces(text: string): (path: readonly (string | number)[]) => YamlPlace {
  const lines = new LineCounter()
  const document: Document = parseDocument(text, { ...options, lineCounter: lines })
  return (path) => {
    const { line, col } = lines.linePos(offsetOf(document, path))
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
}

/** The offset of the deepest part of `path` that the text has: of a key, or of the item of a list. */
function offsetOf(document: Document, path: readonly (string | number)[]): number {
  let [offset] = document.contents?.range ?? [0]
  let node: unknown = document.contents
  for (const step of path) {
    const items = (node as { items?: readonly unknown[] } | null)?.items ?? []
    const item =
      typeof step === 'number'
        ? items[step]
        : items.find((pair) => (pair as { key?: { value?: unknown } }).key?.value === step)
    if (item === undefined || item === null) return offset
    const { key, value } = item as { key?: unknown; value?: unknown }
    const isPair = typeof step === 'string'
    const range = ((isPair ? key : item) as { range?: readonly number[] } | undefined)?.range
    offset = range?.[0] ?? offset
    node = isPair ? value : item
  }
  return offset
}
