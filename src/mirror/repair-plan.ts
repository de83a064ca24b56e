import type { Digest } from '../oci/digest.ts'
import type { MirrorPlan } from './plan.ts'

/** The part of a plan that brings `wanted` again, and no image: those were brought before. Pure. */
export function planAgain(plan: MirrorPlan, wanted: ReadonlySet<Digest>): MirrorPlan {
  const blobs = plan.blobs.filter(({ digest }) => wanted.has(digest))
  const manifests = plan.manifests
    .filter(({ digest }) => wanted.has(digest))
    .map((manifest) => ({ ...manifest, needs: manifest.needs.filter((digest) => wanted.has(digest)) }))
  const bytes = blobs.reduce((sum, { size }) => sum + size, 0)
  return {
    ...plan,
    images: [],
    blobs,
    manifests,
    totals: {
      images: 0,
      present: 0,
      blobs: blobs.length,
      bytes,
      logicalBytes: bytes,
      mounts: blobs.reduce((sum, { repositories }) => sum + repositories.length - 1, 0),
      manifests: manifests.length,
    },
  }
}
