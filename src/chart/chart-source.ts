/** Charts of a repository with an index, and of this machine; those of registries are read by `registry-chart.ts`. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { KnownError } from '../errors/known-error.ts'
import type { ContentSource } from '../oci/content.ts'
import { digestOf } from '../oci/digest.ts'
import { basicAuthorization, type CredentialsProvider } from '../remote/credentials.ts'
import type { WebClient } from '../remote/web-client.ts'
import { invalidChart, maxChartBytes } from './chart-archive.ts'
import { describeChart, type FetchedChart, keep, keptChart } from './kept-charts.ts'
import { packChart } from './pack-chart.ts'
import { type IndexedChart, nameOfRepository, urlInRepository } from './repository-index.ts'

export interface ChartSources {
  readonly web: Pick<WebClient, 'read'>
  readonly registry: ChartRegistry
  /** For repositories with an index; those of registries are the registry client's own. */
  readonly credentials?: CredentialsProvider | undefined
  /** Charts are kept here. It is made where it is not there. */
  readonly directory: string
  readonly signal: AbortSignal
}

/** A registry with charts; `tags` is needed where a version is not named in full. */
export type ChartRegistry = Pick<ContentSource, 'fetchManifest' | 'fetchBlob' | 'tags'>

/**
 * A chart of a repository with an index.
 *
 * @throws KnownError CHART_INVALID, CHART_UNKNOWN, FILE_MISMATCH, WEB_ and FILE_ codes
 */
export async function fetchIndexed(repository: URL, found: IndexedChart, sources: ChartSources): Promise<FetchedChart> {
  const { name, version, digest, urls } = found
  const what = `chart ${name} ${version} of ${nameOfRepository(repository)}`
  const kept = digest && (await keptChart(digest, sources))
  if (kept) return describeChart(kept, what, sources)
  for (const address of urls) {
    const bytes = await readAddress(repository, address, { what, sources })
    if (!bytes) continue
    const actual = digestOf(bytes)
    if (digest === undefined || digest === actual) return keep(bytes, what, sources)
    throw new KnownError(
      'FILE_MISMATCH',
      `${what}: expected ${digest}, received ${actual} (${bytes.byteLength} bytes)`,
      {
        details: { chart: name, version, expected: digest, actual },
        hint: 'The index of the repository and the chart do not belong together: a mirror of it may be half updated. Run again later, or tell its owner.',
      },
    )
  }
  throw new KnownError('CHART_UNKNOWN', `${what}: its index names it, and it is not there: ${urls.join(', ')}`, {
    details: { chart: name, version, repository: nameOfRepository(repository) },
    hint: 'Ask the owner of the repository, or name another version.',
  })
}

/** The address of a chart that an index keeps in a registry; undefined for a file. */
export function registryAddress({ urls }: IndexedChart): string | undefined {
  return urls.find((address) => address.startsWith('oci://'))
}

/** The `Authorization` header for a host, out of the user's own credentials. */
export async function authorizationFor(
  url: URL,
  credentials: CredentialsProvider | undefined,
): Promise<Record<string, string>> {
  if (url.protocol === 'file:' || url.username !== '') return {}
  const found = await credentials?.find(url.host, url.pathname.replace(/^\/+|\/+$/g, ''))
  return found?.kind === 'password' ? { authorization: basicAuthorization(found.username, found.password) } : {}
}

/** @throws KnownError CHART_INVALID, FILE_UNREADABLE */
export async function readLocalChart(path: string, sources: ChartSources): Promise<FetchedChart> {
  const what = `chart ${path}`
  const status = await readable(path, stat(path))
  if (status.isDirectory()) return keep(await packChart(path, await nameInDirectory(path)), what, sources)
  if (status.size > maxChartBytes) throw invalidChart(what, `it has more than ${maxChartBytes} bytes`)
  return keep(await readable(path, readFile(path)), what, sources)
}

async function readAddress(
  repository: URL,
  address: string,
  { what, sources }: { readonly what: string; readonly sources: ChartSources },
): Promise<Buffer | undefined> {
  const { web, signal, credentials } = sources
  const url = urlInRepository(repository, address)
  const isLocal = repository.protocol === 'file:'
  const isLegal = url && (/^https?:$/.test(url.protocol) || (isLocal && url.protocol === 'file:'))
  if (!isLegal) {
    throw new KnownError('CHART_INVALID', `${what}: its index says that it is at ${address}, which is not followed`, {
      details: { url: address },
      hint: 'Charts are fetched by http and https; those of a file:// repository may also be files beside it.',
    })
  }
  if (url.origin === repository.origin && url.username === '') {
    url.username = repository.username
    url.password = repository.password
  }
  const headers = await authorizationFor(url, credentials)
  const document = await web.read(url, { what, signal, headers, isFileAllowed: isLocal, maxBytes: maxChartBytes })
  return document && Buffer.from(document.bytes)
}

async function nameInDirectory(directory: string): Promise<string> {
  const path = join(directory, 'Chart.yaml')
  const text = await readable(path, readFile(path, 'utf8'))
  const document: unknown = parse(text, { logLevel: 'error' })
  const name = typeof document === 'object' && document !== null && 'name' in document ? document.name : undefined
  if (typeof name === 'string' && /^[\w.-]+$/.test(name) && name !== '..') return name
  throw invalidChart(`chart ${directory}`, 'Chart.yaml gives it no name')
}

async function readable<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new KnownError('FILE_UNREADABLE', `${path}: this chart cannot be read: ${why}`, { details: { path }, cause })
  }
}
