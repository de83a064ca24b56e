/**
 * Everything that belongs to an image: its manifests down to the last platform, and what is attached to each of them.
 *
 * Attached are cosign's `sha256-<hex>.sig` tags (sigstore/cosign `specs/SIGNATURE_SPEC.md`) and referrers
 * (distribution-spec, "Listing Referrers"). Both are images of their own at the target: same repository, own name.
 */
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { blobsOf, childrenOf, parseManifest } from '../oci/manifest.ts'
import { unknownManifest } from '../oci/read-image.ts'
import { formatReference, isTag, type Reference } from '../oci/reference.ts'
import { chosenChildren } from './platform-choice.ts'
import type { SelectedImage } from './selection.ts'

export interface ResolvedManifest {
  readonly descriptor: Descriptor
  /** The blobs that must be in the repository before this manifest. */
  readonly blobs: readonly Descriptor[]
  /** The manifests that must be in the repository before this one. */
  readonly children: readonly Digest[]
  /** True for an index that names more manifests than come with it. */
  readonly isSparse?: true
}

export interface ResolvedImage {
  readonly selected: SelectedImage
  readonly digest: Digest
  /** Children before parents; the last is the image itself. */
  readonly manifests: readonly ResolvedManifest[]
  /** What this one is attached to; undefined for an image that was asked for. */
  readonly attachedTo?: Digest
}

export interface ClosureOptions {
  readonly source: ContentSource
  readonly signal: AbortSignal
  /** Requests at a time for one image. */
  readonly concurrency?: number
  /** Leaves out signatures and everything else that is attached. */
  readonly withoutAttached?: boolean
}

/**
 * The image and all that is attached to it, the image first.
 *
 * @throws KnownError MANIFEST_UNKNOWN, MANIFEST_INVALID and the REGISTRY_ codes
 */
export async function resolveImage(
  selected: SelectedImage,
  options: ClosureOptions,
): Promise<readonly ResolvedImage[]> {
  const image = await resolveOne(selected, options)
  if (options.withoutAttached) return [image]
  const subjects = image.manifests.map((manifest) => manifest.descriptor.digest)
  const attached = await attachedTo(selected, subjects, { ...options, seen: new Set(subjects) })
  return [image, ...attached]
}

async function resolveOne(selected: SelectedImage, options: ClosureOptions): Promise<ResolvedImage> {
  const manifests = new Map<Digest, ResolvedManifest>()
  // Two indexes may name one image: whoever comes second waits for the first.
  const visits = new Map<Digest, Promise<Digest>>()
  const visit = async (reference: Reference, expected?: Descriptor): Promise<Digest> => {
    const raw = await options.source.fetchManifest(reference, options.signal)
    if (!raw) throw unknownManifest(formatReference(reference))
    const { digest } = raw.descriptor
    const manifest = parseManifest(
      raw.bytes,
      raw.descriptor.mediaType || expected?.mediaType,
      formatReference(reference),
    )
    const children = chosenChildren(manifest, selected.platforms)
    await mapConcurrently(children, options.concurrency ?? 8, async (child) => {
      const visited = visits.get(child.digest) ?? visit(byDigest(selected.source, child.digest), child)
      visits.set(child.digest, visited)
      await visited
    })
    manifests.set(digest, {
      descriptor: { mediaType: manifest.mediaType, digest, size: raw.bytes.byteLength },
      blobs: uniqueBlobs(blobsOf(manifest)),
      children: children.map((child) => child.digest),
      ...(children.length < childrenOf(manifest).length && { isSparse: true as const }),
    })
    return digest
  }
  const { source } = selected
  // A tag beside a digest is a name for people; the digest decides.
  const digest = await visit(source.digest ? byDigest(source, source.digest) : source)
  return { selected, digest, manifests: inOrder(manifests, digest) }
}

/** Children before parents, each once, the same for every run: the order in which the index names them. */
function inOrder(manifests: ReadonlyMap<Digest, ResolvedManifest>, root: Digest): ResolvedManifest[] {
  const ordered = new Map<Digest, ResolvedManifest>()
  const visit = (digest: Digest) => {
    const manifest = manifests.get(digest)
    if (!manifest || ordered.has(digest)) return
    for (const child of manifest.children) visit(child)
    ordered.set(digest, manifest)
  }
  visit(root)
  return [...ordered.values()]
}

function uniqueBlobs(blobs: readonly Descriptor[]): readonly Descriptor[] {
  const unique = new Map(blobs.map(({ digest, size, mediaType }) => [digest, { digest, size, mediaType }]))
  return [...unique.values()]
}

async function attachedTo(
  selected: SelectedImage,
  subjects: readonly Digest[],
  options: ClosureOptions & { seen: Set<Digest> },
): Promise<ResolvedImage[]> {
  const found = await mapConcurrently(subjects, options.concurrency ?? 8, async (subject) => [
    ...(await signatureOf(selected, subject, options)),
    ...(await referrersOf(selected, subject, options)),
  ])
  return found.flat()
}

async function signatureOf(
  selected: SelectedImage,
  subject: Digest,
  options: ClosureOptions,
): Promise<ResolvedImage[]> {
  const tag = `${subject.replace(':', '-')}.sig`
  // cosign knows sha256 only.
  if (!isTag(tag)) return []
  const signature = await options.source.resolveBeside(byDigest(selected.source, subject), tag, options.signal)
  if (!signature) return []
  const attachment: SelectedImage = {
    source: { ...tagged(selected.source, tag), digest: signature.digest },
    class: selected.class,
    destination: tagged(selected.destination, tag),
    why: `signature of ${subject}`,
  }
  return [{ ...(await resolveOne(attachment, options)), attachedTo: subject }]
}

async function referrersOf(
  selected: SelectedImage,
  subject: Digest,
  options: ClosureOptions & { seen: Set<Digest> },
): Promise<ResolvedImage[]> {
  const referrers = await options.source.referrers(selected.source, subject, options.signal)
  const fresh = referrers.filter(({ digest }) => !options.seen.has(digest))
  for (const { digest } of fresh) options.seen.add(digest)
  const resolved = await mapConcurrently(fresh, options.concurrency ?? 8, async ({ digest, artifactType }) => {
    const attachment: SelectedImage = {
      source: byDigest(selected.source, digest),
      class: selected.class,
      destination: byDigest(selected.destination, digest),
      why: `${artifactType ?? 'artifact'} attached to ${subject}`,
    }
    const image: ResolvedImage = { ...(await resolveOne(attachment, options)), attachedTo: subject }
    // A signature of a bill of materials is attached to the attachment.
    return [image, ...(await referrersOf(selected, digest, options))]
  })
  return resolved.flat()
}

function tagged({ registry, repository }: Reference, tag: string): Reference {
  return { registry, repository, tag }
}

export function byDigest({ registry, repository }: Reference, digest: Digest): Reference {
  return { registry, repository, digest }
}
