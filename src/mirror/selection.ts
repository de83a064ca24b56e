/** What is wanted, and why: the first noun on the way from a configuration to a mirror. */
import type { Finding } from '../errors/finding.ts'
import type { KnownError } from '../errors/known-error.ts'
import type { Reference } from '../oci/reference.ts'

/** The classes of content that oc-mirror counts and reports apart; also the bits of its exit status. */
export type ContentClass = 'release' | 'operator' | 'additional' | 'helm'

export interface SelectedImage {
  /** As the configuration or the payload names it; by digest, or by tag. */
  readonly source: Reference
  readonly class: ContentClass
  /** Repository and tag at the target. */
  readonly destination: Reference
  /** For people: which line of the configuration, or which release, asks for it. */
  readonly why: string
  /** True for the release image itself: its mirror goes into the digest mirror set even when it was named by tag. */
  readonly isReleaseImage?: boolean
  /** True for an operator catalog: a cluster finds it through its CatalogSource, and needs no mirror set for it. */
  readonly isCatalog?: boolean
  /** Further names of the same content, which clusters ask for as well: a mirror set has to lead from each. */
  readonly alsoNamed?: readonly Reference[]
  /** Only these platforms of an index; absent for all. */
  readonly platforms?: readonly PlatformChoice[]
}

/** As an index names it: `linux`, `amd64`. */
export interface PlatformChoice {
  readonly os: string
  readonly architecture: string
}

export interface Selection {
  readonly images: readonly SelectedImage[]
  /** Asked for, but forbidden by `blockedImages`. */
  readonly blocked: readonly SelectedImage[]
  /** Asked for, but not to be read, so that what else they name is not known: a release whose payload is out of reach. */
  readonly unreadable: readonly UnreadableImage[]
  /** What was noticed on the way, and is no failure: a known risk of an update. */
  readonly findings: readonly Finding[]
}

export interface UnreadableImage {
  readonly image: SelectedImage
  readonly error: KnownError
}
