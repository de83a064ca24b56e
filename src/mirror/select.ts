/** From a configuration to the images wanted, each with the reason. */
import { compileGoRegExp } from '../config/go-regexp.ts'
import type { ImageSetConfiguration } from '../config/image-set-configuration.ts'
import type { PlatformContent } from '../config/image-set-content.ts'
import { withoutTransport } from '../config/image-set-values.ts'
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import type { GraphSource } from '../release/graph-source.ts'
import { type MirrorTarget, tagFor, targetRepository } from './destination.ts'
import { withPlatforms } from './platform-choice.ts'
import { selectBootImages } from './select-boot-images.ts'
import { chooseByChannel } from './select-channels.ts'
import type { WantedFile } from './select-files.ts'
import { selectKubeVirt } from './select-kubevirt.ts'
import { namedRelease, releaseImage, type SelectOptions, selectRelease, type WantedRelease } from './select-release.ts'
import type { ContentClass, SelectedImage, Selection } from './selection.ts'

export interface SelectImagesOptions extends SelectOptions {
  /** Classes that are left out. */
  readonly skip?: ReadonlySet<ContentClass>
  /** Answers which releases are in a channel. */
  readonly graphs?: GraphSource | undefined
  /** Only releases of channels whose version matches. */
  readonly versionFilter?: RegExp | undefined
}

export interface ImageSelection extends Selection {
  /** The boot images that the releases name, where they are asked for. */
  readonly bootFiles: readonly WantedFile[]
}

/** @throws KnownError CONFIG_INVALID when two images want the same name at the target */
export async function selectImages(
  { mirror }: ImageSetConfiguration,
  target: MirrorTarget,
  options: SelectImagesOptions,
): Promise<ImageSelection> {
  const { skip = new Set() } = options
  const platform = skip.has('release') ? undefined : mirror.platform
  const release = platform ? await selectPlatform(platform, target, options) : nothing
  const additional = skip.has('additional')
    ? []
    : mirror.additionalImages.map((image) => selectAdditional(image, target))
  const { images, blocked } = withoutBlocked([...release.images, ...additional], mirror)
  return { ...release, images: distinctImages(images), blocked }
}

/** What `blockedImages` forbids is told apart. */
export function withoutBlocked(
  wanted: readonly SelectedImage[],
  { blockedImages }: Pick<ImageSetConfiguration['mirror'], 'blockedImages'>,
): Pick<Selection, 'images' | 'blocked'> {
  const patterns = blockedImages.map(({ name }) => compileGoRegExp(name))
  const [images, blocked]: [SelectedImage[], SelectedImage[]] = [[], []]
  for (const image of wanted) (isBlocked(image.source, patterns) ? blocked : images).push(image)
  return { images, blocked }
}

const nothing: ImageSelection = { images: [], blocked: [], unreadable: [], findings: [], bootFiles: [] }

function selectAdditional(
  { name, targetRepo, targetTag, platforms }: ImageSetConfiguration['mirror']['additionalImages'][number],
  target: MirrorTarget,
): SelectedImage {
  const source = withTag(readName(name))
  const repository = targetRepository(target, targetRepo ?? source.repository)
  const destination = { ...repository, tag: targetTag ?? tagFor(source, 'other') }
  const why = `additionalImages ${name}`
  return { source, class: 'additional', destination, why, ...(platforms?.length && { platforms }) }
}

/** Every release that is named, or stands in a channel. */
async function selectPlatform(
  platform: PlatformContent,
  target: MirrorTarget,
  options: SelectImagesOptions,
): Promise<ImageSelection> {
  const named = platform.release === undefined ? [] : [namedRelease(readName(platform.release))]
  const { signal, graphs, versionFilter } = options
  const chosen = await chooseByChannel(platform, { graphs: graphs ?? noGraphs, versionFilter, target, signal })
  const releases = [...named, ...chosen.releases]
  const read: ReadRelease[] = await mapConcurrently(releases, 4, (one) => readable(one, target, options))
  const there = read.flatMap(({ release }) => release ?? [])
  const { kubeVirtContainer, platforms, bootImages: entries = [] } = platform
  if (kubeVirtContainer) {
    const architectures = platforms?.length ? platforms.map(({ architecture }) => architecture) : platform.architectures
    read.push(...(await mapConcurrently(there, 4, (one) => selectKubeVirt(one, { architectures, target }, options))))
  }
  const boot = await mapConcurrently(there, 4, (one) => selectBootImages(one, { entries, target }, options))
  return {
    images: withPlatforms(
      read.flatMap(({ images }) => images),
      platforms,
    ),
    blocked: [],
    unreadable: [...chosen.unreadable, ...[...read, ...boot].flatMap(({ unreadable }) => unreadable)],
    findings: [...chosen.findings, ...boot.flatMap(({ findings }) => findings)],
    bootFiles: boot.flatMap(({ files }) => files),
  }
}

const noGraphs: GraphSource = {
  readAnswer: async ({ channel }) => {
    throw new KnownError('GRAPH_UNAVAILABLE', `Nothing here knows which releases are in the channel ${channel}`)
  },
}

interface ReadRelease extends Pick<Selection, 'images' | 'unreadable'> {
  /** As it is called at the target; absent where it could not be read. */
  readonly release?: WantedRelease
}

/** The release, or what is wrong with it: other images do not wait for it. */
async function readable(release: WantedRelease, target: MirrorTarget, options: SelectOptions): Promise<ReadRelease> {
  try {
    return { ...(await selectRelease(release, target, options)), unreadable: [] }
  } catch (error) {
    options.signal.throwIfAborted()
    if (!(error instanceof KnownError) || !isOfImage(error)) throw error
    return { images: [], unreadable: [{ image: releaseImage(release, target), error }] }
  }
}

/** A disk that is full, or a lock, is no fault of one image. */
function isOfImage({ code }: KnownError): boolean {
  return /^(?:MANIFEST|BLOB|LAYER|PAYLOAD|REGISTRY|REFERENCE|ARCHIVE|SIGNATURE|POLICY|WEB)_/.test(code)
}

function readName(name: string): Reference {
  return parseReference(withoutTransport(name))
}

function withTag(reference: Reference): Reference {
  return reference.tag === undefined && reference.digest === undefined ? { ...reference, tag: 'latest' } : reference
}

function isBlocked(source: Reference, blocked: readonly RegExp[]): boolean {
  const name = formatReference(source)
  return blocked.some((pattern) => pattern.test(name))
}

/**
 * Each destination once; two sources for one name would overwrite each other, depending on which is last.
 *
 * @throws KnownError CONFIG_INVALID
 */
export function distinctImages(images: readonly SelectedImage[]): SelectedImage[] {
  const byDestination = new Map<string, SelectedImage>()
  for (const image of images) {
    const destination = formatReference(image.destination)
    const other = byDestination.get(destination)
    if (other && formatReference(other.source) !== formatReference(image.source)) {
      const sources = `${formatReference(other.source)} (${other.why}) and ${formatReference(image.source)} (${image.why})`
      throw new KnownError('CONFIG_INVALID', `Two images would be stored as ${destination}: ${sources}`, {
        details: { destination },
        hint: 'Give one of them its own name with targetRepo or targetTag.',
      })
    }
    byDestination.set(destination, image)
  }
  return [...byDestination.values()]
}
