/** The directory of charts: each packed one lies there under its digest, and is not fetched a second time. */
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Digest, digestOf } from '../oci/digest.ts'
import { ifThere } from '../store/presence.ts'
import { writeStaged } from '../store/staged-write.ts'
import { type Chart, readChart } from './chart-archive.ts'
import type { ChartArtifact, OpenChartBlob } from './chart-artifact.ts'

interface Keeping {
  /** It is made where it is not there. */
  readonly directory: string
}

export interface FetchedChart {
  readonly chart: Chart
  /** Of the packed chart. */
  readonly digest: Digest
  /** In bytes. */
  readonly size: number
  /** The packed chart on this machine. */
  readonly path: string
  /** As it is in the registry that it came from: carried unchanged, so that its digest and its signatures still count. */
  readonly artifact?: ChartArtifact
}

/** Reads a packed chart, and lays it down under its digest. @throws KnownError CHART_INVALID, DISK_FULL */
export async function keep(bytes: Buffer, what: string, keeping: Keeping): Promise<FetchedChart> {
  const described = await describeChart(bytes, what, keeping)
  if (await keptChart(described.digest, keeping)) return described
  await writeStaged(described.path, (file) => file.writeFile(bytes))
  return described
}

/** Reads a packed chart. @throws KnownError CHART_INVALID */
export async function describeChart(bytes: Buffer, what: string, { directory }: Keeping): Promise<FetchedChart> {
  const digest = digestOf(bytes)
  const chart = await readChart(bytes, what)
  return { chart, digest, size: bytes.byteLength, path: join(directory, fileName(digest)) }
}

/** What is there from an earlier run, where it is still what its name says. */
export async function keptChart(digest: Digest, { directory }: Keeping): Promise<Buffer | undefined> {
  const bytes = await ifThere(readFile(join(directory, fileName(digest))))
  return bytes && digestOf(bytes) === digest ? bytes : undefined
}

/** Helm knows a packed chart by the ending. */
function fileName(digest: Digest): string {
  return `${digest.replace(':', '-')}.tgz`
}

/** The bytes of a chart that lies there. */
export function openKept(path: string): OpenChartBlob {
  return ({ offset = 0, signal }) =>
    createReadStream(path, { start: offset, ...(signal && { signal }) }) as AsyncIterable<Uint8Array>
}
