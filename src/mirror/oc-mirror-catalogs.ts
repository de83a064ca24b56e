/**
 * Where oc-mirror v2 keeps operator catalogs in its cache: the one of upstream under the name that it has at a target, and
 * the one that it filtered beside it, under a hash of what was asked for.
 *
 * Source: openshift/oc-mirror `internal/pkg/operator/{filtered_collector,common}.go`, `internal/pkg/config/pin_catalogs.go`.
 */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import type { OcMirrorImage, StoredName } from '../archive/oc-mirror/oc-mirror-archive.ts'
import type { OperatorContent } from '../config/image-set-content.ts'
import { withoutTransport } from '../config/image-set-values.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { tagFor } from './destination.ts'
import { madeCatalogReference } from './made-catalog.ts'
import { layoutDirectory } from './operator-destination.ts'

type OperatorEntry = OperatorContent[number]

/** By the name that the image has as a source here: the likeliest names first. */
export function storedCatalogs(
  operators: OperatorContent,
  images: readonly OcMirrorImage[],
): ReadonlyMap<string, readonly StoredName[]> {
  return new Map(
    operators.flatMap((entry): [string, readonly StoredName[]][] => {
      const original = originalName(entry)
      const filtered = filteredNames(entry, { original, images })
      const isWhole = entry.full === true && (entry.packages?.length ?? 0) === 0
      const made = formatReference(madeCatalogReference(entry))
      if (layoutDirectory(entry.catalog) !== undefined) return [[made, isWhole ? [original] : filtered]]
      const source = formatReference(parseReference(withoutTransport(entry.catalog)))
      return [
        [made, filtered],
        [source, [original]],
      ]
    }),
  )
}

function originalName({ catalog, targetCatalog, targetTag }: OperatorEntry): StoredName {
  const layout = layoutDirectory(catalog)
  if (layout !== undefined) {
    const repository = layout
      .replace(/[@:][^/]*$/, '')
      .replace(/\/+$/, '')
      .replace(/^.*\//, '')
    return { repository: targetCatalog ?? repository, tag: targetTag ?? 'latest' }
  }
  const reference = parseReference(withoutTransport(catalog))
  return { repository: targetCatalog ?? reference.repository, tag: targetTag ?? tagFor(reference, 'other') }
}

interface Stored {
  readonly original: StoredName
  readonly images: readonly OcMirrorImage[]
}

/** The hashes that versions of oc-mirror give; where none of them is there, the only one that is. */
function filteredNames(entry: OperatorEntry, { original, images }: Stored): StoredName[] {
  const { repository } = original
  const beside = images.filter((image) => image.repository === repository)
  const tags = beside.map(({ tag }) => tag).filter((tag) => /^[0-9a-f]{32}$/.test(tag))
  const digest = beside.find(({ tag }) => tag === original.tag)?.digest
  const own = filterHashes(entry, digest).filter((tag) => tags.includes(tag))
  const found = own.length > 0 || tags.length !== 1 ? own : tags
  return found.map((tag) => ({ repository, tag }))
}

function filterHashes(entry: OperatorEntry, digest: string | undefined): string[] {
  const plain = entry.catalog.replace(/^docker:\/\//, '')
  const layout = layoutDirectory(entry.catalog)
  const name = layout === undefined ? plain.replace(/@.*$/, '').replace(/:[^/]*$/, '') : resolve(layout)
  const pinned = digest === undefined ? [] : [`${name}@${digest}`, `${layout ?? name}@${digest}`]
  return [...new Set([...pinned, entry.catalog].map((catalog) => filterHash(entry, catalog)))]
}

/** The MD5 of the entry as Go writes it: fields in the order of their declarations, without those that are empty. */
function filterHash(entry: OperatorEntry, catalog: string): string {
  const text = JSON.stringify({
    packages:
      entry.packages?.map((one) => ({
        name: one.name,
        channels: one.channels?.length
          ? one.channels.map(({ name, ...range }) => ({ name, ...rangeOf(range) }))
          : undefined,
        defaultChannel: one.defaultChannel || undefined,
        ...rangeOf(one),
      })) ?? null,
    catalog,
    full: entry.full || undefined,
    skipDependencies: entry.skipDependencies || undefined,
    platforms: entry.platforms?.length
      ? entry.platforms.map(({ os, architecture }) => ({ os, architecture }))
      : undefined,
  }).replaceAll(/[<>&\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return createHash('md5').update(text).digest('hex')
}

function rangeOf({ minVersion, maxVersion }: { minVersion?: string | undefined; maxVersion?: string | undefined }) {
  return { minVersion: minVersion || undefined, maxVersion: maxVersion || undefined }
}
