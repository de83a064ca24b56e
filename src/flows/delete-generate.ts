/**
 * The first phase of a deletion: from a DeleteImageSetConfiguration to a list of images, for a person to read before
 * anything is deleted. Writes the list and nothing else.
 */
import { join } from 'node:path'
import type { DeleteImageSetConfiguration } from '../config/delete-image-set-configuration.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import { failureBits } from '../mirror/done.ts'
import { type ListedImage, listedBeside } from '../mirror/listed-image.ts'
import type { Fate } from '../mirror/plan-deletion.ts'
import type { PlannedRepository } from '../mirror/plan-deletions.ts'
import { writeIfChanged } from '../mirror/workspace.ts'
import { withWorkspaceLock } from '../mirror/workspace-lock.ts'
import type { Digest } from '../oci/digest.ts'
import { blobsOf, parseManifest } from '../oci/manifest.ts'
import { parseReference } from '../oci/reference.ts'
import { renderDeleteImageList } from '../openshift/delete-image-list.ts'
import { type DeleteContext, type DeleteRequest, openDeleteContext, planWith } from './delete-context.ts'
import { type FailedDeletion, selectUnwanted } from './delete-selection.ts'

export interface GenerateRequest extends DeleteRequest {
  readonly config: DeleteImageSetConfiguration
  /** The file as it was written, to be kept beside the list. */
  readonly configText: string
  /** Distinguishes the files of several deletions. */
  readonly id?: string
  /** Names that oc-mirror v1 gave. */
  readonly v1Names: boolean
}

export interface GeneratedDeletion {
  /** What is done with every image that was asked for. */
  readonly fates: readonly Fate<ListedImage>[]
  /** Signatures and other artifacts that go with their images. */
  readonly attached: readonly ListedImage[]
  readonly manifests: number
  /** Bytes that nothing at the target needs any more, as far as this workspace knows. */
  readonly bytes: number
  /** Images to be deleted that the last mirror of this workspace asked for. */
  readonly stillWanted: readonly string[]
  readonly failures: readonly FailedDeletion[]
  /** The list, and the configuration it was made from. */
  readonly files: readonly string[]
  readonly exitStatus: number
}

/** @throws KnownError where nothing could be begun; what failed for single images is in the result */
export async function generateDeletion(request: GenerateRequest): Promise<GeneratedDeletion> {
  return withWorkspaceLock(request.workspace, () => generate(request))
}

async function generate(request: GenerateRequest): Promise<GeneratedDeletion> {
  const context = await openDeleteContext(request)
  const { images, failures } = await selectUnwanted(request, context)
  const planned = await planWith(context, images)
  const fates = planned.repositories.flatMap(({ plan }) => plan.fates.filter(({ item }) => !item.isUnfinished))
  const attached = planned.repositories.flatMap(attachedOf)
  const all = [
    ...failures,
    ...planned.failures.map(({ image, error }) => ({ name: image.item.imageReference, class: image.class, error })),
  ]
  const listed = fates.filter(({ fate }) => fate === 'deleted' || fate === 'untagged').map(({ item }) => item)
  const wanted = new Set(context.wanted.map(({ destination }) => `docker://${destination}`))
  return {
    fates,
    attached,
    manifests: planned.repositories.reduce((sum, { plan }) => sum + plan.manifests.length, 0),
    bytes: await bytesFreed(planned.repositories, context),
    stillWanted: listed.map(({ item }) => item.imageReference).filter((image) => wanted.has(image)),
    failures: all,
    files: await writeFiles(request, [...listed, ...attached]),
    exitStatus: all.reduce((mask, failure) => mask | failureBits[failure.class], 0),
  }
}

/** Signatures by tag, and referrers by digest, that go although nobody listed them. */
function attachedOf({ repository, state, plan }: PlannedRepository): ListedImage[] {
  const [beside] = plan.fates.flatMap(({ item, fate }) => (fate === 'deleted' ? [item] : []))
  if (!beside) return []
  const going = new Set(plan.manifests)
  const tagged = new Set(plan.tags.values())
  const referrers = [...state.referrers].flatMap(([subject, attached]) => (going.has(subject) ? attached : []))
  const byDigest = [...new Set(referrers)].filter((digest) => going.has(digest) && !tagged.has(digest))
  return [
    ...plan.attachedTags.map((tag) => listedBeside(beside, { ...repository, tag })),
    ...byDigest.map((digest) => listedBeside(beside, { ...repository, digest })),
  ]
}

/** What goes, without what anything that stays shares with it, in any repository of the target that is known. */
async function bytesFreed(planned: readonly PlannedRepository[], context: DeleteContext): Promise<number> {
  const going = new Map<Digest, number>()
  const held = new Set<Digest>()
  for (const { state, plan } of planned) {
    const gone = new Set(plan.manifests)
    for (const [digest, { size, blobs }] of state.manifests) {
      const all = [{ digest, size }, ...blobs]
      for (const one of all) gone.has(digest) ? going.set(one.digest, one.size) : held.add(one.digest)
    }
  }
  const looked = new Set(planned.map(({ repository }) => repository.repository))
  const others = context.recorded.filter(({ destination }) => !looked.has(parseReference(destination).repository))
  await mapConcurrently(others, 16, (image) => holdImage(image, context, held))
  return [...going].reduce((sum, [digest, size]) => sum + (held.has(digest) ? 0 : size), 0)
}

async function holdImage(
  { destination, digest }: { destination: string; digest: Digest },
  { manifests, signal }: DeleteContext,
  held: Set<Digest>,
): Promise<void> {
  const { registry, repository } = parseReference(destination)
  const pending = [digest]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (held.has(next)) continue
    held.add(next)
    const raw = await manifests.fetchManifest({ registry, repository, digest: next }, signal)
    if (!raw) continue
    const manifest = parseManifest(raw.bytes, raw.descriptor.mediaType, destination)
    for (const blob of blobsOf(manifest)) held.add(blob.digest)
    if (manifest.kind === 'index') pending.push(...manifest.manifests.map((child) => child.digest))
  }
}

async function writeFiles(
  { workspace, id, configText }: GenerateRequest,
  listed: readonly ListedImage[],
): Promise<string[]> {
  const suffix = id === undefined ? '' : `-${id}`
  const list = join(workspace.root, 'delete', `delete-images${suffix}.yaml`)
  const config = join(workspace.root, 'delete', `delete-imageset-config${suffix}.yaml`)
  await writeIfChanged(list, renderDeleteImageList(listed.map(({ item }) => item)))
  await writeIfChanged(config, configText)
  return [list, config]
}
