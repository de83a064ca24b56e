/** The images of a chart: out of what it renders to, with each set of values that is asked for. */
import { parse } from 'yaml'
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import type { Chart } from './chart-archive.ts'
import { type FoundImage, findImages } from './find-images.ts'
import type { FetchedChart } from './kept-charts.ts'
import { chooseKubeVersion } from './kube-version.ts'
import { type HelmProgram, renderChart } from './render.ts'
import type { ChartUse } from './wanted-chart.ts'

export interface ChartImages {
  readonly images: readonly FoundImage[]
  readonly findings: readonly Finding[]
  /** Why renderings are missing, so that images may be missing too. */
  readonly errors: readonly KnownError[]
}

interface Options {
  readonly helm: HelmProgram
  /** Helm's homes are made here. */
  readonly directory: string
  readonly signal: AbortSignal
}

/**
 * What cannot be rendered keeps nothing back that can: the other renderings, and what the chart itself says of its images.
 *
 * @throws what is no fault of the chart
 */
export async function imagesOfChart(fetched: FetchedChart, use: ChartUse, options: Options): Promise<ChartImages> {
  const { chart, path } = fetched
  if (chart.isLibrary || !chart.hasTemplates) return { images: [], findings: [], errors: [] }
  const origin = `chart ${chart.name} ${chart.version}`
  const valueSets = [
    ...(use.includeDefaults || use.values.length === 0 ? [[]] : []),
    ...(use.values.length > 0 ? [use.values] : []),
  ]
  const { kubeVersion, findings } = chooseKubeVersion(chart, options.helm.kubeVersion)
  const found: ChartImages[] = [{ images: [], findings, errors: [] }]
  for (const values of valueSets) {
    try {
      const { directory, signal, helm } = options
      const text = await renderChart({ what: origin, path, kubeVersion, values, directory, signal }, helm)
      found.push({ ...findImages(text, { origin, imagePaths: use.imagePaths }), errors: [] })
    } catch (error) {
      options.signal.throwIfAborted()
      if (!(error instanceof KnownError) || !/^HELM_/.test(error.code)) throw error
      found.push({ images: [], findings: [], errors: [error] })
    }
  }
  const isWhole = found.every(({ errors }) => errors.length === 0)
  return union(isWhole ? found : [...found, declaredImages(chart, origin)])
}

function union(parts: readonly ChartImages[]): ChartImages {
  const images = new Map<string, FoundImage>()
  for (const image of parts.flatMap((part) => part.images)) {
    const name = formatReference(image.reference)
    if (!images.has(name)) images.set(name, image)
  }
  const findings = new Map(parts.flatMap((part) => part.findings).map((one) => [one.summary, one]))
  const errors = new Map(parts.flatMap((part) => part.errors).map((one) => [one.message, one]))
  return { images: [...images.values()], findings: [...findings.values()], errors: [...errors.values()] }
}

/** Annotations in which publishers list images: that of Artifact Hub, and Bitnami's older one. */
const imageAnnotations = ['artifacthub.io/images', 'images']

/** What stands in annotations is no proof that there is nothing else, so it only stands in where rendering is impossible. */
function declaredImages(chart: Chart, origin: string): ChartImages {
  const images = declaredBy(chart)
  if (images.length === 0) return { images, findings: [], errors: [] }
  const some = finding({
    id: 'chart.images-partial',
    severity: 'warning',
    summary: `${origin}: ${images.length} images are known from annotations in its Chart.yaml; there may be others`,
    evidence: images.map(({ reference }) => formatReference(reference)).join(', '),
    remedy: 'Have it rendered: see the error of this chart.',
  })
  return { images, findings: [some], errors: [] }
}

/** Those of the charts within it are not asked: this chart may give them other images, or leave them out. */
function declaredBy(chart: Chart): FoundImage[] {
  return imageAnnotations.flatMap((name) => {
    const place = `Chart.yaml, annotation ${name}`
    return listIn(chart.annotations[name]).flatMap((text) => readable(text, place))
  })
}

function listIn(text: string | undefined): string[] {
  try {
    const list: unknown = text === undefined ? [] : parse(text, { logLevel: 'error' })
    if (!Array.isArray(list)) return []
    return list.flatMap((one: unknown) => {
      const image = typeof one === 'object' && one !== null && 'image' in one ? one.image : undefined
      return typeof image === 'string' ? [image] : []
    })
  } catch {
    // An annotation is free text: what is no list says nothing of images.
    return []
  }
}

function readable(text: string, place: string): FoundImage[] {
  try {
    const reference = parseReference(text)
    const isBare = reference.tag === undefined && reference.digest === undefined
    return [{ reference: isBare ? { ...reference, tag: 'latest' } : reference, place }]
  } catch (error) {
    if (error instanceof KnownError) return []
    throw error
  }
}
