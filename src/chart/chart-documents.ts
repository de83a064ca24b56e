/**
 * What travels beside charts: which line of the configuration asked for each, and its images. On the closed side no repository
 * can be asked and nothing need be rendered.
 */
import * as z from 'zod'
import type { HelmContent } from '../config/image-set-content.ts'
import { PlatformFilter } from '../config/image-set-values.ts'
import { KnownError } from '../errors/known-error.ts'
import { isDigest } from '../oci/digest.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { chartPlace } from './chart-artifact.ts'
import {
  type ChartImage,
  type ChartSelection,
  distinct,
  type KnownChart,
  type UnreadableChart,
} from './select-charts.ts'
import { wantedCharts } from './wanted-chart.ts'

const folder = 'chart/'

const Image = z.object({
  reference: z.string().transform((text) => parseReference(text)),
  why: z.string(),
  platforms: z.array(PlatformFilter).optional(),
})

const Document = z.object({
  name: z.string(),
  version: z.string(),
  digest: z.string().refine(isDigest),
  why: z.string(),
  asked: z.array(z.string()),
  images: z.array(Image),
})

export interface ChartDocument {
  /** `chart/NAME-VERSION.json` */
  readonly name: string
  readonly bytes: Uint8Array
}

export function chartDocument({ name, version, digest, why, asked, images }: KnownChart): ChartDocument {
  const named = images.map((image) => ({ ...image, reference: formatReference(image.reference) }))
  const document = { name, version, digest, why, asked, images: named }
  return { name: `${folder}${name}-${version}.json`, bytes: Buffer.from(JSON.stringify(document)) }
}

/**
 * What the configuration asks for, out of documents and nothing else; a line that none of them answers is unreadable.
 *
 * @param options.origin where the documents are, for messages
 * @throws KnownError CHART_INVALID where one is none
 */
export function chartsFromDocuments(
  content: HelmContent,
  documents: ReadonlyMap<string, Uint8Array>,
  { cwd, origin }: { readonly cwd: string; readonly origin: string },
): ChartSelection<KnownChart> {
  const wanted = wantedCharts(content, cwd)
  const asked = new Set(wanted.map((one) => one.asked))
  const known = [...documents]
    .filter(([name]) => name.startsWith(folder))
    .map(([name, bytes]) => read(name, bytes, origin))
  const charts = known.filter((chart) => chart.asked.some((line) => asked.has(line)))
  const answered = new Set(charts.flatMap((chart) => chart.asked))
  const unreadable = wanted.filter((one) => !answered.has(one.asked)).map((one) => unanswered(one.why, origin))
  const images: ChartImage[] = charts.flatMap((chart) => chart.images)
  return { images: distinct(images), charts, unreadable, findings: [] }
}

function read(name: string, bytes: Uint8Array, origin: string): KnownChart {
  try {
    const document = Document.parse(JSON.parse(Buffer.from(bytes).toString('utf8')))
    const images = document.images.map(
      ({ platforms, ...image }): ChartImage => ({ ...image, ...(platforms && { platforms }) }),
    )
    return { ...document, digest: document.digest, images, ...chartPlace(document) }
  } catch (cause) {
    const message = `${origin}: the document ${name} does not describe a chart`
    throw new KnownError('CHART_INVALID', message, { details: { document: name, origin }, cause })
  }
}

function unanswered(why: string, origin: string): UnreadableChart {
  const error = new KnownError('CHART_UNKNOWN', `${origin} has no chart for the line "${why}" of the configuration`, {
    details: { asked: why, origin },
    hint: 'It was not mirrored, or the configuration there was another one: use the one that the archive was made with, or make a new archive.',
  })
  return { what: `helm ${why}`, error }
}
