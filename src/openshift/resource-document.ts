/** A file with one resource of Kubernetes: read with the place of what is wrong, written so that nothing changes without need. */
import { type Document, isNode, LineCounter, parseAllDocuments, stringify } from 'yaml'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'

export interface ResourceFile {
  readonly text: string
  /** Names it in messages. */
  readonly file: string
}

/** What oc-mirror says of itself, anew in every run. */
const transient: readonly string[] = ['createdAt', 'createdBy', 'oc-mirror_version']

const strings = z.record(z.string(), z.string()).nullish()

/** As far as a mirror has to know it: all else is kept as it is. */
export const Metadata = z.looseObject({
  name: z.string().optional(),
  namespace: z.string().optional(),
  annotations: strings,
  labels: strings,
})

/** The one value that is allowed, with what is there instead. */
export function exactly<const T extends string>(value: T) {
  return z.literal(value, { error: ({ input }) => `is ${JSON.stringify(input) ?? 'not there'}, not ${value}` })
}

/**
 * Undefined where the file is empty.
 *
 * @param what the kind, with its article, for messages: `a CatalogSource`
 * @throws KnownError CONFIG_INVALID with file, line and column
 */
export function parseResource<T>(source: ResourceFile, schema: z.ZodType<T>, what: string): T | undefined {
  const lines = new LineCounter()
  const options = { lineCounter: lines, prettyErrors: false, logLevel: 'error' } as const
  const parsed = parseAllDocuments(source.text, options)
  const [document, another] = Array.isArray(parsed) ? parsed.filter(({ contents }) => contents !== null) : []
  if (!document) return undefined
  const refuse = (offset: number, why: string) => invalid(source.file, { ...lines.linePos(offset), what, why })
  if (another) throw refuse(another.range[0], 'it holds several documents')
  const [error] = document.errors
  if (error) throw refuse(error.pos[0], error.message)
  const result = schema.safeParse(toPlain(document, (why) => refuse(document.range[0], why)))
  if (result.success) return result.data
  const [issue] = result.error.issues
  const path = issue?.path ?? []
  throw refuse(offsetOf(document, path), [path.join('.'), issue?.message].filter(Boolean).join(' '))
}

function toPlain(document: Document, refuse: (why: string) => KnownError): unknown {
  try {
    return document.toJS()
  } catch (error) {
    // An alias of nothing, or one that would unfold without end.
    throw error instanceof ReferenceError ? refuse(error.message) : error
  }
}

/** Of what a path leads to; where that is missing, of what it would be in. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return 0
}

function invalid(file: string, at: { line: number; col: number; what: string; why: string }): KnownError {
  const { line, col, what, why } = at
  return new KnownError('CONFIG_INVALID', `${file}:${line}:${col}: not ${what}: ${why}`, {
    details: { file, line, column: col },
    hint: 'Correct this file, or move it away: what Sallyport writes is then written anew.',
  })
}

/**
 * YAML for `oc apply -f`; the text of `previous` itself where that says the same, so that its comments and order stay.
 *
 * @param kept what `previous` says, as it was parsed
 */
export function renderResource(resource: object, previous?: { readonly text: string; readonly kept: unknown }): string {
  if (previous?.kept !== undefined && canonical(previous.kept) === canonical(resource)) return previous.text
  return stringify(resource, { lineWidth: 0 })
}

function canonical(value: unknown): string {
  return stringify(value, { lineWidth: 0, sortMapEntries: true })
}

/** The metadata of a resource that is written anew: what was there, without what oc-mirror says anew in every run. */
export function keptMetadata(
  own: { readonly name: string; readonly namespace?: string },
  kept: z.infer<typeof Metadata> | undefined,
): object {
  const { name: _, namespace: __, annotations, labels, ...further } = kept ?? {}
  const lasting = Object.entries(annotations ?? {}).filter(([name]) => !transient.includes(name))
  return {
    ...own,
    ...(lasting.length > 0 && { annotations: Object.fromEntries(lasting) }),
    ...(labels && Object.keys(labels).length > 0 && { labels }),
    ...further,
  }
}
