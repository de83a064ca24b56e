/** The catalogs that arrived at a target, as their cluster resources need them. */
import { resolve } from 'node:path'
import type { OperatorContent } from '../config/image-set-content.ts'
import { readTextFile } from '../config/yaml-document.ts'
import type { MirroredCatalog } from '../mirror/catalog-resources.ts'
import type { MirrorTarget } from '../mirror/destination.ts'
import type { DoneImage } from '../mirror/done.ts'
import { catalogDestination } from '../mirror/operator-destination.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { isFiltered } from './operators.ts'

export interface ArrivedOptions {
  readonly target: MirrorTarget
  /** What is at the target. */
  readonly done: readonly DoneImage[]
  /** What paths of templates are relative to. */
  readonly cwd: string
}

/** @throws KnownError FILE_UNREADABLE for a template */
export async function arrivedCatalogs(
  entries: OperatorContent,
  { target, done, cwd }: ArrivedOptions,
): Promise<MirroredCatalog[]> {
  const arrived = entries.flatMap((entry) => {
    const image = done.find(({ digest, destination, class: of }) => {
      return of === 'operator' && destination === formatReference(catalogDestination(entry, target, digest))
    })
    return image ? [{ entry, image }] : []
  })
  return Promise.all(
    arrived.map(async ({ entry, image }) => {
      const file = entry.targetCatalogSourceTemplate
      const template = file === undefined ? undefined : { text: await readTextFile(resolve(cwd, file)), file }
      const { destination, digest } = image
      return { destination: parseReference(destination), digest, template, isRebuilt: isFiltered(entry) }
    }),
  )
}
