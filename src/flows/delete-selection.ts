/** From a DeleteImageSetConfiguration to the images that it names, as they lie at the target. No source is asked. */
import type { DeleteImageSetConfiguration } from '../config/delete-image-set-configuration.ts'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { asMirrored } from '../mirror/as-mirrored.ts'
import { graphImageSelected } from '../mirror/graph-image.ts'
import { imagesOfRelease, readKnownRelease } from '../mirror/known-release.ts'
import { type ListedImage, listedFromItems, listedFromSelection } from '../mirror/listed-image.ts'
import { selectImages } from '../mirror/select.ts'
import { selectFiles } from '../mirror/select-files.ts'
import { isKubeVirtDisk, kubeVirtOf } from '../mirror/select-kubevirt.ts'
import type { ContentClass, SelectedImage, UnreadableImage } from '../mirror/selection.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import type { DeleteContext } from './delete-context.ts'

export interface FailedDeletion {
  readonly name: string
  readonly class: ContentClass
  readonly error: KnownError
}

export interface Unwanted {
  readonly images: readonly ListedImage[]
  readonly failures: readonly FailedDeletion[]
}

interface UnwantedOptions {
  readonly config: DeleteImageSetConfiguration
  /** Names that oc-mirror v1 gave. */
  readonly v1Names: boolean
}

/** @throws KnownError CONFIG_INVALID; what cannot be told of single images is in the result */
export async function selectUnwanted({ config, v1Names }: UnwantedOptions, context: DeleteContext): Promise<Unwanted> {
  const { target, recorded } = context
  const { platform, ...rest } = config.delete
  const mirror = { ...rest, ...(platform && { platform }), blockedImages: [] }
  const kind = 'ImageSetConfiguration'
  const checkRelease = async (release: Reference) => recordedName(release, context)
  const selected = await selectImages({ kind, apiVersion: config.apiVersion, mirror }, target, {
    ...context,
    checkRelease,
  })
  const { images, unreadable, bootFiles } = selected
  const files = await selectFiles(mirror.files ?? [], { target, cwd: '', bootImages: bootFiles })
  const known = await mapConcurrently(unreadable, 4, (one) => knownAnyway(one, config, context))
  const told = [...images, ...files.images, ...known.flatMap((one) => one.images)]
  const disks = platform?.kubeVirtContainer ? recordedDisks(context) : []
  const wanted = distinct([...told, ...disks.filter((disk) => told.some((image) => isKubeVirtDisk(disk, image)))])
  const named = v1Names ? wanted.map(v1Name) : asMirrored(wanted, recorded)
  const all = named.map(listedFromSelection)
  return {
    images: platform?.graph ? [...all, ...graphImage(context)] : all,
    failures: known.flatMap(({ failures }) => failures),
  }
}

/** What this workspace called the release: its signer may have named it. */
function recordedName(release: Reference, { recorded }: DeleteContext): string | undefined {
  const source = formatReference(release)
  return recorded.find((image) => image.class === 'release' && image.source === source)?.destination
}

interface Known {
  readonly images: readonly SelectedImage[]
  readonly failures: readonly FailedDeletion[]
}

/** What the target does not tell, by what the workspace kept. */
async function knownAnyway(
  { image, error }: UnreadableImage,
  { delete: { platform } }: DeleteImageSetConfiguration,
  context: DeleteContext,
): Promise<Known> {
  if (!image.isReleaseImage) return knownDisk({ image, error }, context)
  const { target, signal } = context
  const release = { image: image.source, tag: image.destination.tag ?? '', why: image.why }
  try {
    const payload = await readKnownRelease(image.source, { ...context, tag: release.tag })
    const images = imagesOfRelease(release, payload, target)
    const { architectures, kubeVirtContainer } = platform ?? {}
    if (!kubeVirtContainer) return { images, failures: [] }
    const disks = kubeVirtOf(release, payload, { architectures, target })
    const unknown = disks.unreadable.map((disk) => knownDisk(disk, context))
    return { images: [...images, ...disks.images], failures: unknown.flatMap(({ failures }) => failures) }
  } catch (cause) {
    signal.throwIfAborted()
    if (!(cause instanceof KnownError)) throw cause
    return { images: [], failures: [failed(image, unreadableRelease(image, error))] }
  }
}

/** A disk that the release does not name, or the releases of a channel of which nothing is known. */
function knownDisk({ image, error }: UnreadableImage, context: DeleteContext): Known {
  const isKnown = recordedDisks(context).some(({ destination }) => {
    return (
      destination.tag?.startsWith(image.destination.tag ?? '') &&
      destination.repository === image.destination.repository
    )
  })
  return { images: [], failures: isKnown ? [] : [failed(image, error)] }
}

function failed({ source, class: of }: SelectedImage, error: KnownError): FailedDeletion {
  return { name: formatReference(source), class: of, error }
}

/** The KubeVirt disks that this workspace mirrored: which of them has which tag depended on the configuration of then. */
function recordedDisks({ recorded }: DeleteContext): SelectedImage[] {
  const disks = recorded.filter(({ destination }) => /-kube-virt-container(?:-[\w.-]+)?$/.test(destination))
  return disks.map(({ source, destination, class: of, why }) => ({
    source: parseReference(source),
    destination: parseReference(destination),
    class: of,
    why,
  }))
}

function distinct(images: readonly SelectedImage[]): SelectedImage[] {
  return [...new Map(images.map((image) => [formatReference(image.destination), image])).values()]
}

function unreadableRelease({ source, destination }: SelectedImage, cause: KnownError): KnownError {
  const name = formatReference(source)
  const place = formatReference(destination)
  const why =
    cause.code === 'MANIFEST_UNKNOWN' ? `there is no ${place}, and the workspace does not know it` : cause.message
  return new KnownError('PAYLOAD_INVALID', `${name}: which images belong to this release cannot be told: ${why}`, {
    details: { image: name },
    cause,
    hint: 'Nothing of it is in the list. Name the workspace that mirrored it with --workspace, or the release image by its digest.',
  })
}

/** It was made on the way, so no source tells its digest. */
function graphImage({ target }: DeleteContext): readonly ListedImage[] {
  const name = formatReference(graphImageSelected(target).destination)
  return listedFromItems([{ imageName: name, imageReference: `docker://${name}`, type: 'cincinnatiGraph' }], target)
}

/** v1 gave `latest` to images that were named by digest alone (oc-mirror `internal/pkg/additional`). */
function v1Name(image: SelectedImage): SelectedImage {
  const { source, destination } = image
  const isByDigest = source.tag === undefined && source.digest !== undefined
  const isOurs = destination.tag?.startsWith('sha256-') === true
  return image.class === 'additional' && isByDigest && isOurs
    ? { ...image, destination: { ...destination, tag: 'latest' } }
    : image
}
