/** Catalog images as `opm generate dockerfile` makes them: a base with opm, the catalog, and a cache of it. */
import { type TarEntry, tarFile } from '../src/archive/tar/ustar.ts'
import type { Descriptor } from '../src/oci/descriptor.ts'
import { mediaTypes } from '../src/oci/media-type.ts'
import { jsonBytes, type MediaTypeFamily, manifestOf, type SampleImage } from '../src/quickstart/sample-image.ts'
import { blobOf, type SampleLayer } from '../src/quickstart/sample-layer.ts'
import { makeIndex } from './image.ts'
import { makeLayer } from './tar.ts'

export interface CatalogImageOptions {
  /** Path below the folder of the catalog, and content. */
  readonly files: ReadonlyMap<string, Uint8Array | string>
  /** Default: OCI. */
  readonly mediaTypes?: MediaTypeFamily
  /** Default: amd64. */
  readonly architecture?: string
  readonly tag?: string
  /** Of the config. Default: what `opm generate dockerfile` writes. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Layers between opm and the catalog. */
  readonly below?: readonly SampleLayer[]
  /** The folder of the catalog. Default: `configs`. */
  readonly folder?: string
}

export function makeCatalogImage(options: CatalogImageOptions): SampleImage {
  const isDocker = options.mediaTypes === 'docker'
  const layerType = isDocker ? mediaTypes.dockerLayerGzip : mediaTypes.ociLayerGzip
  const { architecture = 'amd64', folder = 'configs' } = options
  const layers = [
    makeLayer(baseEntries(architecture), layerType),
    ...(options.below ?? []),
    makeLayer(catalogEntries(options.files, folder), layerType),
    makeLayer(cacheEntries, layerType),
  ]
  const config = blobOf(
    jsonBytes({
      architecture,
      os: 'linux',
      created: '2026-01-01T00:00:00Z',
      config: options.config ?? {
        User: '1001',
        Env: ['PATH=/bin'],
        Entrypoint: ['/bin/opm'],
        Cmd: ['serve', `/${folder}`, '--cache-dir=/tmp/cache'],
        Labels: { 'operators.operatorframework.io.index.configs.v1': `/${folder}`, vendor: 'sample' },
      },
      rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
      history: layers.map(() => ({ created: '2026-01-01T00:00:00Z', created_by: 'catalog' })),
    }),
    isDocker ? mediaTypes.dockerConfig : mediaTypes.ociConfig,
  )
  const manifest = manifestOf(
    {
      schemaVersion: 2,
      mediaType: isDocker ? mediaTypes.dockerManifest : mediaTypes.ociManifest,
      config: config.descriptor,
      layers: layers.map(({ descriptor }) => descriptor),
    },
    options.tag,
  )
  const descriptor: Descriptor = { ...manifest.descriptor, platform: { os: 'linux', architecture } }
  return { digest: descriptor.digest, descriptor, manifests: [manifest], blobs: [...layers, config] }
}

/** The same catalog for several architectures. */
export function makeCatalogIndex(
  options: CatalogImageOptions & { readonly architectures: readonly string[] },
): SampleImage {
  const { architectures, tag, ...rest } = options
  const children = architectures.map((architecture) => makeCatalogImage({ ...rest, architecture }))
  return makeIndex({
    children,
    ...(tag !== undefined && { tag }),
    ...(rest.mediaTypes && { mediaTypes: rest.mediaTypes }),
  })
}

function baseEntries(architecture: string): TarEntry[] {
  return [
    { name: 'bin/', type: 'directory' },
    tarFile('bin/opm', `opm for ${architecture}`),
    { name: 'tmp/', type: 'directory', mode: 0o1777 },
  ]
}

function catalogEntries(files: CatalogImageOptions['files'], folder: string): TarEntry[] {
  return [
    { name: `${folder}/`, type: 'directory' },
    ...[...files].map(([path, content]) => tarFile(`${folder}/${path}`, content)),
  ]
}

const cacheEntries: readonly TarEntry[] = [
  { name: 'tmp/', type: 'directory', mode: 0o1777 },
  { name: 'tmp/cache/', type: 'directory' },
  tarFile('tmp/cache/digest', '0123456789abcdef'),
  tarFile('tmp/cache/pogreb.v1', 'the cache of all packages'),
]
