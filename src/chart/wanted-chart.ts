/** The entries of a configuration that ask for charts, each by itself. */
import { resolve } from 'node:path'
import type { ChartEntry, HelmContent } from '../config/image-set-content.ts'
import { type JsonPath, parseJsonPath } from '../openshift/json-path.ts'
import { nameOfRepository } from './repository-index.ts'

/** How the images of a chart are found. */
export interface ChartUse {
  readonly imagePaths: readonly JsonPath[]
  /** Absolute paths. */
  readonly values: readonly string[]
  /** True where the rendering with the chart's own values counts too. */
  readonly includeDefaults: boolean
  readonly platforms?: ChartEntry['platforms']
}

/** Where a chart is to be found. */
export type ChartPlaceAsked =
  | { readonly kind: 'indexed'; readonly repository: URL; readonly name: string; readonly version?: string }
  | { readonly kind: 'repository'; readonly repository: URL }
  | { readonly kind: 'registry'; readonly address: string; readonly name: string; readonly version?: string }
  | { readonly kind: 'local'; readonly path: string }

export interface WantedChart extends ChartUse {
  /** The same for the same line of a configuration, on both sides of the gap. */
  readonly asked: string
  /** For people: `helm podinfo of https://charts.lab/stable`. */
  readonly why: string
  readonly place: ChartPlaceAsked
}

/** @param cwd what relative paths are relative to */
export function wantedCharts({ repositories = [], local = [] }: HelmContent, cwd: string): WantedChart[] {
  const afar = repositories.flatMap(({ url, charts }) => {
    const name = url.startsWith('oci://') ? url.replace(/\/+$/, '') : nameOfRepository(new URL(url))
    if (charts === undefined || charts.length === 0) {
      const place = { kind: 'repository', repository: new URL(url) } as const
      return [{ asked: name, why: `all charts of ${name}`, place, imagePaths: [], values: [], includeDefaults: true }]
    }
    return charts.map((entry) => ({
      asked: `${name} ${entry.name} ${entry.version ?? ''}`.trim(),
      why: `${[entry.name, entry.version].filter(Boolean).join(' ')} of ${name}`,
      place: placeOf(url, entry),
      ...useOf(entry, cwd),
    }))
  })
  const here = local.map((entry) => ({
    asked: `local ${entry.path ?? entry.name}`,
    why: `local ${entry.path ?? entry.name}`,
    place: { kind: 'local', path: resolve(cwd, entry.path ?? entry.name) } as const,
    ...useOf(entry, cwd),
  }))
  return [...afar, ...here]
}

function placeOf(url: string, { name, version }: ChartEntry): ChartPlaceAsked {
  const chart = { name, ...(version !== undefined && { version }) }
  if (url.startsWith('oci://')) return { kind: 'registry', address: url, ...chart }
  return { kind: 'indexed', repository: new URL(url), ...chart }
}

function useOf({ imagePaths = [], values = [], includeDefaults = true, platforms }: ChartEntry, cwd: string): ChartUse {
  return {
    imagePaths: imagePaths.map(parseJsonPath),
    values: values.map((file) => resolve(cwd, file)),
    includeDefaults,
    ...(platforms?.length && { platforms }),
  }
}
