/**
 * Where oc-mirror v2 keeps the images of a configuration in its cache: under the names that it gives them at a target.
 *
 * Source: openshift/oc-mirror `internal/pkg/{release,additional}/local_stored_collector.go`.
 */
import type { StoredName } from '../archive/oc-mirror/oc-mirror-archive.ts'
import { withoutTransport } from '../config/image-set-values.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import { releaseRepositories, tagFor } from './destination.ts'

/** Of a configuration, what decides the names. */
export interface NamingParts {
  readonly platform?: { readonly release?: string | undefined } | undefined
  readonly additionalImages?:
    | readonly {
        readonly name: string
        readonly targetRepo?: string | undefined
        readonly targetTag?: string | undefined
      }[]
    | undefined
}

/** The name that upstream gives the repository of release images, wherever it is. */
const releaseRepository = /(?:^|\/)ocp-release$/

/**
 * The names of an image, the likeliest first. One without tag and digest is `latest`.
 *
 * @param catalogs operator catalogs, by the names of their sources
 */
export function storedNames(
  { platform, additionalImages = [] }: NamingParts,
  catalogs: ReadonlyMap<string, readonly StoredName[]> = new Map(),
): (image: Reference) => readonly StoredName[] {
  const release = platform?.release && formatReference(parseReference(withoutTransport(platform.release)))
  const configured = new Map<string, StoredName[]>()
  for (const { name, targetRepo, targetTag } of additionalImages) {
    if (name.startsWith('oci:')) continue
    const image = parseReference(withoutTransport(name))
    const stored = { repository: targetRepo ?? image.repository, tag: targetTag ?? tagFor(image, 'other') }
    // The source of an image without a tag is asked for as `latest`.
    for (const key of new Set([image, withLatest(image)].map(formatReference)))
      configured.set(key, [...(configured.get(key) ?? []), stored])
  }
  return (image) => {
    const name = formatReference(image)
    const catalog = catalogs.get(name)
    if (catalog) return catalog
    const own = configured.get(name) ?? [{ repository: image.repository, tag: tagFor(image, 'other') }]
    if (name !== release && !releaseRepository.test(image.repository)) return own
    return [{ repository: releaseRepositories.images, tag: tagFor(image, 'release') }, ...own]
  }
}

function withLatest(image: Reference): Reference {
  return image.tag === undefined && image.digest === undefined ? { ...image, tag: 'latest' } : image
}
