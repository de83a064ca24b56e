/** One image of a list of images to delete: between oc-mirror's format and a repository at the target. */
import { KnownError } from '../errors/known-error.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../oci/reference.ts'
import type { DeleteItem } from '../openshift/delete-image-list.ts'
import { formatMirrorTarget, type MirrorTarget, releaseRepositories } from './destination.ts'
import type { Unwanted } from './plan-deletion.ts'
import type { ContentClass, SelectedImage } from './selection.ts'

export interface ListedImage extends Unwanted {
  readonly repository: Reference
  readonly item: DeleteItem
  readonly class: ContentClass
  /** Left by an earlier run: nobody lists it now. */
  readonly isUnfinished?: boolean
}

/** Types of `v2alpha1.ImageType` by the classes that oc-mirror reports apart. */
const classes: Readonly<Record<string, ContentClass>> = {
  ocpRelease: 'release',
  ocpReleaseContent: 'release',
  cincinnatiGraph: 'release',
  kubeVirtContainer: 'release',
  operatorCatalog: 'operator',
  operatorBundle: 'operator',
  operatorRelatedImage: 'operator',
  helmImage: 'helm',
}

/** What is built on the way to the target: its digest there is not that of its source. */
const rebuilt: ReadonlySet<string> = new Set(['operatorCatalog', 'cincinnatiGraph'])

const typeOfClass: Readonly<Record<ContentClass, string>> = {
  release: 'ocpReleaseContent',
  operator: 'operatorRelatedImage',
  additional: 'generic',
  helm: 'helmImage',
}

export function listedFromSelection(image: SelectedImage): ListedImage {
  const { source, destination, class: of, isReleaseImage, isCatalog } = image
  return listed(destination, {
    imageName: formatReference(source),
    imageReference: `docker://${formatReference(destination)}`,
    type: isReleaseImage ? 'ocpRelease' : isCatalog ? 'operatorCatalog' : typeOfClass[of],
  })
}

/** Something attached to an image of the list, which has no source of its own. */
export function listedBeside({ item }: ListedImage, place: Reference): ListedImage {
  const source = readName(item.imageName)
  const name = { ...(source ?? place), tag: undefined, digest: undefined }
  const imageName = formatReference({
    registry: name.registry,
    repository: name.repository,
    ...(place.tag !== undefined && { tag: place.tag }),
    ...(place.digest !== undefined && { digest: place.digest }),
  })
  return listed(place, { imageName, imageReference: `docker://${formatReference(place)}`, type: item.type })
}

/**
 * The items of a list as images at the target.
 *
 * Names of oc-mirror's local cache (`localhost:PORT/…`) are taken as names below the target: lists of older versions have
 * them.
 *
 * @param known destinations that the workspace recorded for this target: folded paths need not be below it
 * @throws KnownError CONFIG_INVALID where an item is for another target
 */
export function listedFromItems(
  items: readonly DeleteItem[],
  target: MirrorTarget,
  known: ReadonlySet<string> = new Set(),
): readonly ListedImage[] {
  return items.map((item) => {
    const place = readName(item.imageReference)
    if (place === undefined) throw notAnImage(item)
    const isBelow = repositoryName(place).startsWith(`${formatMirrorTarget(target)}/`)
    if (isBelow || known.has(formatReference(place))) return listed(place, item)
    if (!isOfCache(place, item, target)) throw anotherTarget(item, target)
    const repository = [target.path, place.repository].filter(Boolean).join('/')
    return listed({ ...place, registry: target.registry, repository }, item)
  })
}

/** The cache has the names of a target without its path; those of releases are always the same. */
function isOfCache({ registry, repository }: Reference, { type }: DeleteItem, target: MirrorTarget): boolean {
  if (registry === target.registry || !/^localhost(?::\d+)?$/.test(registry)) return false
  const releases: readonly string[] = Object.values(releaseRepositories)
  return !type.startsWith('ocpRelease') || releases.includes(repository)
}

function listed(place: Reference, item: DeleteItem): ListedImage {
  const { registry, repository, tag, digest } = place
  const source = rebuilt.has(item.type) ? undefined : readName(item.imageName)
  const expected: Digest | undefined = tag === undefined ? undefined : source?.digest
  return {
    repository: { registry, repository },
    name: tag === undefined && digest !== undefined ? { digest } : { tag: tag ?? 'latest' },
    ...(expected !== undefined && { expected }),
    item,
    class: classes[item.type] ?? 'additional',
  }
}

function readName(text: string): Reference | undefined {
  try {
    return parseReference(text.replace(/^docker:\/\//, ''))
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    // `oci://DIR` is the name of a source on some disk.
    return undefined
  }
}

function notAnImage({ imageReference }: DeleteItem): KnownError {
  return new KnownError('CONFIG_INVALID', `imageReference: "${imageReference}" is no image at a registry`, {
    details: { image: imageReference },
    hint: 'Generate the list again, or write it as docker://HOST/PATH:TAG.',
  })
}

function anotherTarget({ imageReference }: DeleteItem, target: MirrorTarget): KnownError {
  const name = formatMirrorTarget(target)
  return new KnownError('CONFIG_INVALID', `The list is not for docker://${name}: it names ${imageReference}`, {
    details: { image: imageReference, target: name },
    hint: 'Name the destination that the list was generated for, or generate it for this one; nothing was deleted.',
  })
}
