/** Charts as `helm package` makes them, and a repository with an index that serves them. */
import { gzipSync } from 'node:zlib'
import { type TarEntry, tarFile, writeTar } from '../src/archive/tar/ustar.ts'
import { digestOf } from '../src/oci/digest.ts'
import type { ScriptedWeb } from './scripted-web.ts'

export interface ChartParts {
  readonly name: string
  readonly version: string
  /** More fields of Chart.yaml. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** By path within the chart. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
}

/** A packed chart. */
export function makeChart({ name, version, metadata = {}, files = {} }: ChartParts): Buffer {
  const chart = JSON.stringify({ apiVersion: 'v2', name, version, ...metadata })
  const all = { 'Chart.yaml': chart, ...files }
  return packEntries(Object.entries(all).map(([path, content]) => tarFile(`${name}/${path}`, content)))
}

export function packEntries(entries: Iterable<TarEntry>): Buffer {
  return gzipSync(Buffer.concat([...writeTar(entries)]))
}

/** A template of a pod whose image is a value of the chart. */
export const podTemplate = `apiVersion: v1
kind: Pod
metadata: { name: {{ .Release.Name }} }
spec:
  containers:
  - { name: main, image: {{ .Values.image | quote }} }
`

interface ServedChart extends ChartParts {
  readonly bytes?: Uint8Array
  /** Instead of that of the chart. */
  readonly digest?: string
  /** Instead of the file beside the index. */
  readonly urls?: readonly string[]
}

/** Puts charts and their index below `/stable` of `web`, and gives the URL of the repository. */
export function serveCharts(web: ScriptedWeb, charts: readonly ServedChart[]): string {
  const entries: Record<string, unknown[]> = {}
  for (const chart of charts) {
    const { name, version, bytes = makeChart(chart), digest = digestOf(bytes).slice('sha256:'.length), urls } = chart
    const file = `${name}-${version}.tgz`
    web.files.set(`/stable/${file}`, bytes)
    const listed = { apiVersion: 'v2', name, version, digest, urls: urls ?? [file], ...chart.metadata }
    entries[name] = [...(entries[name] ?? []), listed]
  }
  web.files.set('/stable/index.yaml', Buffer.from(JSON.stringify({ apiVersion: 'v1', entries })))
  return `${web.url}/stable`
}
