/**
 * The KubeVirt disk of a release: virtual nodes of hosted clusters are started from this container image. The payload
 * does not name it among its components, but among the boot images.
 *
 * Names are those of oc-mirror v2 (openshift/oc-mirror `internal/pkg/release/local_stored_collector.go:getKubeVirtImages`).
 */
import { KnownError } from '../errors/known-error.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import type { ContainerDisk } from '../openshift/boot-image.ts'
import { bootImages, parseCoreosStream } from '../openshift/coreos-stream.ts'
import { bootImagesFile, type ReleasePayload } from '../openshift/release-payload.ts'
import { rpmArchitecture } from '../openshift/release-tag.ts'
import { type MirrorTarget, releaseRepositories, targetRepository } from './destination.ts'
import { readRelease, type SelectOptions, type WantedRelease } from './select-release.ts'
import type { SelectedImage, Selection } from './selection.ts'

export interface KubeVirtRequest {
  /** As images name them, or `multi` for all. Default: amd64. */
  readonly architectures?: readonly string[] | undefined
  readonly target: MirrorTarget
}

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
    const payload = await readRelease(image, { ...options, tag, withBootImages: true })
    return { images: kubeVirtImages(release, payload, request), unreadable: [] }
  } catch (error) {
    options.signal.throwIfAborted()
    if (!(error instanceof KnownError) || error.code !== 'PAYLOAD_INVALID') throw error
    return { images: [], unreadable: [{ image: diskImage(release, request.target, { source: image }), error }] }
  }
}

/**
 * Pure: the disks of one release for the wanted architectures.
 *
 * @throws KnownError PAYLOAD_INVALID where it has none of them
 */
export function kubeVirtImages(
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
  return wanted.map(({ architecture, digestReference, image }) =>
    diskImage(release, target, {
      source: parseReference(digestReference ?? image),
      why: `KubeVirt disk (${architecture}) of release ${version}`,
      ...(counted.size > 1 && { architecture }),
    }),
  )
}

function disksOf(text: string, release: WantedRelease): readonly ContainerDisk[] {
  try {
    const stream = parseCoreosStream(text, bootImagesFile)
    return bootImages(stream, { platform: 'kubevirt' }).filter((image) => image.kind === 'container')
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    throw noDisk(release, error.message, error)
  }
}

/** The architecture is part of the tag only where several are mirrored. */
function diskImage(
  { tag, why: releaseWhy }: WantedRelease,
  target: MirrorTarget,
  {
    source,
    why,
    architecture,
  }: Pick<SelectedImage, 'source'> & { readonly why?: string; readonly architecture?: string },
): SelectedImage {
  const name = ['kube-virt-container', architecture].filter(Boolean).join('-')
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
