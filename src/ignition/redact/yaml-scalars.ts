/** Values of YAML documents replaced where they stand: whatever is not replaced stays as it was written. */
import { isPair, isSeq, parseAllDocuments, type Scalar, visit } from 'yaml'

/** Where a value stands: its keys from the outside, and the object or list that each of them is a key of. */
export interface ValuePlace {
  readonly keys: readonly string[]
  readonly holders: readonly unknown[]
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * @param replace gives another value, or the same
 * @returns undefined where the text is no YAML with keys
 */
export function replaceScalars(
  text: string,
  replace: (value: string, place: ValuePlace) => string,
): string | undefined {
  const documents = [...parseAllDocuments(text, { logLevel: 'silent', uniqueKeys: false, prettyErrors: false })]
  if (documents.some((document) => document.errors.length > 0)) return undefined
  const edits: Edit[] = []
  for (const document of documents) {
    const root: unknown = document.toJS({ maxAliasCount: 1000 })
    if (typeof root !== 'object' || root === null) return undefined
    visit(document, {
      Scalar(key, node, path) {
        if (key === 'key' || !node.range || node.value === null || typeof node.value === 'boolean') return
        const keys = keysOf(path, node)
        const value = typeof node.value === 'string' ? node.value : text.slice(node.range[0], node.range[1])
        const own = replace(value, { keys, holders: holdersOf(root, keys) })
        const [start, end] = node.range
        if (own !== value) edits.push({ start, end, text: written(own, node, text.slice(start, end)) })
      },
    })
  }
  edits.sort((one, other) => other.start - one.start)
  return edits.reduce((sum, { start, end, text: own }) => `${sum.slice(0, start)}${own}${sum.slice(end)}`, text)
}

function keysOf(path: readonly unknown[], node: unknown): readonly string[] {
  return path.flatMap((part, index) => {
    const child = path[index + 1] ?? node
    if (isPair(part)) return [String((part.key as Scalar | null)?.value ?? '')]
    return isSeq(part) ? [String(part.items.indexOf(child))] : []
  })
}

function holdersOf(root: unknown, keys: readonly string[]): readonly unknown[] {
  const holders: unknown[] = []
  keys.reduce<unknown>((holder, key) => {
    holders.push(holder)
    return typeof holder === 'object' && holder !== null ? (holder as Record<string, unknown>)[key] : undefined
  }, root)
  return holders
}

/** The value in the style that it had: a block stays a block. */
function written(value: string, { type }: Scalar, source: string): string {
  if (type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED') return asBlock(value, source) ?? `${JSON.stringify(value)}\n`
  if (type === 'QUOTE_SINGLE' && !value.includes('\n')) return `'${value.replaceAll("'", "''")}'`
  const isPlain =
    type === 'PLAIN' && /^[A-Za-z][\w./+=;:-]*$/.test(value.replaceAll(source.includes(',') ? ',' : '\0', ''))
  return isPlain ? value : JSON.stringify(value)
}

function asBlock(value: string, source: string): string | undefined {
  const indent = /\n([ \t]*)\S/.exec(source)?.[1] ?? ''
  const body = value.replace(/\n+$/, '')
  if (indent === '' || /^[ \t\n]/.test(body)) return undefined
  const ends = value.length - body.length
  const chomping = ['-', ''][ends] ?? '+'
  const lines = body.split('\n').map((line) => (line === '' ? '' : `${indent}${line}`))
  return `|${chomping}\n${lines.join('\n')}${'\n'.repeat(Math.max(1, ends))}`
}
