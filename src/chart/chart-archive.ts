/**
 * What is in a chart: its metadata and the charts within it, read out of its archive and never unpacked to disk.
 *
 * Source: helm.sh/docs/topics/charts "The Chart File Structure"; helm/helm `pkg/chart/loader/archive.go` for the limits.
 */
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { parse } from 'yaml'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'

/** Of a chart as it travels. */
export const maxChartBytes = 32 * 1024 * 1024
/** As Helm's `MaxDecompressedChartSize`. */
const maxUnpackedBytes = 100 * 1024 * 1024
/** Charts within charts. */
const maxDepth = 10

const text = z.union([z.string(), z.number()]).transform(String)

const Dependency = z.looseObject({
  name: text,
  version: text.nullish(),
  repository: z.string().nullish(),
  alias: z.string().nullish(),
})

const Metadata = z.looseObject({
  apiVersion: text.nullish(),
  name: z.string().min(1),
  version: text,
  appVersion: text.nullish(),
  description: z.string().nullish(),
  type: z.string().nullish(),
  kubeVersion: z.string().nullish(),
  annotations: z.record(z.string(), z.unknown()).nullish(),
  dependencies: z.array(Dependency).nullish(),
})

export interface ChartDependency {
  readonly name: string
  /** What it is called in this chart. */
  readonly alias?: string
  readonly version?: string
}

export interface Chart {
  readonly name: string
  readonly version: string
  readonly appVersion?: string
  readonly description?: string
  /** True for a chart that is only used by others, and cannot be installed. */
  readonly isLibrary: boolean
  readonly annotations: Readonly<Record<string, string>>
  readonly dependencies: readonly ChartDependency[]
  /** Charts in `charts/`, packed or not. */
  readonly subcharts: readonly Chart[]
  /** True where there is anything to render, in this chart or in one within it. */
  readonly hasTemplates: boolean
  /** The versions of Kubernetes that it is for. */
  readonly kubeVersion?: string
  /** Chart.yaml, as it is. */
  readonly metadata: Readonly<Record<string, unknown>>
}

/**
 * @param origin names the chart in messages
 * @throws KnownError CHART_INVALID
 */
export async function readChart(bytes: Uint8Array, origin: string): Promise<Chart> {
  return readPacked(bytes, { origin, depth: 0, budget: { bytes: maxUnpackedBytes } })
}

export function invalidChart(origin: string, why: string, cause?: unknown): KnownError {
  return new KnownError('CHART_INVALID', `${origin}: this is no Helm chart that can be used: ${why}`, {
    details: { chart: origin },
    cause,
  })
}

interface Reading {
  readonly origin: string
  readonly depth: number
  /** What may still be unpacked, by this chart and all within it. */
  readonly budget: { bytes: number }
}

async function readPacked(bytes: Uint8Array, reading: Reading): Promise<Chart> {
  if (reading.depth > maxDepth)
    throw invalidChart(reading.origin, `it has charts within charts, more than ${maxDepth} deep`)
  const files = await filesOf(unpacked(bytes, reading), reading)
  const roots = [...new Set([...files.keys()].map((path) => path.split('/', 1)[0] ?? ''))]
  const root = roots.find((name) => files.has(`${name}/Chart.yaml`))
  if (root === undefined) throw invalidChart(reading.origin, 'it has no Chart.yaml in its directory')
  return chartOf(below(files, root), reading)
}

function unpacked(bytes: Uint8Array, { origin, budget }: Reading): Buffer {
  try {
    const tar = gunzipSync(bytes, { maxOutputLength: Math.max(1, budget.bytes) })
    budget.bytes -= tar.byteLength
    return tar
  } catch (cause) {
    const isTooLarge = cause instanceof RangeError
    const why = isTooLarge ? `unpacked it has more than ${maxUnpackedBytes} bytes` : 'it is not compressed with gzip'
    throw invalidChart(origin, why, cause)
  }
}

type Files = ReadonlyMap<string, Buffer>

/** Only files count; a name that leads out of the chart, or a link, is refused as Helm refuses it. */
async function filesOf(tar: Buffer, { origin }: Reading): Promise<Files> {
  const files = new Map<string, Buffer>()
  const entries = extract()
  Readable.from([tar]).pipe(entries)
  try {
    for await (const entry of entries) {
      const { name, type = 'file' } = entry.header
      if (type === 'file' || type === 'contiguous-file') files.set(plainPath(name, origin), await bytesOf(entry))
      else if (type === 'symlink' || type === 'link') throw invalidChart(origin, `${name} in it is a link`)
      else entry.resume()
    }
  } catch (cause) {
    if (cause instanceof KnownError) throw cause
    throw invalidChart(
      origin,
      `its archive is broken: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    )
  }
  return files
}

function plainPath(name: string, origin: string): string {
  const path = name.replace(/^(?:\.\/)+/, '')
  const isPlain = !/^\/|\\|^[A-Za-z]:/.test(path) && !path.split('/').some((part) => part === '..' || part === '')
  if (!isPlain) throw invalidChart(origin, `the name "${name}" in it leads out of the chart`)
  return path
}

async function bytesOf(entry: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of entry) chunks.push(chunk as Uint8Array)
  return Buffer.concat(chunks)
}

function below(files: Files, folder: string): Files {
  const prefix = `${folder}/`
  return new Map(
    [...files].flatMap(([path, bytes]) => (path.startsWith(prefix) ? [[path.slice(prefix.length), bytes]] : [])),
  )
}

async function chartOf(files: Files, reading: Reading): Promise<Chart> {
  const { origin } = reading
  const document = yamlOf(files, 'Chart.yaml', origin)
  const read = Metadata.safeParse(document)
  if (!read.success) {
    const [issue] = read.error.issues
    throw invalidChart(origin, `in Chart.yaml ${issue?.path.join('.') || 'everything'}: ${issue?.message}`)
  }
  const { name, version, appVersion, description, type, kubeVersion, annotations, dependencies } = read.data
  const subcharts = await subchartsOf(files, reading)
  const own = [...files.keys()].some((path) => path.startsWith('templates/') || path.startsWith('crds/'))
  return {
    name,
    version,
    ...(appVersion != null && { appVersion }),
    ...(description != null && { description }),
    ...(kubeVersion != null && kubeVersion !== '' && { kubeVersion }),
    isLibrary: type === 'library',
    annotations: textsOf(annotations ?? {}),
    dependencies: (dependencies ?? requirementsOf(files, origin)).map(dependencyOf),
    subcharts,
    hasTemplates: own || subcharts.some(({ hasTemplates }) => hasTemplates),
    metadata: document as Readonly<Record<string, unknown>>,
  }
}

/** Of charts with `apiVersion: v1`. */
function requirementsOf(files: Files, origin: string): z.infer<typeof Dependency>[] {
  if (!files.has('requirements.yaml')) return []
  const read = z
    .looseObject({ dependencies: z.array(Dependency).nullish() })
    .safeParse(yamlOf(files, 'requirements.yaml', origin))
  return read.data?.dependencies ?? []
}

function dependencyOf({ name, alias, version }: z.infer<typeof Dependency>): ChartDependency {
  return { name, ...(alias != null && { alias }), ...(version != null && { version }) }
}

async function subchartsOf(files: Files, { origin, depth, budget }: Reading): Promise<Chart[]> {
  const charts: Chart[] = []
  const inner = below(files, 'charts')
  const folders = new Set(
    [...inner.keys()].filter((path) => path.includes('/')).map((path) => path.split('/', 1)[0] ?? ''),
  )
  for (const folder of folders) {
    // As Helm: what is hidden, or prepared for later, is no chart.
    if (/^[._]/.test(folder) || !inner.has(`${folder}/Chart.yaml`)) continue
    if (depth >= maxDepth) throw invalidChart(origin, `it has charts within charts, more than ${maxDepth} deep`)
    charts.push(
      await chartOf(below(inner, folder), { origin: `${origin}, charts/${folder}`, depth: depth + 1, budget }),
    )
  }
  for (const [path, bytes] of inner)
    if (!path.includes('/') && path.endsWith('.tgz'))
      charts.push(await readPacked(bytes, { origin: `${origin}, charts/${path}`, depth: depth + 1, budget }))
  return charts
}

function yamlOf(files: Files, path: string, origin: string): unknown {
  const content = files.get(path)
  if (!content) throw invalidChart(origin, `it has no ${path}`)
  try {
    return parse(content.toString('utf8'), { logLevel: 'error', maxAliasCount: 1000 }) as unknown
  } catch (cause) {
    throw invalidChart(origin, `${path} is no YAML: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  }
}

function textsOf(record: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}
