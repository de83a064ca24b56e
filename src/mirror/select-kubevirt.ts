/**
 * The KubeVirt disk of a release: virtual nodes of hosted clusters are started from this container image. The payload
 * does not name it among its components, but among the boot images.
 *
 * Names are those of oc-mirror v2 (openshift/oc-mirror `internal/pkg/release/local_stored_collector.go:getKubeVirtImages`).
 */
import { KnownError } from '../errors/known-error.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import type { CoreosStream } from '../openshift/boot-image.ts'
import { bootImages, parseCoreosStream } from '../openshift/coreos-stream.ts'
import { bootImagesFile, type ReleasePayload } from '../openshift/release-payload.ts'
import { rpmArchitecture } from '../openshift/release-tag.ts'
import { type MirrorTarget, releaseRepositories, targetRepository } from './destination.ts'
import { readRelease, type SelectOptions, type WantedRelease } from './select-release.ts'
import type { SelectedImage, Selection, UnreadableImage } from './selection.ts'

export interface KubeVirtRequest {
  /** As images name them, or `multi` for all. Default: amd64. */
  readonly architectures?: readonly string[] | undefined
  readonly target: MirrorTarget
}

const diskName = 'kube-virt-container'

/** Those that CoreOS makes a KubeVirt disk for, as oc-mirror counts them where it decides about names. */
const usual = ['x86_64', 's390x']

/**
 * The disks of one release, read again where an earlier version of Sallyport kept its payload without them. A release that
 * has none is told as a failure, and keeps nothing else from being mirrored.
 */
export async function selectKubeVirt(
  release: WantedRelease,
  request: KubeVirtRequest,
  options: SelectOptions,
): Promise<Pick<Selection, 'images' | 'unreadable'>> {
  const { image, tag } = release
  try {
    return kubeVirtOf(release, await readRelease(image, { ...options, tag, withBootImages: true }), request)
  } catch (error) {
    options.signal.throwIfAborted()
    if (!(error instanceof KnownError) || !isOfRelease(error)) throw error
    return { images: [], unreadable: [unreadableDisk(release, request, error)] }
  }
}

/** Pure: the disks of a release whose payload is known. */
export function kubeVirtOf(
  release: WantedRelease,
  payload: ReleasePayload,
  request: KubeVirtRequest,
): Pick<Selection, 'images' | 'unreadable'> {
  try {
    return { images: kubeVirtImages(release, payload, request), unreadable: [] }
  } catch (error) {
    if (!(error instanceof KnownError) || error.code !== 'PAYLOAD_INVALID') throw error
    return { images: [], unreadable: [unreadableDisk(release, request, error)] }
  }
}

/** A disk that is full, or a lock, is no fault of the release. */
function isOfRelease({ code }: KnownError): boolean {
  return /^(?:MANIFEST|BLOB|LAYER|PAYLOAD|REGISTRY|ARCHIVE)_/.test(code)
}

function unreadableDisk(release: WantedRelease, { target }: KubeVirtRequest, error: KnownError): UnreadableImage {
  return { image: diskImage(release, target, { source: release.image }), error }
}

/**
 * Pure: the disks of one release for the wanted architectures.
 *
 * @throws KnownError PAYLOAD_INVALID where it has none of them
 */
function kubeVirtImages(
  release: WantedRelease,
  { version, bootImages: text }: ReleasePayload,
  { architectures = ['amd64'], target }: KubeVirtRequest,
): readonly SelectedImage[] {
  if (text === undefined) throw noDisk(release, `its payload has no ${bootImagesFile}`)
  const disks = disksOf(text, release)
  const known = new Set([...usual, ...disks.map(({ architecture }) => architecture)])
  const asked = architectures.includes('multi') ? [...known] : architectures.map(rpmArchitecture)
  const counted = new Set(asked.filter((architecture) => known.has(architecture)))
  const wanted = disks.filter(({ architecture }) => counted.has(architecture))
  if (wanted.length === 0) {
    const there = disks.map(({ architecture }) => architecture).join(', ') || 'no architecture'
    throw noDisk(release, `its boot images have one for ${there}, and not for ${asked.join(', ')}`)
  }
  return wanted.map(({ architecture, stream, pullspec }) =>
    diskImage(release, target, {
      source: parseReference(pullspec),
      why: `KubeVirt disk (${[stream, architecture].filter(Boolean).join(' ')}) of release ${version}`,
      parts: [...(stream === undefined ? [] : [stream]), ...(counted.size > 1 ? [architecture] : [])],
    }),
  )
}

/** True where `disk` has a name of a disk of the release image `release`, for whatever architecture. */
export function isKubeVirtDisk(disk: SelectedImage, release: SelectedImage): boolean {
  const tag = `${release.destination.tag}-${diskName}`
  const rest = disk.destination.tag?.startsWith(tag) ? disk.destination.tag.slice(tag.length) : undefined
  return release.isReleaseImage === true && rest !== undefined && (rest === '' || rest.startsWith('-'))
}

interface Disk {
  readonly architecture: string
  readonly pullspec: string
  /** Of a release with several streams, where it is not of the one that is used where nobody chooses. */
  readonly stream?: string
}

/** Those of further streams, `rhel-10` beside `rhel-9`, are told too: a node pool may choose them. */
function disksOf(text: string, release: WantedRelease): readonly Disk[] {
  try {
    const whole = parseCoreosStream(text, bootImagesFile)
    const main = disksIn(whole)
    const known = new Set(main.map(({ pullspec }) => pullspec))
    const further = [...(whole.streams?.keys() ?? [])].flatMap((stream) => disksIn(whole, stream))
    return [...main, ...further.filter(({ pullspec }) => !known.has(pullspec))]
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    throw noDisk(release, error.message, error)
  }
}

function disksIn(whole: CoreosStream, stream?: string): Disk[] {
  const images = bootImages(whole, { platform: 'kubevirt', ...(stream !== undefined && { stream }) })
  return images.flatMap((image): Disk[] => {
    if (image.kind !== 'container') return []
    const { architecture, digestReference, image: byTag } = image
    return [{ architecture, pullspec: digestReference ?? byTag, ...(stream !== undefined && { stream }) }]
  })
}

interface DiskOptions {
  readonly source: Reference
  readonly why?: string
  /** What the tag says beside that it is a disk: the architecture only where several are mirrored. */
  readonly parts?: readonly string[]
}

function diskImage(
  { tag, why: releaseWhy }: WantedRelease,
  target: MirrorTarget,
  { source, why, parts = [] }: DiskOptions,
): SelectedImage {
  const name = [diskName, ...parts].join('-')
  const destination = { ...targetRepository(target, releaseRepositories.components), tag: `${tag}-${name}` }
  return { source, class: 'release', destination, why: why ?? `KubeVirt disk of ${releaseWhy}` }
}

function noDisk({ image }: WantedRelease, why: string, cause?: KnownError): KnownError {
  const name = formatReference(image)
  return new KnownError('PAYLOAD_INVALID', `${name} names no KubeVirt disk: ${why}`, {
    details: { image: name },
    hint: 'Take kubeVirtContainer out of the configuration for this release, or name the disk image in additionalImages.',
    cause,
  })
}
