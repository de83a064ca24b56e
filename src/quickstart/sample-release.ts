/**
 * A release with the shape of a real one: some 190 component images over a few shared base layers, and a release image
 * whose top layer names them all by digest.
 *
 * Source of the shape: openshift/oc `pkg/cli/admin/release/new.go` (the payload layer is appended to the image of the
 * cluster-version operator) and openshift/cluster-version-operator `pkg/payload/payload.go` (the files in it). Nothing
 * in the images can run.
 */
import { type TarEntry, tarFile } from '../archive/tar/ustar.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { releaseTag } from '../openshift/release-tag.ts'
import { componentNames } from './component-names.ts'
import { sampleFraction } from './sample-bytes.ts'
import { type MediaTypeFamily, type SampleImage, sampleImage } from './sample-image.ts'
import { type SampleLayer, sampleLayer } from './sample-layer.ts'
import { type PayloadOptions, payloadEntries } from './sample-payload.ts'

export interface SampleReleaseOptions extends PayloadOptions {
  readonly seed: string
  /** As images name it. Default: amd64. */
  readonly architecture?: string
  /** How many component images, or their names. Default: 190. */
  readonly components?: number | readonly string[]
  /** By component: another text, another image, over the same base. */
  readonly revisions?: Readonly<Record<string, string>>
  /** By component, which is there then: files in its topmost layer, by their path from the root. */
  readonly componentFiles?: Readonly<Record<string, Readonly<Record<string, Uint8Array | string>>>>
  /** How many layers the components share. Default: 6, in two families of three. */
  readonly sharedBases?: number
  /** Size of one shared layer in bytes. Default: 1 MiB. */
  readonly sharedLayerBytes?: number
  /** Median size of a component's own layer in bytes; the sizes are spread as in a real release. Default: 64 KiB. */
  readonly layerBytes?: number
  /** Layers on top of the one that holds the release manifests. Default: 0, as `oc adm release new` makes it. */
  readonly layersAbovePayload?: number
  /** Default: docker, as Red Hat ships. */
  readonly mediaTypes?: MediaTypeFamily
}

export interface SampleComponent {
  readonly name: string
  readonly image: SampleImage
}

export interface SampleRelease {
  readonly version: string
  /** `4.18.9-x86_64`, the tag of the release image. */
  readonly tag: string
  readonly image: SampleImage
  readonly components: readonly SampleComponent[]
}

/** Where a real release is found. */
export const releaseSources = {
  registry: 'quay.io',
  images: 'openshift-release-dev/ocp-release',
  components: 'openshift-release-dev/ocp-v4.0-art-dev',
} as const

const mebibyte = 1024 * 1024

/** A release determined by `options`. Its layers are read through once, for their digests; none stays in memory. */
export function sampleRelease(options: SampleReleaseOptions): SampleRelease {
  const architecture = options.architecture ?? 'amd64'
  const tag = releaseTag(options.version, architecture)
  const families = sharedLayers(options)
  const components = namesOf(options).map((name) => ({
    name,
    image: component(name, families, options),
  }))
  return { version: options.version, tag, components, image: releaseImage(components, families, { ...options, tag }) }
}

/** More than the real names only where a test asks for more. */
function namesOf({ components = componentNames.length, componentFiles = {} }: SampleReleaseOptions): string[] {
  const names =
    typeof components === 'number'
      ? Array.from({ length: components }, (_, index) => componentNames[index] ?? `component-${index}`)
      : components
  return [...new Set([...names, ...Object.keys(componentFiles)])].sort()
}

/** Two families of images: three of four are built on the first. */
function sharedLayers(options: SampleReleaseOptions): readonly (readonly SampleLayer[])[] {
  const count = options.sharedBases ?? 6
  const layers = Array.from({ length: count }, (_, index) =>
    layer(`base-${index}`, { sizeBytes: options.sharedLayerBytes ?? mebibyte }, options),
  )
  const half = Math.ceil(count / 2)
  return [layers.slice(0, half), layers.slice(half)]
}

function component(
  name: string,
  families: readonly (readonly SampleLayer[])[],
  options: SampleReleaseOptions,
): SampleImage {
  const family = families[sampleFraction(`${options.seed}/family/${name}`) < 0.75 ? 0 : 1] ?? []
  const own = sampleFraction(`${options.seed}/layers/${name}`) < 0.5 ? ['one'] : ['one', 'two']
  const revision = options.revisions?.[name] === undefined ? '' : `/${options.revisions[name]}`
  const files = Object.entries(options.componentFiles?.[name] ?? {}).map(([path, content]) => tarFile(path, content))
  const layers = own.map((part, index) => {
    const seed = `${name}/${part}${revision}`
    const content = { sizeBytes: spread(`${name}/${part}`, options), entries: index === own.length - 1 ? files : [] }
    return layer(seed, content, options)
  })
  return sampleImage({
    layers: [...family, ...layers],
    ...imageOptions(options),
    labels: { 'io.openshift.release.operator': String(name.endsWith('-operator')), name: `openshift/ose-${name}` },
  })
}

/** Log-normal around the median (Box-Muller), as sizes of real layers are; cut at 16 times the median. */
function spread(name: string, options: SampleReleaseOptions): number {
  const u = 1 - sampleFraction(`${options.seed}/u/${name}`)
  const v = sampleFraction(`${options.seed}/v/${name}`)
  const normal = Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v)
  return Math.ceil((options.layerBytes ?? mebibyte / 16) * Math.min(16, Math.exp(0.8 * normal)))
}

interface LayerContent {
  /** Of a random file; 0 for none. */
  readonly sizeBytes: number
  readonly entries?: readonly TarEntry[]
}

function layer(name: string, content: LayerContent, options: SampleReleaseOptions): SampleLayer {
  const mediaType = options.mediaTypes === 'oci' ? mediaTypes.ociLayerGzip : mediaTypes.dockerLayerGzip
  return sampleLayer({ seed: `${options.seed}/layer/${name}`, mediaType, ...content })
}

function imageOptions(options: SampleReleaseOptions) {
  return {
    mediaTypes: options.mediaTypes ?? 'docker',
    platform: { os: 'linux', architecture: options.architecture ?? 'amd64' },
  } as const
}

function releaseImage(
  components: readonly SampleComponent[],
  families: readonly (readonly SampleLayer[])[],
  options: SampleReleaseOptions & { tag: string },
): SampleImage {
  const named = components.map(({ name, image }) => ({
    name,
    reference: componentReference(image),
    seed: `${options.seed}/${name}/${options.revisions?.[name] ?? ''}`,
  }))
  const payload = layer('payload', { sizeBytes: 0, entries: payloadEntries(named, options) }, options)
  const above = Array.from({ length: options.layersAbovePayload ?? 0 }, (_, index) =>
    layer(`above-${index}`, { sizeBytes: 1024 }, options),
  )
  const cvo = components.find(({ name }) => name === 'cluster-version-operator')
  return sampleImage({
    layers: [...(families[0] ?? []), layer('cvo', { sizeBytes: 4096 }, options), payload, ...above],
    ...imageOptions(options),
    labels: {
      'io.openshift.release': options.version,
      ...(cvo && { 'io.openshift.release.base-image-digest': cvo.image.digest }),
    },
    tag: options.tag,
  })
}

function componentReference(image: SampleImage): string {
  return `${releaseSources.registry}/${releaseSources.components}@${image.digest}`
}
