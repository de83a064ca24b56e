/**
 * Graph data: which releases, channels and known risks the update service of a disconnected cluster builds its graph from.
 *
 * Source: openshift/cincinnati-graph-data; where it is to be had: openshift/oc-mirror `internal/pkg/release/const.go:graphURL`.
 */
import { readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { Readable } from 'node:stream'
import { type LayerEntry, readLayer } from '../archive/tar/layer-files-read.ts'
import { type TarEntry, tarFile } from '../archive/tar/ustar.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import type { WebClient } from '../remote/web-client.ts'
import { ifThere } from '../store/presence.ts'
import { type Workspace, writeWhole } from './workspace.ts'

const publicUrl = 'https://api.openshift.com/api/upgrades_info/graph-data'

/** The graph data of today has 0.1 MB, unpacked 1.1 MB in 1,800 files. */
const limits = { packedBytes: 64 * 1024 * 1024, bytes: 64 * 1024 * 1024, entries: 100_000 } as const

export interface GraphData {
  /** A tar archive, as a rule compressed with gzip. */
  readonly bytes: Uint8Array
  /** Where it is from, for messages. */
  readonly origin: string
}

export interface GraphDataOptions {
  readonly web: WebClient
  /** UPDATE_URL_OVERRIDE. */
  readonly override?: string | undefined
  readonly workspace: Workspace
  readonly signal: AbortSignal
  /** Told where the graph data of an earlier run is taken, because there is no other. */
  readonly report: (finding: Finding) => void
}

/** Where graph data is to be asked for; undefined where an override does not tell. */
export function graphDataUrl(override?: string): URL | undefined {
  if (override === undefined || override === '') return new URL(publicUrl)
  const url = URL.canParse(override) ? new URL(override) : undefined
  const path = url && /^(.*?)(?:\/v1)?\/graph\/?$/.exec(url.pathname)?.[1]
  if (!url || path === undefined || !/^https?:$/.test(url.protocol)) return undefined
  return new URL(`${url.origin}${path}/graph-data`)
}

/**
 * Brings the graph data into the workspace, where oc-mirror has it too. What is there already is used where the service is out of
 * reach, or has none: few update services but the public one do. So it can also be carried there by hand.
 *
 * @throws KnownError GRAPH_UNAVAILABLE
 */
export async function bringGraphData(options: GraphDataOptions): Promise<GraphData> {
  const { override, workspace, signal, report } = options
  const file = join(workspace.root, 'graph-preparation', 'cincinnati-graph-data.tar.gz')
  const url = graphDataUrl(override)
  const asked = url ? await ask(url, options) : `UPDATE_URL_OVERRIDE (${override}) does not tell where graph data is`
  if (typeof asked !== 'string') {
    await writeWhole(file, asked.bytes)
    return asked
  }
  signal.throwIfAborted()
  const bytes = await ifThere(readFile(file))
  if (!bytes) throw unavailable(asked, file)
  report(keptFinding(asked, file))
  return { bytes, origin: file }
}

/** The graph data, or why there is none. */
async function ask(url: URL, { web, signal }: GraphDataOptions): Promise<GraphData | string> {
  const origin = url.href
  try {
    const document = await web.read(url, { what: 'the graph data', signal, maxBytes: limits.packedBytes })
    return document ? { bytes: document.bytes, origin } : `there is none at ${origin}`
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof KnownError) return error.message
    throw error
  }
}

function unavailable(why: string, file: string): KnownError {
  return new KnownError('GRAPH_UNAVAILABLE', `No graph data for the graph image: ${why}`, {
    details: { file },
    hint: `Take ${publicUrl} from where it can be reached, put it there as ${file}, and run again; or write graph: false.`,
  })
}

function keptFinding(why: string, file: string): Finding {
  return finding({
    id: 'release.graph-data-from-workspace',
    severity: 'warning',
    summary: `the graph image is made from the graph data that the workspace has: ${why}`,
    remedy: 'Releases and risks that came since are not in it. Run again once the service can be reached.',
    where: { file },
  })
}

/**
 * The entries of a layer that holds the graph data below `directory`: sorted, with modes that every user may read, and with
 * nothing of when and by whom they were packed. What lies in one directory, or deeper, is taken out of it.
 *
 * @param directory relative to the root of the image
 * @throws KnownError GRAPH_DATA_INVALID
 */
export async function graphDataEntries(data: GraphData, directory: string): Promise<TarEntry[]> {
  const found = await readTree(data)
  const root = rootOf([...found.keys()])
  if (root === undefined) throw invalid(data, 'it has no channels/*.yaml')
  const outside = [...found].find(([path, content]) => content !== undefined && !path.startsWith(root))
  if (outside) throw invalid(data, `it has ${outside[0]} beside ${root}`)
  if (!found.has(`${root}version`)) throw invalid(data, 'it has no file version')
  const within = new Map(
    [...found].flatMap(([path, content]) => (path.startsWith(root) ? [[path.slice(root.length), content]] : [])),
  )
  const directories = new Set([...within].flatMap(([path, content]) => directoriesOf(path, content === undefined)))
  const entries = [
    ...[...directories].map((path): TarEntry => ({ name: `${posix.join(directory, path)}/`, type: 'directory' })),
    ...[...within].flatMap(([path, content]) => (content ? [tarFile(posix.join(directory, path), content)] : [])),
  ]
  return entries.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
}

/** Files with their content, directories without. */
async function readTree(data: GraphData): Promise<Map<string, Buffer | undefined>> {
  const { bytes, origin } = data
  const found = new Map<string, Buffer | undefined>()
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b
  const mediaType = isPacked ? mediaTypes.ociLayerGzip : mediaTypes.ociLayerTar
  const layer = { mediaType, digest: digestOf(bytes), size: bytes.byteLength }
  let left: number = limits.bytes
  const visit = async ({ path, kind, content }: LayerEntry) => {
    if (kind !== 'file' && kind !== 'directory') throw invalid(data, `${path} is neither a file nor a directory`)
    if (found.size >= limits.entries) throw invalid(data, `it has more than ${limits.entries} entries`)
    const chunks: Uint8Array[] = []
    for await (const chunk of kind === 'file' ? content : []) {
      left -= chunk.byteLength
      if (left < 0) throw invalid(data, `unpacked it has more than ${limits.bytes} bytes`)
      chunks.push(chunk)
    }
    if (path !== '' && path !== '.') found.set(path, kind === 'file' ? Buffer.concat(chunks) : undefined)
  }
  try {
    await readLayer({ origin, open: () => Readable.from([bytes], { objectMode: false }) }, layer, visit)
  } catch (error) {
    if (!(error instanceof KnownError) || error.code === 'GRAPH_DATA_INVALID') throw error
    throw invalid(data, error.message, error)
  }
  return found
}

/** What comes before `channels/` and everything else; the shortest, where there are several. */
function rootOf(paths: readonly string[]): string | undefined {
  const roots = paths.flatMap((path) => /^((?:.*\/)?)channels\/[^/]+\.yaml$/.exec(path)?.[1] ?? [])
  return roots.toSorted((a, b) => a.length - b.length)[0]
}

/** The directories that lead to a path, the outermost (`.`) first; its own where it is one. */
function directoriesOf(path: string, isDirectory: boolean): string[] {
  const own = isDirectory ? [path] : []
  const parent = posix.dirname(path)
  return parent === '.' ? ['.', ...own] : [...directoriesOf(parent, true), ...own]
}

function invalid({ origin }: GraphData, why: string, cause?: unknown): KnownError {
  return new KnownError('GRAPH_DATA_INVALID', `${origin} is no graph data: ${why}`, {
    details: { origin },
    cause,
  })
}
