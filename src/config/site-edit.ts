/** Changes one field of a `sallyport.yaml`; comments, order and everything else stay to the letter where they can. */
import { isCollection, isMap, isScalar, parseDocument, stringify } from 'yaml'
import { KnownError } from '../errors/known-error.ts'
import { loadSite } from './site-configuration.ts'
import { openYaml, type YamlFile, type YamlSource } from './yaml-document.ts'
import { nodeAt } from './yaml-nodes.ts'

export interface FieldChange {
  /** `cluster.computeReplicas`, `cluster.networking.machineNetwork[0].cidr` */
  readonly field: string
  /** YAML: a text, a number, `[a, b]`, `{file: x}`. */
  readonly value: string
}

/**
 * The text with the changes. It loads.
 *
 * @throws InvalidConfiguration where the file would not load with them; KnownError USAGE where a change is none
 */
export function editSite(source: YamlSource, changes: readonly FieldChange[]): string {
  const text = changes.reduce((before, change) => changed({ ...source, text: before }, change), source.text)
  loadSite({ ...source, text })
  return text
}

function changed(source: YamlSource, { field, value }: FieldChange): string {
  const path = pathOf(field)
  const parsed = parsedValue(field, value)
  const file = openYaml(source)
  return replacedInPlace(file, { path, parsed }) ?? addedTo(file, { field, path, parsed })
}

interface ParsedChange {
  readonly path: readonly (string | number)[]
  readonly parsed: unknown
}

/** Where a plain value takes the place of another, only its letters change. */
function replacedInPlace({ contents, source }: YamlFile, { path, parsed }: ParsedChange): string | undefined {
  const node = nodeAt(contents, path)
  const [start, end] = node?.range ?? []
  const isPlain = isScalar(node) && (node.type === 'PLAIN' || node.type?.startsWith('QUOTE_'))
  if (!isPlain || start === undefined || end === undefined || start === end) return undefined
  if (typeof parsed === 'object' && parsed !== null) return undefined
  const written = stringify(parsed, { lineWidth: 0 }).trimEnd()
  if (written.includes('\n')) return undefined
  return source.text.slice(0, start) + written + source.text.slice(end)
}

function addedTo(
  { document, contents, source }: YamlFile,
  { field, path, parsed }: ParsedChange & { field: string },
): string {
  for (const length of path.keys()) {
    const above = path.slice(0, length)
    const node = nodeAt(contents, above)
    const isEmpty = isScalar(node) && node.value === null
    if (isEmpty) document.deleteIn(above)
    else if (node !== undefined && !isCollection(node))
      throw usage(`--set ${field}: ${above.join('.')} is a plain value, and has no fields`)
  }
  const parent = nodeAt(contents, path.slice(0, -1))
  if (isMap(parent) && parent.items.length === 0) parent.flow = false
  document.setIn(path, document.createNode(parsed))
  return document.toString({ lineWidth: 0, indentSeq: isSeqIndented(source.text) })
}

/** As most of the file has it. */
function isSeqIndented(text: string): boolean {
  return !/^( *)[^\s#-][^\n]*:\n\1- /m.test(text)
}

function pathOf(field: string): (string | number)[] {
  if (!/^[\w-]+(?:\.[\w-]+|\[\d+\])*$/.test(field))
    throw usage(
      `--set ${field}: this names no field; write it as cluster.computeReplicas or cluster.networking.machineNetwork[0].cidr`,
    )
  return [...field.matchAll(/([\w-]+)|\[(\d+)\]/g)].map(([, name, index]) => name ?? Number(index))
}

function parsedValue(field: string, value: string): unknown {
  const document = parseDocument(value, { prettyErrors: false, logLevel: 'error' })
  const [error] = document.errors
  if (error) throw usage(`--set ${field}: the value is no YAML: ${error.message}`)
  return document.toJS()
}

function usage(message: string): KnownError {
  return new KnownError('USAGE', message)
}
