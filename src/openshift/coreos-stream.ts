/**
 * Stream metadata of CoreOS: which files and cloud images machines are started from.
 *
 * Three forms are read: stream metadata as `openshift-install coreos print-stream-json` prints it and Fedora CoreOS
 * publishes it (coreos/stream-metadata-go `stream/stream.go`), the same inside the ConfigMap `coreos-bootimages` of a
 * release (openshift/installer `hack/build-coreos-manifest.go`), and `rhcos.json` of releases before 4.8. What is not known
 * is passed over; what is known must be right, since machines are started from it.
 */
import { parseDocument } from 'yaml'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import type { BootFile, BootImage, CoreosStream } from './boot-image.ts'
import { BuildMetadata, imagesOfBuild, Sha256 } from './coreos-build.ts'

const Url = z.url({ protocol: /^https?$/ })
const Artifact = z.object({
  location: Url,
  sha256: Sha256,
  'uncompressed-sha256': Sha256.optional(),
  signature: z.string().optional(),
})
const Format = z.object({
  disk: Artifact.optional(),
  kernel: Artifact.optional(),
  initramfs: Artifact.optional(),
  rootfs: Artifact.optional(),
})
const PlatformArtifacts = z.object({ release: z.string(), formats: z.record(z.string(), Format) })
const RegionImage = z.union([
  z.object({ release: z.string().optional(), image: z.string() }),
  z.object({ release: z.string().optional(), bucket: z.string(), object: z.string() }),
])
const Regions = z.object({ regions: z.record(z.string(), RegionImage) })
const Cloud = z.object({
  release: z.string().optional(),
  project: z.string(),
  name: z.string().optional(),
  family: z.string().optional(),
})
const Container = z.object({
  release: z.string().optional(),
  image: z.string(),
  'digest-ref': z.string().optional(),
})
const Disk = z.object({ release: z.string().optional(), url: Url })
const Architecture = z.object({
  artifacts: z.record(z.string(), PlatformArtifacts).default({}),
  images: z.record(z.string(), z.unknown()).default({}),
  'rhel-coreos-extensions': z.record(z.string(), z.unknown()).default({}),
})
const StreamMetadata = z.object({
  stream: z.string(),
  architectures: z.record(z.string(), Architecture),
})
/** `streams` came with 4.22 (openshift/installer pull request 10321); `stream` stays, for whoever knows nothing of it. */
const ConfigMap = z.object({
  kind: z.literal('ConfigMap'),
  data: z.object({ stream: z.string(), streams: z.string().optional() }),
})

type Base = Pick<BootImage, 'architecture' | 'platform'>

/** Where in which file a value is, for messages. */
interface Place {
  readonly origin: string
  readonly path?: string
}

/**
 * @param origin names the file in messages
 * @throws KnownError BOOT_IMAGES_INVALID
 */
export function parseCoreosStream(text: string | Uint8Array, origin: string): CoreosStream {
  const document = readDocument(typeof text === 'string' ? text : Buffer.from(text).toString('utf8'), origin)
  const configMap = ConfigMap.safeParse(document)
  if (configMap.success) return streamsOf(configMap.data.data, origin)
  if (hasField(document, 'architectures'))
    return streamOf(checked(StreamMetadata.safeParse(document), { origin }), origin)
  if (hasField(document, 'baseURI')) {
    const build = checked(BuildMetadata.safeParse(document), { origin })
    return { name: build.buildid, images: imagesOfBuild(build) }
  }
  throw invalid(origin, 'it has neither architectures nor data.stream, nor the baseURI of former releases')
}

interface BootImageFilter {
  readonly architecture?: string
  readonly platform?: string
  /** Of a release with several streams. Default: the one that is used where nobody chooses. */
  readonly stream?: string
}

/** The images for one architecture, one platform, or both, in the order of the metadata; none of a stream that is not there. */
export function bootImages(whole: CoreosStream, filter: BootImageFilter = {}): readonly BootImage[] {
  const { architecture, platform, stream } = filter
  const { images } = (stream === undefined ? whole : whole.streams?.get(stream)) ?? { images: [] }
  return images.filter(
    (image) =>
      (architecture === undefined || image.architecture === architecture) &&
      (platform === undefined || image.platform === platform),
  )
}

function streamsOf({ stream, streams }: z.infer<typeof ConfigMap>['data'], origin: string): CoreosStream {
  const main = parseCoreosStream(stream, `${origin}: data.stream`)
  if (streams === undefined) return main
  const place = { origin: `${origin}: data.streams` }
  const named = checked(z.record(z.string(), StreamMetadata).safeParse(readDocument(streams, place.origin)), place)
  const all = Object.entries(named).map(([name, one]) => [name, streamOf(one, place.origin)] as const)
  return { ...main, streams: new Map(all) }
}

function readDocument(text: string, origin: string): unknown {
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw invalid(origin, 'it is not JSON', cause)
    }
  }
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' })
  const [error] = document.errors
  if (error) throw invalid(origin, error.message)
  try {
    return document.toJS()
  } catch (cause) {
    throw invalid(origin, 'an alias in it names nothing, or unfolds without end', cause)
  }
}

function streamOf(metadata: z.infer<typeof StreamMetadata>, origin: string): CoreosStream {
  const images = Object.entries(metadata.architectures).flatMap(([architecture, found]) => [
    ...Object.entries(found.artifacts).flatMap(([platform, artifacts]) => files(artifacts, { architecture, platform })),
    ...cloudImages(found.images, { architecture, origin, path: 'images' }),
    ...cloudImages(found['rhel-coreos-extensions'], { architecture, origin, path: 'rhel-coreos-extensions' }),
  ])
  return { name: metadata.stream, images }
}

function files({ release, formats }: z.infer<typeof PlatformArtifacts>, base: Base): BootFile[] {
  return Object.entries(formats).flatMap(([format, roles]) =>
    (['disk', 'kernel', 'initramfs', 'rootfs'] as const).flatMap((role): BootFile[] => {
      const artifact = roles[role]
      if (!artifact) return []
      const { location, sha256, 'uncompressed-sha256': uncompressed, signature } = artifact
      return [
        {
          kind: 'file',
          ...base,
          release,
          format,
          role,
          location,
          digest: sha256,
          ...(uncompressed && { uncompressedDigest: uncompressed }),
          ...(signature && { signature }),
        },
      ]
    }),
  )
}

function cloudImages(
  found: Readonly<Record<string, unknown>>,
  { architecture, origin, path }: Required<Place> & { architecture: string },
): BootImage[] {
  return Object.entries(found).flatMap(([name, value]) => {
    const base = { architecture, platform: name === 'azure-disk' ? 'azure' : name }
    const image = cloudImageOf(value, base, { origin, path: `architectures.${architecture}.${path}.${name}.` })
    return image ?? []
  })
}

/** Each form by the field that only it has; a form that is not known is passed over. */
function cloudImageOf(value: unknown, base: Base, place: Place): BootImage | undefined {
  if (hasField(value, 'regions')) return regionImages(checked(Regions.safeParse(value), place), base)
  if (hasField(value, 'project')) return cloudImage(checked(Cloud.safeParse(value), place), base)
  if (hasField(value, 'image')) return containerDisk(checked(Container.safeParse(value), place), base)
  if (hasField(value, 'url')) return cloudDisk(checked(Disk.safeParse(value), place), base)
  return undefined
}

function regionImages({ regions }: z.infer<typeof Regions>, base: Base): BootImage {
  const entries = Object.entries(regions)
  const ids = entries.map(([region, one]): [string, string] => [
    region,
    'image' in one ? one.image : `${one.bucket}/${one.object}`,
  ])
  return { kind: 'regions', ...base, release: entries[0]?.[1].release ?? '', regions: new Map(ids) }
}

function cloudImage({ release = '', project, name, family }: z.infer<typeof Cloud>, base: Base): BootImage {
  return { kind: 'cloud', ...base, release, project, ...(name && { name }), ...(family && { family }) }
}

function containerDisk({ release = '', image, ...found }: z.infer<typeof Container>, base: Base): BootImage {
  const digestReference = found['digest-ref']
  return { kind: 'container', ...base, release, image, ...(digestReference && { digestReference }) }
}

function cloudDisk({ release = '', url }: z.infer<typeof Disk>, base: Base): BootImage {
  return { kind: 'cloud-disk', ...base, release, location: url }
}

function hasField(value: unknown, field: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, field)
}

function checked<T>(result: z.ZodSafeParseResult<T>, { origin, path = '' }: Place): T {
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw invalid(origin, `${path}${issue?.path.join('.')}: ${issue?.message}`)
}

function invalid(origin: string, why: string, cause?: unknown): KnownError {
  return new KnownError('BOOT_IMAGES_INVALID', `${origin} is no stream metadata of CoreOS: ${why}`, {
    details: { file: origin },
    cause,
  })
}
