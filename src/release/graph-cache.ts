/**
 * Answers of the update graph that are kept in a workspace, where and under the names that oc-mirror v2 keeps them:
 * `hold-release/cincinnati-graph-data/<architecture>-<channel>.json`.
 */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Finding, finding } from '../errors/finding.ts'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import { writeFlushed } from '../store/staged-write.ts'
import { canonicalAnswer, describeQuery } from './graph-document.ts'
import type { GraphQuery, GraphSource } from './graph-source.ts'

/** @param workingDir `<workspace>/working-dir` */
export function graphCacheDirectory(workingDir: string): string {
  return join(workingDir, 'hold-release', 'cincinnati-graph-data')
}

export interface GraphCacheOptions {
  readonly directory: string
  readonly clock: Clock
  /** Told of every answer that is not of today because the service was out of reach. */
  readonly report: (finding: Finding) => void
}

/**
 * Keeps every answer, and gives the kept one where the service is out of reach. That a channel is unknown is kept too, as an
 * answer without releases: it must not look like an answer that is missing.
 */
export function withGraphCache(source: GraphSource, options: GraphCacheOptions): GraphSource {
  return {
    async readAnswer(query, signal) {
      const path = pathOf(options.directory, query)
      try {
        const answer = canonicalAnswer(await source.readAnswer(query, signal), describeQuery(query))
        await writeFlushed(path, answer)
        return answer
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof KnownError)) throw error
        const kept = await readKept(path)
        if (error.code === 'GRAPH_CHANNEL_UNKNOWN' && kept === undefined) await writeFlushed(path, noReleases)
        if (error.code !== 'GRAPH_UNAVAILABLE' || kept === undefined) throw error
        if (isEmpty(kept.bytes)) throw unknownThen(query, path)
        options.report(staleFinding(query, error, { path, ageMs: options.clock.now() - kept.writtenAt }))
        return kept.bytes
      }
    },
  }
}

/** Answers that were kept, and nothing else: for work without a network. */
export function keptGraphs(directory: string): GraphSource {
  return {
    async readAnswer(query) {
      const path = pathOf(directory, query)
      const kept = await readKept(path)
      if (kept !== undefined && !isEmpty(kept.bytes)) return kept.bytes
      if (kept !== undefined) throw unknownThen(query, path)
      throw new KnownError('GRAPH_CHANNEL_UNKNOWN', `${describeQuery(query)}: there is no ${path}`, {
        details: { channel: query.channel, architecture: query.architecture, file: path },
        hint: 'Ask the update service where there is a network, and carry the directory across.',
      })
    },
  }
}

const noReleases = Buffer.from('{"edges":[],"nodes":[],"version":1}\n')

function isEmpty(answer: Uint8Array): boolean {
  return noReleases.equals(answer)
}

function unknownThen({ channel, architecture }: GraphQuery, path: string): KnownError {
  return new KnownError(
    'GRAPH_CHANNEL_UNKNOWN',
    `the update service knew no channel ${channel} for ${architecture} when it was asked`,
    { details: { channel, architecture, file: path } },
  )
}

function pathOf(directory: string, { channel, architecture }: GraphQuery): string {
  return join(directory, `${architecture}-${channel.replaceAll(/[^\w.-]/g, '_')}.json`)
}

async function readKept(path: string): Promise<{ readonly bytes: Uint8Array; readonly writtenAt: number } | undefined> {
  try {
    return { bytes: await readFile(path), writtenAt: (await stat(path)).mtimeMs }
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT', 'ENOTDIR')) return undefined
    throw new KnownError('FILE_UNREADABLE', `${path}: this file cannot be read`, { details: { file: path }, cause })
  }
}

function staleFinding(
  query: GraphQuery,
  error: KnownError,
  { path, ageMs }: { readonly path: string; readonly ageMs: number },
): Finding {
  return finding({
    id: 'release.graph-from-cache',
    severity: 'warning',
    summary: `the ${describeQuery(query)} is the one kept ${age(ageMs)} ago, because the update service is out of reach`,
    evidence: error.message,
    remedy: 'Releases and risks that came since are not known. Run again once the service can be reached.',
    where: { file: path },
  })
}

function age(milliseconds: number): string {
  const hours = Math.max(0, milliseconds) / 3_600_000
  if (hours < 1) return 'less than an hour'
  if (hours < 48) return `${Math.floor(hours)} hour${hours < 2 ? '' : 's'}`
  return `${Math.floor(hours / 24)} days`
}
