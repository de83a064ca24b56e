/**
 * A chart as an OCI artifact, as `helm push` makes it and `helm pull oci://` reads it.
 *
 * Source: helm.sh/docs/topics/registries; helm/helm `pkg/registry/{constants,client,chart}.go`.
 */
import { KnownError } from '../errors/known-error.ts'
import type { FetchBlobOptions, RawManifest } from '../oci/content.ts'
import { type Digest, digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { isRepositoryPath, isTag } from '../oci/reference.ts'
import type { Chart } from './chart-archive.ts'

export const chartMediaTypes = {
  config: 'application/vnd.cncf.helm.config.v1+json',
  content: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
} as const

export type OpenChartBlob = (options: FetchBlobOptions) => AsyncIterable<Uint8Array>

/** What an image that is made here consists of. */
export interface ChartArtifact {
  /** One, the chart itself. */
  readonly manifests: readonly RawManifest[]
  readonly blobs: ReadonlyMap<Digest, OpenChartBlob>
}

export interface ChartFile {
  readonly chart: Chart
  /** Of the packed chart. */
  readonly digest: Digest
  /** In bytes. */
  readonly size: number
  readonly open: OpenChartBlob
}

/** The artifact: the same for the same chart, byte for byte. Unlike Helm's own it has no time of its making. */
export function chartArtifact({ chart, digest, size, open }: ChartFile): ChartArtifact {
  const config = Buffer.from(JSON.stringify(chart.metadata))
  const configDigest = digestOf(config)
  const title = {
    'org.opencontainers.image.title': chart.name,
    'org.opencontainers.image.version': chart.version,
    ...(chart.description !== undefined && { 'org.opencontainers.image.description': chart.description }),
  }
  const bytes = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: mediaTypes.ociManifest,
      config: { mediaType: chartMediaTypes.config, digest: configDigest, size: config.byteLength },
      layers: [{ mediaType: chartMediaTypes.content, digest, size }],
      annotations: title,
    }),
  )
  const descriptor = { mediaType: mediaTypes.ociManifest, digest: digestOf(bytes), size: bytes.byteLength }
  return {
    manifests: [{ descriptor, bytes }],
    blobs: new Map([
      [configDigest, bytesFrom(config)],
      [digest, open],
    ]),
  }
}

function bytesFrom(bytes: Uint8Array): OpenChartBlob {
  return async function* ({ offset = 0 }) {
    yield bytes.subarray(offset)
  }
}

/** Where a chart goes, below the target. */
export interface ChartPlace {
  readonly repository: string
  readonly tag: string
}

/**
 * `charts/NAME` and the version, with `_` for `+`, as Helm asks for it.
 *
 * @throws KnownError CHART_INVALID for a name or version that no registry takes
 */
export function chartPlace({ name, version }: Pick<Chart, 'name' | 'version'>): ChartPlace {
  const repository = `charts/${name}`
  const tag = version.replaceAll('+', '_')
  if (isRepositoryPath(repository) && isTag(tag)) return { repository, tag }
  throw new KnownError('CHART_INVALID', `The chart ${name} ${version} cannot be pushed to a registry under this name`, {
    details: { chart: name, version },
    hint: 'Registries take names in lower case, digits, . _ and -. Give the chart such a name in its Chart.yaml and pack it again.',
  })
}
