/**
 * From the charts of a configuration to images: what the charts name, and the charts themselves as artifacts.
 *
 * The closed side can ask no repository and need render nothing: what was found on the connected side travels as documents.
 */
import { join } from 'node:path'
import { chartDocument, chartsFromDocuments } from '../chart/chart-documents.ts'
import type { HelmProgram } from '../chart/render.ts'
import {
  type ChartImage,
  type ChartSelection,
  type KnownChart,
  type SelectedChart,
  selectCharts,
  type UnreadableChart,
} from '../chart/select-charts.ts'
import type { HelmContent } from '../config/image-set-content.ts'
import { type MirrorTarget, tagFor, targetRepository } from '../mirror/destination.ts'
import { type MadeImage, madeRegistry } from '../mirror/made-content.ts'
import type { SelectedImage, Selection, UnreadableImage } from '../mirror/selection.ts'
import type { Workspace } from '../mirror/workspace.ts'
import type { ContentSource } from '../oci/content.ts'
import { digestOf, hexOf } from '../oci/digest.ts'
import type { Reference } from '../oci/reference.ts'
import type { CredentialsProvider } from '../remote/credentials.ts'
import type { WebClient } from '../remote/web-client.ts'
import type { Documents } from './archive-documents.ts'
import { keepChart } from './kept-made.ts'

/** What charts are fetched and rendered with. */
export interface ChartTools {
  readonly web: WebClient
  /** For repositories with an index. */
  readonly credentials?: CredentialsProvider | undefined
  readonly helm: HelmProgram
}

export interface ChartOptions {
  readonly target: MirrorTarget
  readonly workspace: Workspace
  readonly source: ContentSource
  readonly cwd: string
  /** Absent where the charts were fetched on the other side; `documents` say what was found there. */
  readonly tools?: ChartTools | undefined
  readonly documents?: Documents | undefined
  readonly signal: AbortSignal
}

export interface ChartImages extends Pick<Selection, 'images' | 'unreadable' | 'findings'> {
  readonly made: readonly MadeImage[]
  /** For the other side. */
  readonly documents: Documents
}

/** What is wrong with single charts is in the result. @throws KnownError DISK_FULL, CHART_INVALID for a document that is none */
export async function selectChartImages(content: HelmContent | undefined, options: ChartOptions): Promise<ChartImages> {
  if (!content) return { images: [], made: [], unreadable: [], findings: [], documents: new Map() }
  const { tools, documents = new Map(), cwd, workspace, source, signal, target } = options
  if (!tools) return chosen(chartsFromDocuments(content, documents, { cwd, origin: 'the archive' }), target)
  const directory = join(workspace.state, 'charts')
  const selection = await selectCharts(content, { ...tools, registry: source, directory, cwd, signal })
  const made = selection.charts.map(madeChart)
  for (const chart of made) await keepChart(workspace, chart)
  return { ...chosen(selection, target), made }
}

function chosen(
  { images, charts, unreadable, findings }: ChartSelection<KnownChart>,
  target: MirrorTarget,
): ChartImages {
  return {
    images: [...charts.map((chart) => chartAsImage(chart, target)), ...images.map((image) => helmImage(image, target))],
    made: [],
    unreadable: unreadable.map((one) => unreadableChart(one, target)),
    findings,
    documents: new Map(charts.map(chartDocument).map(({ name, bytes }) => [name, bytes])),
  }
}

function helmImage({ reference, why, platforms }: ChartImage, target: MirrorTarget): SelectedImage {
  const isNamed = reference.tag !== undefined || reference.digest !== undefined
  const source = isNamed ? reference : { ...reference, tag: 'latest' }
  const destination = { ...targetRepository(target, source.repository), tag: tagFor(source, 'other') }
  return { source, class: 'helm', destination, why, ...(platforms?.length && { platforms }) }
}

function chartAsImage(chart: KnownChart, target: MirrorTarget): SelectedImage {
  const { repository, tag } = chart
  const destination = { ...targetRepository(target, repository), tag }
  return { source: madeReference(chart), class: 'helm', destination, why: chart.why }
}

function madeChart(chart: SelectedChart): MadeImage {
  return { reference: madeReference(chart), manifests: chart.manifests, blobs: chart.blobs }
}

function madeReference({ repository, tag }: Pick<KnownChart, 'repository' | 'tag'>): Reference {
  return { registry: madeRegistry, repository, tag }
}

/** What stands for a chart, or a line of the configuration, of which nothing more is known. */
function unreadableChart({ what, error }: UnreadableChart, target: MirrorTarget): UnreadableImage {
  const place = { repository: 'charts/unreadable', tag: hexOf(digestOf(what)).slice(0, 12) }
  const destination = { ...targetRepository(target, place.repository), tag: place.tag }
  return { image: { source: madeReference(place), class: 'helm', destination, why: what }, error }
}
