/** A catalog that was filtered, as an image: made anew, and kept in the workspace. */
import { join } from 'node:path'
import type { Catalog } from '../catalog/meta.ts'
import { rebuildCatalog } from '../catalog/rebuild.ts'
import type { CatalogSelection } from '../catalog/selection.ts'
import type { OperatorContent } from '../config/image-set-content.ts'
import { madeCatalogReference } from '../mirror/made-catalog.ts'
import type { MadeImage, OpenMadeBlob } from '../mirror/made-content.ts'
import type { Workspace } from '../mirror/workspace.ts'
import type { RawManifest } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { blobsOf, parseManifest } from '../oci/manifest.ts'
import { formatReference } from '../oci/reference.ts'
import { catalogsDirectory, nameKeptCatalog } from './kept-made.ts'
import { layoutRegistry, type OpenedCatalog, type OpenedImage } from './open-catalog.ts'

type OperatorEntry = OperatorContent[number]

export interface ReadCatalog {
  readonly opened: OpenedCatalog
  readonly catalog: Catalog
  readonly selection: CatalogSelection
}

interface Making extends ReadCatalog {
  readonly image: OpenedImage
  readonly workspace: Workspace
  readonly signal: AbortSignal
}

/** @throws KnownError as `rebuildCatalog` */
export async function makeCatalog(entry: OperatorEntry, making: Making): Promise<MadeImage> {
  const { image, opened, catalog, selection, workspace, signal } = making
  const { registry, repository } = image.reference
  const reference = madeCatalogReference(entry)
  const architectures = architecturesOf(entry)
  const directory = join(catalogsDirectory(workspace), reference.tag ?? '')
  const rebuilt = await rebuildCatalog({
    ...{ source: image.source, files: opened.files, catalog, selection, signal },
    reference: { registry, repository, digest: image.digest },
    directory,
    ...(architectures && { architectures }),
  })
  const { manifests, blobs, base } = rebuilt
  await nameKeptCatalog(directory, { reference, manifests, blobs, base })
  if (registry !== layoutRegistry) return { reference, manifests, blobs, base }
  return { reference, manifests, blobs: new Map([...layoutBlobs(manifests, image, signal), ...blobs]) }
}

/** What stays of an image in a layout is read from there. */
function layoutBlobs(manifests: readonly RawManifest[], { source, reference }: OpenedImage, signal: AbortSignal) {
  const descriptors = manifests.flatMap(({ bytes, descriptor }) =>
    blobsOf(parseManifest(bytes, descriptor.mediaType, formatReference(reference))),
  )
  return new Map(
    descriptors.map((descriptor): [Digest, OpenMadeBlob] => [
      descriptor.digest,
      (options) => source.fetchBlob(reference, descriptor, { signal, ...options }),
    ]),
  )
}

/** Of a catalog; undefined for all that it has. */
export function architecturesOf({ platforms }: OperatorEntry): string[] | undefined {
  return platforms?.map(({ architecture }) => architecture)
}
