/** From the charts of a configuration to what is to be mirrored: their images, and the charts themselves. */
import type { ChartEntry, HelmContent } from '../config/image-set-content.ts'
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { type ChartArtifact, type ChartPlace, chartArtifact, chartPlace } from './chart-artifact.ts'
import { imagesOfChart } from './chart-images.ts'
import { authorizationFor, type ChartSources, fetchIndexed, readLocalChart, registryAddress } from './chart-source.ts'
import { type FetchedChart, openKept } from './kept-charts.ts'
import { chartReference, chooseTag, fetchFromRegistry } from './registry-chart.ts'
import type { HelmProgram } from './render.ts'
import { chooseChart, type IndexedChart, type RepositoryIndex, readRepositoryIndex } from './repository-index.ts'
import { type WantedChart, wantedCharts } from './wanted-chart.ts'

export interface SelectChartsOptions extends ChartSources {
  /** What relative paths are relative to. */
  readonly cwd: string
  readonly helm: HelmProgram
}

export interface ChartImage {
  readonly reference: Reference
  /** For people: `helm podinfo 6.0.0: Deployment of podinfo/templates/deployment.yaml, spec.template.spec.containers[0].image`. */
  readonly why: string
  readonly platforms?: ChartEntry['platforms']
}

/** A chart as both sides of the gap know it. */
export interface KnownChart extends ChartPlace {
  readonly name: string
  readonly version: string
  /** Of its manifest. */
  readonly digest: Digest
  /** For people: which line of the configuration asks for it. */
  readonly why: string
  /** The lines of configurations that ask for it, in the form of `WantedChart.asked`. */
  readonly asked: readonly string[]
  readonly images: readonly ChartImage[]
}

export interface SelectedChart extends KnownChart, ChartArtifact {}

/** A line of the configuration, or one of its charts, that is not carried out, or not in full. */
export interface UnreadableChart {
  readonly what: string
  readonly error: KnownError
}

export interface ChartSelection<Chart = SelectedChart> {
  /** Of all charts; the same image once for each set of platforms. */
  readonly images: readonly ChartImage[]
  readonly charts: readonly Chart[]
  readonly unreadable: readonly UnreadableChart[]
  readonly findings: readonly Finding[]
}

/** Fetches and renders what the configuration asks for. What is wrong with single charts is in the result. */
export async function selectCharts(content: HelmContent, options: SelectChartsOptions): Promise<ChartSelection> {
  const indexes = new Map<string, Promise<RepositoryIndex>>()
  const readIndex = (repository: URL) => {
    const known = indexes.get(repository.href) ?? indexOf(repository, options)
    indexes.set(repository.href, known)
    return known
  }
  const unreadable: UnreadableChart[] = []
  const failed = (what: string) => (error: unknown) => {
    options.signal.throwIfAborted()
    // Other charts, and images, do not wait for this one.
    if (!(error instanceof KnownError) || !isOfChart(error)) throw error
    unreadable.push({ what: `helm ${what}`, error })
    return []
  }
  const found = await mapConcurrently(wantedCharts(content, options.cwd), 4, async (wanted) => {
    const places = await expand(wanted, readIndex).catch(failed(wanted.why))
    return mapConcurrently(places, 2, async ({ what, fetch }) => {
      const [fetched] = await fetch(options).then((one) => [one], failed(what))
      return fetched ? [await usedChart(fetched, wanted, options)] : []
    })
  })
  return joined(found.flat(2), unreadable)
}

interface Fetchable {
  readonly what: string
  readonly fetch: (sources: ChartSources) => Promise<FetchedChart>
}

/** The charts that a line stands for: one, or all of a repository. */
async function expand(
  { place, why }: WantedChart,
  readIndex: (repository: URL) => Promise<RepositoryIndex>,
): Promise<Fetchable[]> {
  switch (place.kind) {
    case 'local':
      return [{ what: why, fetch: (sources) => readLocalChart(place.path, sources) }]
    case 'registry':
      return [
        {
          what: why,
          fetch: (sources) => fetchTagged(chartReference(place.address, place.name), place.version, sources),
        },
      ]
    case 'indexed': {
      const chart = chooseChart(await readIndex(place.repository), place.name, place.version)
      return [fetchable(place.repository, chart, why)]
    }
    case 'repository': {
      const index = await readIndex(place.repository)
      const charts = index.names.flatMap((name) => index.versions(name)).filter(({ isLibrary }) => !isLibrary)
      return charts.map((chart) =>
        fetchable(place.repository, chart, `${chart.name} ${chart.version} of ${index.origin}`),
      )
    }
  }
}

function fetchable(repository: URL, chart: IndexedChart, what: string): Fetchable {
  const address = registryAddress(chart)
  if (address === undefined) return { what, fetch: (sources) => fetchIndexed(repository, chart, sources) }
  const reference = chartReference(address)
  return {
    what,
    fetch: (sources) => fetchTagged(reference, reference.tag === undefined ? chart.version : undefined, sources),
  }
}

async function fetchTagged(
  reference: Reference,
  version: string | undefined,
  sources: ChartSources,
): Promise<FetchedChart> {
  const tagged = reference.tag === undefined ? await chooseTag(reference, version, sources) : reference
  return fetchFromRegistry(tagged, sources)
}

async function indexOf(repository: URL, { web, signal, credentials }: ChartSources): Promise<RepositoryIndex> {
  return readRepositoryIndex(repository, { web, signal, headers: await authorizationFor(repository, credentials) })
}

interface UsedChart {
  readonly chart: SelectedChart | undefined
  readonly images: readonly ChartImage[]
  readonly findings: readonly Finding[]
  readonly unreadable: readonly UnreadableChart[]
}

async function usedChart(fetched: FetchedChart, wanted: WantedChart, options: SelectChartsOptions): Promise<UsedChart> {
  const { chart } = fetched
  const what = `helm ${chart.name} ${chart.version}`
  const { images: found, findings, errors } = await imagesOfChart(fetched, wanted, options)
  const images = found.map(
    ({ reference, place }): ChartImage => ({
      reference,
      why: `${what}: ${place}`,
      ...(wanted.platforms && { platforms: wanted.platforms }),
    }),
  )
  const unreadable = errors.map((error) => ({ what, error }))
  try {
    const artifact = fetched.artifact ?? chartArtifact({ ...fetched, open: openKept(fetched.path) })
    const { digest } = rootOf(artifact).descriptor
    const { name, version } = chart
    const why = `helm ${wanted.why}`
    const selected = { ...chartPlace(chart), ...artifact, name, version, digest, why, asked: [wanted.asked], images }
    return { chart: selected, images, findings, unreadable }
  } catch (unnamed) {
    if (!(unnamed instanceof KnownError)) throw unnamed
    return { chart: undefined, images, findings, unreadable: [...unreadable, { what, error: unnamed }] }
  }
}

function rootOf({ manifests: [root] }: ChartArtifact) {
  if (root) return root
  throw new KnownError('CHART_INVALID', 'A chart without a manifest cannot be carried')
}

/** The same chart is asked for by several lines; two different ones cannot have the same place at the target. */
function joined(found: readonly UsedChart[], failures: readonly UnreadableChart[]): ChartSelection {
  const charts = new Map<string, SelectedChart>()
  const unreadable = [...failures, ...found.flatMap((one) => one.unreadable)]
  for (const { chart } of found) {
    if (!chart) continue
    const place = `${chart.repository}:${chart.tag}`
    const other = charts.get(place)
    if (other && other.digest !== chart.digest) unreadable.push({ what: chart.why, error: collision(chart, other) })
    else charts.set(place, other ? merged(other, chart) : chart)
  }
  return {
    images: distinct(found.flatMap(({ images }) => images)),
    charts: [...charts.values()],
    unreadable,
    findings: [...new Map(found.flatMap(({ findings }) => findings).map((one) => [one.summary, one])).values()],
  }
}

function merged(one: SelectedChart, other: SelectedChart): SelectedChart {
  return {
    ...one,
    asked: [...new Set([...one.asked, ...other.asked])],
    images: distinct([...one.images, ...other.images]),
  }
}

function collision(chart: SelectedChart, other: SelectedChart): KnownError {
  const message = `${chart.why} and ${other.why} are two different charts, and both would be stored as ${chart.repository}:${chart.tag}; the first one is carried`
  return new KnownError('CHART_INVALID', message, {
    details: { chart: chart.name, version: chart.version },
    hint: 'Take one of the two out of the configuration, or give one of them another version in its Chart.yaml.',
  })
}

/** The same image, wanted for the same platforms, once. */
export function distinct(images: readonly ChartImage[]): ChartImage[] {
  const key = ({ reference, platforms }: ChartImage) =>
    `${formatReference(reference)} ${JSON.stringify(platforms ?? [])}`
  const first = new Map<string, ChartImage>()
  for (const image of images) if (!first.has(key(image))) first.set(key(image), image)
  return [...first.values()]
}

function isOfChart({ code }: KnownError): boolean {
  return /^(?:CHART|HELM|WEB|FILE|REGISTRY|MANIFEST|BLOB|REFERENCE)_/.test(code)
}
