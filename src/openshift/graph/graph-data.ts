/**
 * What an update service computes its answers from: the files of openshift/cincinnati-graph-data (README.md, schema 1.2 at most).
 */
import * as semver from 'semver'
import { LineCounter, parseDocument } from 'yaml'
import * as z from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { compileBlockedVersions } from './blocked-versions.ts'
import type { UpdateRisk } from './update-graph.ts'

export interface BlockedEdges {
  /** `blocked-edges/4.13.4-MultiNetworkAttachmentsWhereaboutsVersion.yaml` */
  readonly file: string
  /** The release that they lead to; with `+ARCHITECTURE` only the image of that architecture. */
  readonly to: string
  /** Matches versions with their architecture: `4.12.3+amd64`. */
  readonly from: RegExp
  /** Known: the edges stay, with this risk. Unknown: there are no such edges. */
  readonly risk?: UpdateRisk
}

export interface GraphData {
  /** Of the schema: `1.1.0`. */
  readonly schemaVersion: string
  /** Versions by the name of the channel, as the file lists them; some with `+ARCHITECTURE`. */
  readonly channels: ReadonlyMap<string, readonly string[]>
  readonly blockedEdges: readonly BlockedEdges[]
  /** Further metadata by version, for releases that lack it in their image. */
  readonly rawMetadata: ReadonlyMap<string, Readonly<Record<string, string>>>
}

const Version = z.string().refine((text) => semver.valid(text) !== null, { error: 'is no semantic version' })
const Channel = z.object({ name: z.string().min(1), versions: z.array(Version).nullish() })
const Blocked = z.object({ to: Version, from: z.string() })
const Conditional = z.object({
  to: Version,
  from: z.string(),
  url: z.string(),
  name: z.string().min(1),
  message: z.string(),
  matchingRules: z.array(z.object({ type: z.string() })),
})
const RawMetadata = z.record(Version, z.record(z.string(), z.string()))

/**
 * Reads the files. Others than those of the schema are passed over.
 *
 * @param files text by path: `channels/stable-4.18.yaml`, `blocked-edges/…`, `raw/metadata.json`, `version`
 * @throws KnownError GRAPH_INVALID with the file and, in YAML, the line
 */
export function parseGraphData(files: ReadonlyMap<string, string>): GraphData {
  const sorted = [...files].map(([path, text]) => [path.replace(/^\.?\//, ''), text] as const).toSorted(byPath)
  const inFolder = (folder: string) =>
    sorted.flatMap(([path, text]) => (path.startsWith(`${folder}/`) && path.endsWith('.yaml') ? [{ path, text }] : []))
  const named = (name: string) => sorted.find(([path]) => path === name)?.[1]
  const raw = named('raw/metadata.json')
  return {
    schemaVersion: schemaVersion(named('version')),
    channels: readChannels(inFolder('channels')),
    blockedEdges: inFolder('blocked-edges').map(readBlockedEdges),
    rawMetadata: new Map(raw === undefined ? [] : Object.entries(parseRaw(raw))),
  }
}

interface DataFile {
  readonly path: string
  readonly text: string
}

function byPath([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : Number(a > b)
}

function schemaVersion(text: string | undefined): string {
  if (text === undefined) throw invalid('version', 'the file is missing')
  const version = text.trim()
  if (semver.parse(version)?.major !== 1)
    throw invalid('version', `schema ${JSON.stringify(version)} is not understood, 1.x is`)
  return version
}

function readChannels(files: readonly DataFile[]): ReadonlyMap<string, readonly string[]> {
  const channels = new Map<string, readonly string[]>()
  for (const file of files) {
    const { name, versions } = readYaml(file).as(Channel)
    if (channels.has(name)) throw invalid(file.path, `the channel ${name} is in another file already`)
    channels.set(name, versions ?? [])
  }
  return channels
}

function readBlockedEdges(file: DataFile): BlockedEdges {
  const yaml = readYaml(file)
  const { to, from } = yaml.as(Blocked)
  const edges = { file: file.path, to, from: yaml.compile('from', from) }
  if (!yaml.hasAny(['url', 'name', 'message', 'matchingRules'])) return edges
  const { url, name, message, matchingRules } = yaml.as(Conditional)
  const isEvery = matchingRules.some(({ type }) => type === 'Always')
  return { ...edges, risk: { name, message: message.trim(), url, ...(isEvery && { everyCluster: true }) } }
}

function readYaml(file: DataFile) {
  const lines = new LineCounter()
  const document = parseDocument(file.text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const [error] = document.errors
  if (error) throw invalid(`${file.path}:${lines.linePos(error.pos[0]).line}`, error.message)
  const place = (path: readonly PropertyKey[]) => `${file.path}:${lineOf(document, lines, path)}`
  return {
    as<T>(schema: z.ZodType<T>): T {
      const result = schema.safeParse(toPlain(document, place([])))
      if (result.success) return result.data
      const [issue] = result.error.issues
      throw invalid(place(issue?.path ?? []), [issue?.path.join('.'), issue?.message].filter(Boolean).join(': '))
    },
    compile(field: string, pattern: string): RegExp {
      try {
        return compileBlockedVersions(pattern)
      } catch (cause) {
        throw invalid(place([field]), `${field}: ${JSON.stringify(pattern)}: ${(cause as Error).message}`, cause)
      }
    },
    hasAny: (fields: readonly string[]) => fields.some((field) => document.has(field)),
  }
}

/** No published file has an alias, and aliases can unfold without end. */
function toPlain(document: ReturnType<typeof parseDocument>, place: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 })
  } catch (cause) {
    throw cause instanceof ReferenceError ? invalid(place, 'aliases are not allowed', cause) : cause
  }
}

/** The line of the innermost value that is there. */
function lineOf(document: ReturnType<typeof parseDocument>, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node = document.getIn(path.slice(0, depth), true)
    const start =
      typeof node === 'object' && node !== null && 'range' in node ? (node.range as number[] | null)?.[0] : undefined
    if (start !== undefined) return lines.linePos(start).line
  }
  return 1
}

function parseRaw(text: string): z.infer<typeof RawMetadata> {
  try {
    return RawMetadata.parse(JSON.parse(text))
  } catch (cause) {
    const why =
      cause instanceof z.ZodError ? `${cause.issues[0]?.path.join('.')}: ${cause.issues[0]?.message}` : 'it is not JSON'
    throw invalid('raw/metadata.json', why, cause)
  }
}

function invalid(place: string, why: string, cause?: unknown): KnownError {
  return new KnownError('GRAPH_INVALID', `${place}: ${why}`, {
    details: { place },
    hint: 'This is no graph data that an update service can use. Fetch it anew, or correct the file.',
    cause,
  })
}
