/**
 * Charts of a registry: `oci://HOST/PATH`, one repository for each chart, its versions as tags.
 *
 * Source: helm.sh/docs/topics/registries; helm/helm `pkg/registry/{client,constants,util}.go`.
 */
import { KnownError } from '../errors/known-error.ts'
import type { FetchBlobOptions } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { type ImageManifest, parseManifest } from '../oci/manifest.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import { invalidChart, maxChartBytes } from './chart-archive.ts'
import { chartMediaTypes, type OpenChartBlob } from './chart-artifact.ts'
import type { ChartSources } from './chart-source.ts'
import { chooseVersion } from './chart-version.ts'
import { type FetchedChart, keep, keptChart } from './kept-charts.ts'

/** What Helm before 3.7 called a chart. */
const formerContent = 'application/tar+gzip'

/**
 * The repository of a chart below `oci://HOST/PATH`.
 *
 * @throws KnownError REFERENCE_INVALID
 */
export function chartReference(address: string, name?: string): Reference {
  const bare = address.replace(/^oci:\/\//, '').replace(/\/+$/, '')
  const { digest: _, tag, ...reference } = parseReference(name === undefined ? bare : `${bare}/${name}`)
  return { ...reference, ...(tag !== undefined && { tag }) }
}

/**
 * The tag of a version that may be a range, or not be named at all: then the registry is asked for its tags.
 *
 * @throws KnownError CHART_UNKNOWN
 */
export async function chooseTag(
  reference: Reference,
  version: string | undefined,
  { registry, signal }: Pick<ChartSources, 'registry' | 'signal'>,
): Promise<Reference> {
  const isExact = version !== undefined && /^v?\d+\.\d+\.\d+(?:[-+].*)?$/.test(version)
  if (isExact) return { ...reference, tag: tagOf(version) }
  const origin = `oci://${formatReference(reference)}`
  const tags = await registry.tags?.(reference, signal)
  if (!tags) {
    throw new KnownError('CHART_UNKNOWN', `${origin}: the registry does not tell which versions of this chart it has`, {
      details: { chart: formatReference(reference), version },
      hint: 'Check the name of the chart, and name its version in full in the configuration.',
    })
  }
  const name = reference.repository.split('/').at(-1) ?? ''
  // The signatures and attestations of a chart have tags too.
  const versions = tags.filter((tag) => !tag.startsWith('sha256-')).map((tag) => tag.replaceAll('_', '+'))
  return { ...reference, tag: tagOf(chooseVersion(versions, { name, version, origin })) }
}

/** @throws KnownError CHART_INVALID, CHART_UNKNOWN, and those of the registry */
export async function fetchFromRegistry(reference: Reference, sources: ChartSources): Promise<FetchedChart> {
  const { registry, signal } = sources
  const what = `chart oci://${formatReference(reference)}`
  const raw = await registry.fetchManifest(reference, signal)
  if (!raw) {
    throw new KnownError('CHART_UNKNOWN', `${what}: the registry has no such chart`, {
      details: { chart: formatReference(reference) },
      hint: 'Check the name and version: they follow oci:// as REPOSITORY/NAME, with the version as tag.',
    })
  }
  const manifest = parseManifest(raw.bytes, raw.descriptor.mediaType, formatReference(reference))
  const layer = manifest.kind === 'image' ? contentOf(manifest) : undefined
  if (manifest.kind !== 'image' || !layer) throw invalidChart(what, 'what stands there is another kind of image')
  if (layer.size > maxChartBytes) throw invalidChart(what, `it has more than ${maxChartBytes} bytes`)
  const known = await keptChart(layer.digest, sources)
  const bytes = known ?? (await collect(verified(registry.fetchBlob(reference, layer, { signal }), layer, what)))
  const fetched = await keep(bytes, what, sources)
  const open =
    (descriptor: Descriptor): OpenChartBlob =>
    (options: FetchBlobOptions) =>
      registry.fetchBlob(reference, descriptor, options)
  const blobs = new Map([manifest.config, ...manifest.layers].map((one) => [one.digest, open(one)]))
  return { ...fetched, artifact: { manifests: [raw], blobs } }
}

function contentOf({ config, layers }: ImageManifest): Descriptor | undefined {
  if (config.mediaType !== chartMediaTypes.config) return undefined
  return layers.find(({ mediaType }) => mediaType === chartMediaTypes.content || mediaType === formerContent)
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

function tagOf(version: string): string {
  return version.replaceAll('+', '_')
}
