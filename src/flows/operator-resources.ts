/** The catalogs that arrived at a target, as their cluster resources need them. */
import type { OperatorContent } from '../config/image-set-content.ts'
import type { MirroredCatalog } from '../mirror/catalog-resources.ts'
import { readCatalogTemplate } from '../mirror/catalog-template.ts'
import type { MirrorTarget } from '../mirror/destination.ts'
import type { DoneImage } from '../mirror/done.ts'
import { catalogDestination, layoutDirectory } from '../mirror/operator-destination.ts'
import { formatReference, parseReference } from '../oci/reference.ts'

/** True where the catalog is made anew: all of it was not asked for, or a cluster cannot take it as it lies. */
export function isFiltered({ catalog, full, packages }: OperatorContent[number]): boolean {
  return layoutDirectory(catalog) !== undefined || full !== true || (packages?.length ?? 0) > 0
}

export interface ArrivedOptions {
  readonly target: MirrorTarget
  /** The catalogs that this run brought, or found there. */
  readonly arrived: readonly DoneImage[]
  /** What paths of templates are relative to. */
  readonly cwd: string
}

/** Reads every template, before anything is moved: one that is broken must not be found out at the end. */
export async function checkTemplates(entries: OperatorContent, cwd: string): Promise<void> {
  for (const { targetCatalogSourceTemplate: file } of entries) {
    if (file !== undefined) await readCatalogTemplate(file, cwd)
  }
}

/** @throws KnownError CONFIG_INVALID for a template */
export async function arrivedCatalogs(
  entries: OperatorContent,
  { target, arrived: images, cwd }: ArrivedOptions,
): Promise<MirroredCatalog[]> {
  const arrived = entries.flatMap((entry) => {
    const image = images.find(({ digest, destination }) => {
      return destination === formatReference(catalogDestination(entry, target, digest))
    })
    return image ? [{ entry, image }] : []
  })
  return Promise.all(
    arrived.map(async ({ entry, image }) => {
      const file = entry.targetCatalogSourceTemplate
      const template = file === undefined ? undefined : await readCatalogTemplate(file, cwd)
      const { destination, digest } = image
      const isRebuilt = isFiltered(entry)
      return { destination: parseReference(destination), digest, template, name: entry.catalogSourceName, isRebuilt }
    }),
  )
}
