/**
 * Where operator catalogs and the images of operators go: the names that oc-mirror v2 gives (openshift/oc-mirror
 * `internal/pkg/operator/common.go`), so that clusters set up with it go on working. Pure.
 */
import { KnownError } from '../errors/known-error.ts'
import type { Digest } from '../oci/digest.ts'
import { isRepositoryPath, parseReference, type Reference } from '../oci/reference.ts'
import { type MirrorTarget, tagFor, targetRepository } from './destination.ts'

/** Of an entry of `operators`, what decides the name. */
export interface CatalogNaming {
  /** `HOST/PATH:TAG`, `HOST/PATH@DIGEST`, or `oci://DIRECTORY`. */
  readonly catalog: string
  readonly targetCatalog?: string | undefined
  readonly targetTag?: string | undefined
  /** v1alpha2: the last part of the path alone. */
  readonly targetName?: string | undefined
}

/** The directory of an OCI layout, where a catalog is one; undefined for an image at a registry. */
export function layoutDirectory(catalog: string): string | undefined {
  return catalog.startsWith('oci:') ? catalog.replace(/^oci:(?:\/\/)?/, '') : undefined
}

/**
 * Where a catalog goes: its path is kept, and its tag. One that is named by digest alone has the digest that it has at the
 * target as its tag; one from a layout the name of its directory, and `latest`.
 *
 * @param digest of the image as it will be at the target: a filtered catalog has another one than its source
 * @throws KnownError REFERENCE_INVALID; CONFIG_INVALID where the directory of a layout has a name that is no path
 */
export function catalogDestination(naming: CatalogNaming, target: MirrorTarget, digest: Digest): Reference {
  const { targetCatalog, targetTag, targetName } = naming
  const { repository: own, tag } = ownName(naming.catalog)
  const renamed = targetName === undefined ? own : [...own.split('/').slice(0, -1), targetName].join('/')
  const repository = targetCatalog ?? renamed
  if (!isRepositoryPath(repository)) throw noPath(naming.catalog, repository)
  return { ...targetRepository(target, repository), tag: targetTag ?? tag ?? tagFor({ digest, ...nowhere }, 'other') }
}

const nowhere = { registry: '', repository: '' }

function ownName(catalog: string): { readonly repository: string; readonly tag?: string } {
  const directory = layoutDirectory(catalog)
  if (directory === undefined) return parseReference(catalog.replace(/^docker:\/\//, ''))
  const [named = '', digest] = directory.split('@')
  const [, path = named, tag] = /^(.*?):([^/:]+)$/.exec(named) ?? []
  const repository = path.replace(/\/+$/, '').replace(/^.*\//, '')
  // A digest says which image of the layout is meant, and oc-mirror still calls it by the digest.
  return { repository, ...(tag !== undefined ? { tag } : digest === undefined && { tag: 'latest' }) }
}

/** Where a bundle, or an image that a bundle names, goes: as an additional image. */
export function operatorImageDestination(source: Reference, target: MirrorTarget): Reference {
  return { ...targetRepository(target, source.repository), tag: tagFor(source, 'other') }
}

/** Where it goes when its tag is another image's: a cluster asks for it by its digest, which needs no tag. */
export function untaggedDestination(source: Reference, digest: Digest, target: MirrorTarget): Reference {
  return { ...targetRepository(target, source.repository), tag: tagFor({ digest, ...nowhere }, 'other') }
}

function noPath(catalog: string, repository: string): KnownError {
  return new KnownError(
    'CONFIG_INVALID',
    `The catalog ${catalog} would be stored as "${repository}", which is no path`,
    {
      details: { catalog, repository },
      hint: 'Name its path at the target with targetCatalog: lower case, digits, . _ - and /.',
    },
  )
}
