/**
 * From the bundles that were chosen of operator catalogs to images: each once, whatever catalogs and bundles name it, with
 * the first reason.
 *
 * What cannot be had of a bundle is told as a hole of its own, and keeps nothing else from being mirrored.
 */
import { KnownError } from '../errors/known-error.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import { type MirrorTarget, targetRepository } from './destination.ts'
import { operatorImageDestination, untaggedDestination } from './operator-destination.ts'
import type { PlatformChoice, SelectedImage, UnreadableImage } from './selection.ts'

export interface ChosenBundle {
  readonly name: string
  readonly package: string
  /** Empty where the bundle is in the catalog itself. */
  readonly image: string
  readonly relatedImages: readonly { readonly name: string; readonly image: string }[]
  /** Why the bundle was chosen: `head of stable`. */
  readonly reason?: string | undefined
}

export interface ChosenBundles {
  /** As the configuration names it, for reasons. */
  readonly catalog: string
  readonly bundles: readonly ChosenBundle[]
  /** Only these platforms of its images; absent for all. */
  readonly platforms?: readonly PlatformChoice[] | undefined
}

export interface OperatorImages {
  readonly images: readonly SelectedImage[]
  /** Names that are no references, and images that would be stored in one place. */
  readonly unreadable: readonly UnreadableImage[]
}

interface OperatorImagesOptions {
  readonly target: MirrorTarget
  /** Of other classes: an operator does not take their names. */
  readonly others?: readonly SelectedImage[]
}

/** The bundles and the images that they name; an empty name is passed over, as by oc-mirror. Pure. */
export function operatorImages(
  chosen: readonly ChosenBundles[],
  { target, others = [] }: OperatorImagesOptions,
): OperatorImages {
  const { named, unreadable } = readNames(chosen, target)
  const places = new Map(others.map((image) => [formatReference(image.destination), image]))
  const images = new Map<string, SelectedImage>()
  // Who has nothing but a tag is served first: what is named by digest as well is found without it.
  for (const one of [...named.values()].sort((a, b) => Number(hasDigest(a)) - Number(hasDigest(b)))) {
    const { image, rival } = placed(selectedOf(one, target), { target, places })
    const place = formatReference(image.destination)
    const twin = images.get(place)
    if (!rival) {
      images.set(place, image)
      places.set(place, image)
    } else if (twin && twin.source.digest !== undefined && twin.source.digest === image.source.digest) {
      images.set(place, { ...twin, alsoNamed: [...(twin.alsoNamed ?? []), image.source] })
    } else unreadable.push({ image, error: sameDestination(image, rival) })
  }
  const order = new Map([...named.keys()].map((name, index) => [name, index]))
  const position = ({ source }: SelectedImage) => order.get(formatReference(source)) ?? 0
  return { images: [...images.values()].sort((a, b) => position(a) - position(b)), unreadable }
}

interface NamedImage {
  readonly source: Reference
  readonly why: string
  /** How many more bundles name it. */
  readonly further: Set<string>
  /** Undefined for all. */
  readonly platforms: readonly PlatformChoice[] | undefined
}

/** By name of the image. */
function readNames(chosen: readonly ChosenBundles[], target: MirrorTarget) {
  const named = new Map<string, NamedImage>()
  const unreadable = new Map<string, UnreadableImage>()
  for (const { catalog, bundles, platforms } of chosen) {
    for (const bundle of bundles) {
      const reason = bundle.reason === undefined ? '' : ` (${bundle.reason})`
      const id = `bundle ${bundle.name} of package ${bundle.package} in ${catalog}${reason}`
      for (const [text, why] of namesOf(bundle, id)) {
        const source = referenceOf(text)
        if (source instanceof KnownError) {
          if (!unreadable.has(text)) unreadable.set(text, hole(text, { why, bundle, target, cause: source }))
          continue
        }
        const key = formatReference(source)
        const known = named.get(key)
        named.set(key, known ? joined(known, { id, platforms }) : { source, why, further: new Set([id]), platforms })
      }
    }
  }
  return { named, unreadable: [...unreadable.values()] }
}

/** Each name in a bundle once, with why it is wanted. */
function namesOf({ image, relatedImages }: ChosenBundle, id: string): Map<string, string> {
  const names = new Map<string, string>()
  if (image.trim() !== '') names.set(image.trim(), id)
  for (const related of relatedImages) {
    const text = related.image.trim()
    const role = related.name === '' ? 'image' : `image ${related.name}`
    if (text !== '' && !names.has(text)) names.set(text, `${role} of ${id}`)
  }
  return names
}

function referenceOf(text: string): Reference | KnownError {
  try {
    const reference = parseReference(text.replace(/^docker:\/\//, ''))
    const isNamed = reference.tag !== undefined || reference.digest !== undefined
    return isNamed ? reference : { ...reference, tag: 'latest' }
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    return error
  }
}

function joined(known: NamedImage, { id, platforms }: { id: string; platforms: NamedImage['platforms'] }): NamedImage {
  known.further.add(id)
  if (known.platforms === undefined || platforms === undefined) return { ...known, platforms: undefined }
  const all = [...known.platforms, ...platforms]
  const distinct = new Map(all.map((platform) => [`${platform.os}/${platform.architecture}`, platform]))
  return { ...known, platforms: [...distinct.values()] }
}

function hasDigest({ source }: NamedImage): boolean {
  return source.digest !== undefined
}

function selectedOf({ source, why, further, platforms }: NamedImage, target: MirrorTarget): SelectedImage {
  const more = further.size - 1
  const others = more === 0 ? '' : more === 1 ? ', and 1 more bundle' : `, and ${more} more bundles`
  const destination = operatorImageDestination(source, target)
  return { source, class: 'operator', destination, why: `${why}${others}`, ...(platforms?.length && { platforms }) }
}

interface Placing {
  readonly target: MirrorTarget
  /** By destination. */
  readonly places: ReadonlyMap<string, SelectedImage>
}

/**
 * The image where nobody else is. Two bundles often name two digests under one tag; the second is then stored by digest,
 * which is how clusters ask for it.
 */
function placed(image: SelectedImage, { target, places }: Placing): { image: SelectedImage; rival?: SelectedImage } {
  const rivalAt = ({ destination }: SelectedImage) => {
    const other = places.get(formatReference(destination))
    return other && formatReference(other.source) !== formatReference(image.source) ? other : undefined
  }
  const rival = rivalAt(image)
  const { digest } = image.source
  if (!rival || digest === undefined) return { image, ...(rival && { rival }) }
  const apart = { ...image, destination: untaggedDestination(image.source, digest, target) }
  const again = rivalAt(apart)
  return { image: apart, ...(again && { rival: again }) }
}

function sameDestination(image: SelectedImage, rival: SelectedImage): KnownError {
  const destination = formatReference(image.destination)
  const sources = `${formatReference(rival.source)} (${rival.why}) and ${formatReference(image.source)} (${image.why})`
  return new KnownError('CONFIG_INVALID', `Two images would be stored as ${destination}: ${sources}`, {
    details: { destination },
    hint: 'Mirror one of them in a run of its own, to another path.',
  })
}

interface HoleParts {
  readonly why: string
  readonly bundle: ChosenBundle
  readonly target: MirrorTarget
  readonly cause: KnownError
}

/** A name that is no reference, with a place (RFC 2606, `.invalid`) that stands for the image nobody can find. */
function hole(text: string, { why, bundle, target, cause }: HoleParts): UnreadableImage {
  const slug = [bundle.package, bundle.name, text].map((part) => part.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'))
  const repository = ['unreadable', ...slug.map((part) => part.replaceAll(/^-+|-+$/g, '').slice(0, 60) || 'x')].join(
    '/',
  )
  const source: Reference = { registry: 'unreadable.invalid', repository, tag: 'latest' }
  const destination = { ...targetRepository(target, repository), tag: 'latest' }
  const error = new KnownError('REFERENCE_INVALID', `${why}: ${cause.message}`, {
    details: { reference: text, bundle: bundle.name, package: bundle.package },
    hint: 'The catalog is wrong there: choose another version of the package, or tell its publisher. Everything else is mirrored.',
    cause,
  })
  return { image: { source, class: 'operator', destination, why }, error }
}
