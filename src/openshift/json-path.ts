/**
 * JSONPath as `kubectl` takes it: `{.spec.template.spec.containers[*].image}`, `.items[0].name`, `..image`,
 * `['a.b/c']`, `[1:3]`, `[-1]`, `[?(@.name=="x")].value`.
 *
 * Left out: unions (`['a','b']`), `range`, text around the braces and comparisons by size.
 *
 * Source: kubernetes.io "JSONPath Support"; kubernetes/client-go `util/jsonpath/parser.go`.
 */
import { KnownError } from '../errors/known-error.ts'

type Key = string | number

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'all' }
  /** It and everything below it. */
  | { readonly kind: 'descend' }
  | { readonly kind: 'slice'; readonly from?: number; readonly to?: number; readonly by: number }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'filter'; readonly path: readonly Step[]; readonly test?: Comparison }

interface Comparison {
  readonly isEqual: boolean
  readonly value: string | number | boolean
}

export interface JsonPath {
  readonly text: string
  readonly steps: readonly Step[]
}

export interface JsonMatch {
  /** Where it stands: `spec.containers[0].image`. */
  readonly path: string
  readonly value: unknown
}

/** @throws KnownError CONFIG_INVALID that says at which character, and what may stand there */
export function parseJsonPath(text: string): JsonPath {
  const opened = text.trim()
  const isBraced = opened.startsWith('{')
  if (isBraced !== opened.endsWith('}')) throw invalid(text, 'one of its braces is missing')
  const inner = isBraced ? opened.slice(1, -1) : opened
  if (/[{}]/.test(inner.replace(/'[^']*'|"[^"]*"/g, '')))
    throw invalid(text, 'only one pair of braces may stand in it; give a list of paths instead')
  const steps = parseSteps(inner.trim().replace(/^[$@]/, ''), text)
  if (steps.length === 0) throw invalid(text, 'it names no field')
  return { text, steps }
}

/** Everything in `document` that the path leads to, in the order of the document; what is not there is left out. */
export function evaluateJsonPath({ steps }: JsonPath, document: unknown): JsonMatch[] {
  return follow(steps, document).map(({ keys, value }) => ({ path: formatKeys(keys), value }))
}

/** `spec.containers[0].image`; a key that is no plain word stands in brackets and quotes. */
export function formatKeys(keys: readonly Key[]): string {
  const parts = keys.map((key) => {
    if (typeof key === 'number') return `[${key}]`
    return /^[\w-]+$/.test(key) ? `.${key}` : `['${key.replace(/['\\]/g, '\\$&')}']`
  })
  return parts.join('').replace(/^\./, '')
}

interface Found {
  readonly keys: readonly Key[]
  readonly value: unknown
}

function follow(steps: readonly Step[], document: unknown): Found[] {
  let found: Found[] = [{ keys: [], value: document }]
  for (const step of steps) found = found.flatMap((one) => [...advance(one, step)])
  return found
}

function* advance(found: Found, step: Step): Generator<Found> {
  switch (step.kind) {
    case 'descend':
      return yield* everythingIn(found)
    case 'all':
      return yield* childrenOf(found)
    case 'field':
      return yield* fieldOf(found, step.name)
    case 'index':
      return yield* sliceOf(found, { from: step.index, to: step.index === -1 ? Infinity : step.index + 1, by: 1 })
    case 'slice':
      return yield* sliceOf(found, step)
    case 'filter':
      for (const child of Array.isArray(found.value) ? childrenOf(found) : []) {
        const isKept = follow(step.path, child.value).some(({ value }) => passes(value, step.test))
        if (isKept) yield child
      }
  }
}

function* childrenOf({ keys, value }: Found): Generator<Found> {
  if (Array.isArray(value)) for (const [index, one] of value.entries()) yield { keys: [...keys, index], value: one }
  else if (isObject(value)) for (const [name, one] of Object.entries(value)) yield { keys: [...keys, name], value: one }
}

function* everythingIn(found: Found): Generator<Found> {
  yield found
  for (const child of childrenOf(found)) yield* everythingIn(child)
}

function* fieldOf({ keys, value }: Found, name: string): Generator<Found> {
  if (isObject(value) && Object.hasOwn(value, name)) yield { keys: [...keys, name], value: value[name] }
}

function* sliceOf({ keys, value }: Found, { from = 0, to = Infinity, by }: Omit<Step & { kind: 'slice' }, 'kind'>) {
  if (!Array.isArray(value)) return
  const count = value.length
  const first = from < 0 ? from + count : from
  const end = Math.min(to < 0 ? to + count : to, count)
  // An index before the first element is none, and the start of a slice is not moved.
  if (first < 0) return
  for (let index = first; index < end; index += by) yield { keys: [...keys, index], value: value[index] }
}

function passes(value: unknown, test: Comparison | undefined): boolean {
  return test === undefined || (value === test.value) === test.isEqual
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A dot in a name is written `\.`, as kubectl takes it. */
const word = /(?:\\.|[^\s.[\](){}'",?*=<>!&|\\])+/y
const patterns = {
  descend: /\.\.(?=[^.[])/y,
  all: /\.?\*|\[\s*\*\s*\]/y,
  index: /\[\s*(-?\d+)\s*\]/y,
  slice: /\[\s*(-?\d+)?\s*:\s*(-?\d+)?\s*(?::\s*(\d+)\s*)?\]/y,
  quoted: /\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]/y,
  filter:
    /\[\s*\?\s*\(\s*@((?:[^()'"<>=!]|'[^']*'|"[^"]*")*?)\s*(?:(==|!=)\s*('[^']*'|"[^"]*"|-?\d+(?:\.\d+)?|true|false)\s*)?\)\s*\]/y,
} as const

function parseSteps(inner: string, text: string): Step[] {
  const steps: Step[] = []
  const take = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at
    return pattern.exec(inner)
  }
  for (let at = 0; at < inner.length; ) {
    const read = readStep((pattern, skip = 0) => take(pattern, at + skip), text, { at, inner })
    if (read.step) steps.push(read.step)
    at += read.length
  }
  if (steps.at(-1)?.kind === 'descend') throw invalid(text, 'after .. the name of a field must stand')
  return steps
}

interface ReadStep {
  /** In characters. */
  readonly length: number
  readonly step?: Step
}

function readStep(
  take: (pattern: RegExp, skip?: number) => RegExpExecArray | null,
  text: string,
  { at, inner }: { readonly at: number; readonly inner: string },
): ReadStep {
  const descend = take(patterns.descend)
  // `..name` is `..` and then the name without a dot of its own.
  if (descend) return { length: 2, step: { kind: 'descend' } }
  const all = take(patterns.all)
  if (all) return { length: all[0].length, step: { kind: 'all' } }
  const index = take(patterns.index)
  if (index) return { length: index[0].length, step: { kind: 'index', index: Number(index[1]) } }
  const slice = take(patterns.slice)
  if (slice) return { length: slice[0].length, step: sliceStep(slice, text) }
  const quoted = take(patterns.quoted)
  if (quoted)
    return { length: quoted[0].length, step: { kind: 'field', name: unescaped(quoted[1] ?? quoted[2] ?? '') } }
  const filter = take(patterns.filter)
  if (filter) return { length: filter[0].length, step: filterStep(filter, text) }
  const skip = inner[at] === '.' ? 1 : 0
  const name = take(word, skip)
  if (name) return { length: skip + name[0].length, step: { kind: 'field', name: unescaped(name[0]) } }
  throw invalid(text, refusal(inner.slice(at)))
}

function sliceStep([, from, to, by]: RegExpExecArray, text: string): Step {
  const step = Number(by ?? 1)
  if (step === 0) throw invalid(text, 'a slice cannot go on by 0')
  return {
    kind: 'slice',
    by: step,
    ...(from !== undefined && { from: Number(from) }),
    ...(to !== undefined && { to: Number(to) }),
  }
}

function filterStep([, path = '', operator, literal]: RegExpExecArray, text: string): Step {
  const steps = parseSteps(path.trim(), text)
  if (operator === undefined || literal === undefined) return { kind: 'filter', path: steps }
  const isText = /^['"]/.test(literal)
  const value = isText ? literal.slice(1, -1) : (JSON.parse(literal) as number | boolean)
  return { kind: 'filter', path: steps, test: { isEqual: operator === '==', value } }
}

function unescaped(name: string): string {
  return name.replace(/\\(.)/g, '$1')
}

function refusal(rest: string): string {
  const shown = rest.length > 20 ? `${rest.slice(0, 20)}…` : rest
  if (rest.startsWith('[?')) return `the filter at "${shown}" is none: write [?(@.name=="value")]`
  if (rest.startsWith("['") || rest.startsWith('["')) return `at "${shown}": one name in quotes may stand in brackets`
  if (rest.startsWith('['))
    return `at "${shown}": [*], [0], [-1], [0:2], ['name'] and [?(@.name=="value")] are understood`
  return `at "${shown}" the name of a field must stand, as in .spec.containers[*].image`
}

function invalid(text: string, why: string): KnownError {
  return new KnownError('CONFIG_INVALID', `"${text}" is no JSONPath: ${why}`, { details: { path: text } })
}
