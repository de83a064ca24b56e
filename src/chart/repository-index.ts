/**
 * `index.yaml`: what a chart repository has.
 *
 * Source: helm.sh/docs/topics/chart_repository "The index file"; helm/helm `pkg/repo/index.go`.
 */
import { parse } from 'yaml'
import * as z from 'zod'
import { nearest } from '../config/nearest.ts'
import { KnownError } from '../errors/known-error.ts'
import { type Digest, isDigest } from '../oci/digest.ts'
import type { WebClient } from '../remote/web-client.ts'
import { chooseVersion } from './chart-version.ts'

/** Large ones have tens of thousands of versions. */
const maxIndexBytes = 128 * 1024 * 1024

export interface IndexedChart {
  readonly name: string
  readonly version: string
  /** As the index has them: absolute, or relative to it. */
  readonly urls: readonly string[]
  /** Of the archive; absent where the index has none. */
  readonly digest?: Digest
  readonly isLibrary: boolean
}

export interface RepositoryIndex {
  /** For messages: the URL of the repository without what may be secret in it. */
  readonly origin: string
  readonly names: readonly string[]
  /** Every version of a chart as the index has them; none where it does not know the name. */
  versions(name: string): readonly IndexedChart[]
}

export interface IndexOptions {
  readonly web: Pick<WebClient, 'read'>
  readonly signal: AbortSignal
  /** Sent to the repository and nowhere else. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * @param repository its URL; `file:` for a directory of this machine
 * @throws KnownError CHART_INVALID where it is no index, CHART_UNKNOWN where there is none, WEB_ and FILE_ codes
 */
export async function readRepositoryIndex(repository: URL, options: IndexOptions): Promise<RepositoryIndex> {
  const { web, signal, headers = {} } = options
  const origin = nameOfRepository(repository)
  const isFileAllowed = repository.protocol === 'file:'
  const url = indexUrl(repository)
  const what = `index of the chart repository ${origin}`
  const document = await web.read(url, { what, signal, headers, isFileAllowed, maxBytes: maxIndexBytes })
  if (document) return parseRepositoryIndex(Buffer.from(document.bytes).toString('utf8'), origin)
  throw new KnownError('CHART_UNKNOWN', `${origin} is no chart repository: it has no index.yaml`, {
    details: { repository: origin },
    hint: 'Check the URL: index.yaml must be directly below it. A registry is written oci://HOST/PATH.',
  })
}

/** `https://charts.lab/stable`, for people. */
export function nameOfRepository({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`
}

/** Where a file of the repository is: an address of the index, which may be relative to it. */
export function urlInRepository(repository: URL, address: string): URL | undefined {
  const folder = new URL(repository)
  folder.pathname = `${folder.pathname.replace(/\/+$/, '')}/`
  return URL.parse(address, folder.href) ?? undefined
}

function indexUrl(repository: URL): URL {
  const url = new URL(repository)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/index.yaml`
  return url
}

const text = z.union([z.string(), z.number()]).transform(String)

const Entry = z.looseObject({
  name: z.string().nullish(),
  version: text,
  urls: z.array(z.string()).nullish(),
  digest: z.string().nullish(),
  type: z.string().nullish(),
})

/** @throws KnownError CHART_INVALID */
export function parseRepositoryIndex(content: string, origin: string): RepositoryIndex {
  const sections = content.length > sectionedLength ? sectionsOf(content) : undefined
  if (!sections) {
    const entries = entriesOf(parsed(content, origin), origin)
    return { origin, names: [...entries.keys()], versions: (name) => chartsIn(name, entries.get(name)) }
  }
  const read = (name: string) => {
    const section = sections.get(name)
    return section === undefined ? [] : chartsIn(name, entriesOf(parsed(section, origin), origin).get(name))
  }
  return { origin, names: [...sections.keys()], versions: read }
}

function chartsIn(name: string, list: unknown): IndexedChart[] {
  return Array.isArray(list) ? list.flatMap((one) => indexedChart(name, one)) : []
}

/**
 * The chart that is meant.
 *
 * @throws KnownError CHART_UNKNOWN with the nearest name or versions
 */
export function chooseChart(index: RepositoryIndex, name: string, version: string | undefined): IndexedChart {
  const { origin, names } = index
  const charts = index.versions(name)
  const [first] = charts
  if (!first) {
    const near = nearest(name, names)
    const some = names.slice(0, 10).join(', ')
    const instead =
      near === undefined
        ? `it has ${names.length} charts: ${some}${names.length > 10 ? ', …' : ''}`
        : `did you mean ${near}?`
    throw new KnownError('CHART_UNKNOWN', `${origin} has no chart ${name}; ${instead}`, {
      details: { chart: name, repository: origin, nearest: near },
    })
  }
  const versions = charts.map((chart) => chart.version)
  const chosen = chooseVersion(versions, { name, version, origin })
  return charts.find((chart) => chart.version === chosen) ?? first
}

function entriesOf(document: unknown, origin: string): ReadonlyMap<string, unknown> {
  const read = z.looseObject({ entries: z.record(z.string(), z.unknown()).nullish() }).safeParse(document)
  if (read.success) return new Map(Object.entries(read.data.entries ?? {}))
  throw invalidIndex(origin, 'it has no entries')
}

function parsed(content: string, origin: string): unknown {
  try {
    return /^\s*\{/.test(content)
      ? (JSON.parse(content) as unknown)
      : (parse(content, { logLevel: 'error' }) as unknown)
  } catch (cause) {
    throw invalidIndex(origin, cause instanceof Error ? cause.message : String(cause), cause)
  }
}

/** From this length on it takes seconds to parse all of an index, and only some of its charts are asked for. */
const sectionedLength = 1024 * 1024

/**
 * The text of each chart's entry, as an index of its own; undefined where it is not written as Helm writes it, each name with
 * an indent of two. Such a line can be nothing else: what is below a name is indented by more, or begins with a dash.
 */
function sectionsOf(content: string): ReadonlyMap<string, string> | undefined {
  const start = /^entries:[ \t]*\r?\n/m.exec(content)
  if (!start) return undefined
  const from = start.index + start[0].length
  const length = content.slice(from).search(/^[^\s#]/m)
  const body = length < 0 ? content.slice(from) : content.slice(from, from + length)
  const heads = [...body.matchAll(/^ {2}([A-Za-z0-9][\w.-]*):[ \t]*\r?$/gm)]
  const [first] = heads
  if (!first || body.search(/\S/) !== first.index + 2) return undefined
  return new Map(
    heads.map((head, at) => [
      head[1] ?? '',
      `entries:\n${body.slice(head.index, heads[at + 1]?.index ?? body.length)}`,
    ]),
  )
}

/** An entry that cannot be read, or is marked as removed, is as good as none: Helm skips it too. */
function indexedChart(name: string, raw: unknown): IndexedChart[] {
  const read = Entry.safeParse(raw)
  if (!read.success || !read.data.urls?.length) return []
  const { version, urls, digest, type } = read.data
  const known = digest == null || digest === '' ? undefined : `sha256:${digest.toLowerCase().replace(/^sha256:/, '')}`
  return [
    {
      name,
      version,
      urls,
      isLibrary: type === 'library',
      ...(known !== undefined && isDigest(known) && { digest: known }),
    },
  ]
}

function invalidIndex(origin: string, why: string, cause?: unknown): KnownError {
  return new KnownError('CHART_INVALID', `${origin}: its index.yaml is no index of charts: ${why}`, {
    details: { repository: origin },
    hint: 'Look at index.yaml with curl: a login page or a proxy may stand before the repository.',
    cause,
  })
}
