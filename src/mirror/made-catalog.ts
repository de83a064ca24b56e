/** What a catalog that is made on this machine is called until it is at its target. Pure. */
import { digestOf, hexOf } from '../oci/digest.ts'
import type { Reference } from '../oci/reference.ts'
import { madeRegistry } from './made-content.ts'
import type { CatalogNaming } from './operator-destination.ts'

/** Follows from the configuration alone, so that both sides of the gap know it. */
export function madeCatalogReference({ catalog, targetCatalog, targetTag, targetName }: CatalogNaming): Reference {
  const naming = digestOf(JSON.stringify([catalog, targetCatalog, targetTag, targetName]))
  const name = catalog
    .replace(/[:@][^/]*$/, '')
    .replace(/^.*\//, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  const repository = `catalogs/${name.replaceAll(/^-+|-+$/g, '') || 'catalog'}`
  return { registry: madeRegistry, repository, tag: hexOf(naming).slice(0, 12) }
}
