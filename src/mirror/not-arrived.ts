/** What of an archive never gets to the target. Pure. */
import type { ArchiveDraft } from '../archive/format/compose-front.ts'
import type { ArchiveHole } from '../archive/format/records.ts'
import type { Digest } from '../oci/digest.ts'
import type { MirrorPlan } from './plan.ts'
import { parsePlan } from './plan-file.ts'

/** What an archive carries and no image that arrived needs: what of it is not at the target after a load. */
export function notArrived(
  carried: Iterable<Digest>,
  { manifests }: Pick<MirrorPlan, 'manifests'>,
  arrived: readonly Digest[],
): Digest[] {
  const needs = new Map(manifests.map((manifest) => [manifest.digest, manifest.needs]))
  const reached = new Set<Digest>()
  const open = [...arrived]
  for (let digest = open.pop(); digest !== undefined; digest = open.pop()) {
    if (reached.has(digest)) continue
    reached.add(digest)
    open.push(...(needs.get(digest) ?? []))
  }
  return [...carried].filter((digest) => !reached.has(digest))
}

/**
 * What an archive carries for its holes alone: an image that is not whole stays in the archive with all that it has, so that
 * the next archive has to carry that again.
 *
 * @param archive with a plan that tells of each manifest what it needs
 */
export function carriedInVain(
  { carried, images, plan }: Pick<ArchiveDraft, 'carried' | 'images' | 'plan'>,
  holes: readonly ArchiveHole[],
): Digest[] {
  if (holes.length === 0) return []
  const failed = new Set(holes.map(({ destination }) => destination))
  let isWhole = false
  const whole = images.filter(({ destination, attachedTo }) => {
    // What is attached follows its image.
    if (attachedTo === undefined) isWhole = !failed.has(destination)
    return isWhole && !failed.has(destination)
  })
  const text = [...plan()].join('')
  const digests = carried.map(({ digest }) => digest)
  return notArrived(
    digests,
    parsePlan(text, 'plan'),
    whole.map(({ digest }) => digest),
  )
}
