/**
 * What the resources of a catalog are called: as oc-mirror v2 calls them (openshift/oc-mirror
 * `internal/pkg/clusterresources/clusterresources.go`), but never two catalogs the same.
 */
import { KnownError } from '../errors/known-error.ts'
import { digestOf, hexOf } from '../oci/digest.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'

/** `cs` for a CatalogSource, `cc` for a ClusterCatalog. */
export type CatalogPrefix = 'cs' | 'cc'

/** Longest label of DNS (RFC 1123); OLM names a service after a CatalogSource. */
const longest = 63

/** `PREFIX-REPOSITORY-SUFFIX`: last part of the repository, and the tag, or the hex of the digest, cut at 12 characters. */
export function catalogName(prefix: CatalogPrefix, { repository, tag, digest }: Reference): string {
  const version = tag ?? (digest === undefined ? '' : hexOf(digest))
  const suffix = version.slice(0, 12).toLowerCase() || '0'
  const last = repository.slice(repository.lastIndexOf('/') + 1)
  return asLabel(`${prefix}-${last}-${suffix}`)
}

/** Of the file of a resource, without `.yaml`: a chosen name need not begin like the files that scripts look for. */
export function catalogFileName(prefix: CatalogPrefix, name: string): string {
  return name.startsWith(`${prefix}-`) ? name : `${prefix}-${name}`
}

/** oc-mirror stops at a name that would not do. */
function asLabel(text: string, length = longest): string {
  return text
    .replaceAll(/[^a-z0-9-]/g, '-')
    .slice(0, length)
    .replace(/-+$/, '')
}

/** True where the image of an earlier file is `destination`, at this or another registry, in this or another version. */
export function isSameCatalog(image: string, { repository, tag, digest }: Reference): boolean {
  try {
    const known = parseReference(image)
    if (known.repository !== repository) return false
    // Somebody pinned it.
    if (known.tag === undefined && known.digest !== undefined) return true
    return known.tag === tag && (tag !== undefined || known.digest === digest)
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    return false
  }
}

export interface NamedCatalog {
  readonly destination: Reference
  /** Chosen by a person. */
  readonly name?: string | undefined
}

/**
 * A name for each catalog, in their order. One that had a name before keeps it; of several new ones with the same name the
 * first by destination has it, and the others get the hash of their destination behind it.
 *
 * @param holderOf the image that an earlier file of this name is for; undefined where there is none
 * @throws KnownError CONFIG_INVALID where two catalogs were given the same name, or one that cannot be
 */
export function nameCatalogs(
  prefix: CatalogPrefix,
  catalogs: readonly NamedCatalog[],
  holderOf: (name: string) => string | undefined,
): string[] {
  const taken = new Map<string, NamedCatalog>()
  const names = new Map<NamedCatalog, string>()
  const take = (catalog: NamedCatalog, name: string) => {
    taken.set(catalogFileName(prefix, name), catalog)
    names.set(catalog, name)
  }
  for (const catalog of catalogs) {
    if (catalog.name === undefined) continue
    const other = taken.get(catalogFileName(prefix, checkedName(catalog.name)))
    if (other) throw sameName(catalog.name, [other, catalog])
    take(catalog, catalog.name)
  }
  const unnamed = catalogs.filter(({ name }) => name === undefined).toSorted(byDestination)
  const isHeldBy = (name: string, { destination }: NamedCatalog) => {
    const holder = holderOf(name)
    return holder !== undefined && isSameCatalog(holder, destination)
  }
  for (const catalog of unnamed) {
    const held = candidates(prefix, catalog).find((name) => !taken.has(name) && isHeldBy(name, catalog))
    if (held !== undefined) take(catalog, held)
  }
  for (const catalog of unnamed) {
    if (names.has(catalog)) continue
    const free = candidates(prefix, catalog).find((name) => !taken.has(name) && holderOf(name) === undefined)
    if (free === undefined) throw noName(catalog)
    take(catalog, free)
  }
  return catalogs.map((catalog) => names.get(catalog) ?? catalogName(prefix, catalog.destination))
}

function candidates(prefix: CatalogPrefix, { destination }: NamedCatalog): [string, string] {
  const plain = catalogName(prefix, destination)
  const { repository, tag, digest } = destination
  const hash = hexOf(digestOf(`${repository}:${tag ?? digest ?? ''}`)).slice(0, 8)
  return [plain, `${asLabel(plain, longest - 9)}-${hash}`]
}

function byDestination(a: NamedCatalog, b: NamedCatalog): number {
  const [one, other] = [formatReference(a.destination), formatReference(b.destination)]
  return one < other ? -1 : Number(one > other)
}

function checkedName(name: string): string {
  if (name.length <= longest && /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/.test(name)) return name
  throw new KnownError('CONFIG_INVALID', `"${name}" is no name for a CatalogSource`, {
    details: { name },
    hint: `Use lower-case letters, digits and -, at most ${longest} of them, and begin with a letter.`,
  })
}

function sameName(name: string, catalogs: readonly NamedCatalog[]): KnownError {
  const which = catalogs.map(({ destination }) => formatReference(destination)).join(' and ')
  return new KnownError('CONFIG_INVALID', `Two catalogs have the catalogSourceName ${name}: ${which}`, {
    details: { name },
    hint: 'Give each catalog its own catalogSourceName.',
  })
}

function noName({ destination }: NamedCatalog): KnownError {
  const image = formatReference(destination)
  return new KnownError('CONFIG_INVALID', `The names of the resources for ${image} are taken by other catalogs`, {
    details: { image },
    hint: 'Give it a catalogSourceName, or move the files of catalogs that are no longer used out of cluster-resources.',
  })
}
