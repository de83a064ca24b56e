/**
 * From the bundles that are to be deleted to the images that go with them: those that no bundle that stays names as well
 * (openshift/oc-mirror `internal/pkg/operator/delete_shared.go` looks within one package; here it is all catalogs that are known).
 *
 * The catalog itself is never deleted, as in oc-mirror: others of its bundles may still be there. Pure.
 */
import { formatReference } from '../oci/reference.ts'
import type { MirrorTarget } from './destination.ts'
import { type ChosenBundles, operatorImages } from './select-operators.ts'
import type { SelectedImage, UnreadableImage } from './selection.ts'

export interface OperatorDeletion {
  readonly images: readonly SelectedImage[]
  /** What stays, and for whom. */
  readonly shared: readonly { readonly image: SelectedImage; readonly usedBy: string }[]
  readonly unreadable: readonly UnreadableImage[]
}

interface OperatorDeletionRequest {
  readonly unwanted: readonly ChosenBundles[]
  /** Every bundle that is known to be mirrored; those of `unwanted` among them do not count. */
  readonly mirrored: readonly ChosenBundles[]
  readonly target: MirrorTarget
}

export function operatorImagesToDelete({ unwanted, mirrored, target }: OperatorDeletionRequest): OperatorDeletion {
  const gone = new Set(unwanted.flatMap(({ catalog, bundles }) => bundles.map((one) => idOf(catalog, one))))
  const staying = mirrored.map(({ catalog, bundles }) => {
    return { catalog, bundles: bundles.filter((one) => !gone.has(idOf(catalog, one))) }
  })
  const users = new Map<string, string>()
  for (const { source, why, alsoNamed = [] } of operatorImages(staying, { target }).images)
    for (const name of [source, ...alsoNamed]) users.set(formatReference(name), why)
  const { images, unreadable } = operatorImages(unwanted, { target })
  const judged = images.map((image) => {
    const names = [image.source, ...(image.alsoNamed ?? [])].map(formatReference)
    return { image, usedBy: names.map((name) => users.get(name)).find((why) => why !== undefined) }
  })
  return {
    images: judged.flatMap(({ image, usedBy }) => (usedBy === undefined ? [image] : [])),
    shared: judged.flatMap(({ image, usedBy }) => (usedBy === undefined ? [] : [{ image, usedBy }])),
    unreadable,
  }
}

/** Two catalogs may have bundles of one name. */
function idOf(catalog: string, bundle: { readonly package: string; readonly name: string }): string {
  return JSON.stringify([catalog, bundle.package, bundle.name])
}
