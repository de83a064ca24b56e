/**
 * What was loaded into a target once and is not there any more: asked for digest by digest, each in every repository
 * that needs it.
 */
import type { ArchiveImage } from '../archive/format/records.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentTarget } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { formatReference, parseReference, type Reference, repositoryName } from '../oci/reference.ts'
import { destinationAt } from './archive-target.ts'
import { type MirrorTarget, targetRepository } from './destination.ts'
import type { MirrorPlan } from './plan.ts'

/** Requests at a time: they carry no bytes. */
const concurrency = 32

export interface LoadedContent {
  /** The plans of what was loaded. */
  readonly plans: readonly Pick<MirrorPlan, 'blobs' | 'manifests'>[]
  /** What the last archive wants at the target. */
  readonly images: readonly ArchiveImage[]
  /** Everything that arrived. */
  readonly arrived: ReadonlySet<Digest>
}

export interface AbsentOptions {
  readonly target: MirrorTarget
  readonly registry: Pick<ContentTarget, 'hasBlob' | 'resolve'>
  readonly signal: AbortSignal
  /** Called now and then with how much was asked for. */
  readonly onAsked?: (asked: { readonly done: number; readonly total: number }) => void
}

/** One question to the target. */
interface Question {
  readonly digest: Digest
  /** What is asked for, as people read it. */
  readonly name: string
  /** True for a manifest by its digest, which has blobs of its own. */
  readonly isManifest?: true
  readonly isThere: () => Promise<boolean>
}

/**
 * @returns what is absent, with a place where it should be
 * @throws KnownError where the target does not answer: silence is no absence
 */
export async function absentContent(
  loaded: LoadedContent,
  options: AbsentOptions,
): Promise<ReadonlyMap<Digest, string>> {
  const questions = new Questions(loaded, options).all()
  const absent = new Map<Digest, string>()
  const gone = new Map<Digest, string>()
  let done = 0
  await mapConcurrently(questions, concurrency, async ({ digest, name, isManifest, isThere }) => {
    options.signal.throwIfAborted()
    if (!(await isThere())) {
      absent.set(digest, [absent.get(digest) ?? name, name].sort()[0] ?? name)
      if (isManifest) gone.set(digest, name)
    }
    done += 1
    if (done % 100 === 0 || done === questions.length) options.onAsked?.({ done, total: questions.length })
  })
  return new Map([...doomed(gone, loaded), ...absent])
}

/** What only manifests that are gone need: a registry still has it, until its next garbage collection. */
function doomed(gone: ReadonlyMap<Digest, string>, { plans, arrived }: LoadedContent): Map<Digest, string> {
  const manifests = plans.flatMap((plan) => plan.manifests).filter(({ digest }) => arrived.has(digest))
  const needed = new Set(manifests.flatMap(({ digest, needs }) => (gone.has(digest) ? [] : needs)))
  const found = new Map<Digest, string>()
  for (const { digest, needs } of manifests) {
    const place = gone.get(digest)
    if (place === undefined) continue
    for (const need of needs) if (arrived.has(need) && !needed.has(need)) found.set(need, place)
  }
  return found
}

class Questions {
  readonly #loaded: LoadedContent
  readonly #options: AbsentOptions
  readonly #questions = new Map<string, Question>()
  /** Blobs that were asked for somewhere. */
  readonly #asked = new Set<Digest>()

  constructor(loaded: LoadedContent, options: AbsentOptions) {
    this.#loaded = loaded
    this.#options = options
  }

  all(): readonly Question[] {
    for (const { blobs, manifests } of this.#loaded.plans) {
      const descriptors = new Map(blobs.map((blob) => [blob.digest, blob]))
      for (const manifest of manifests) this.#manifest(manifest, descriptors)
      // A blob whose manifests did not arrive.
      for (const blob of blobs) {
        if (!this.#asked.has(blob.digest)) this.#blob(this.#at(blob.repositories[0]), blob)
      }
    }
    for (const { destination, digest } of this.#loaded.images) this.#tag(destination, digest)
    return [...this.#questions.values()]
  }

  #manifest({ destination, digest, needs }: MirrorPlan['manifests'][number], blobs: ReadonlyMap<Digest, Descriptor>) {
    if (!this.#loaded.arrived.has(digest)) return
    const repository = this.#at(repositoryName(parseReference(destination)))
    this.#resolve({ ...repository, digest }, digest)
    for (const need of needs) {
      const blob = blobs.get(need)
      if (blob) this.#blob(repository, blob)
    }
  }

  #blob(repository: Reference, blob: Descriptor): void {
    if (!this.#loaded.arrived.has(blob.digest)) return
    this.#asked.add(blob.digest)
    const name = formatReference({ ...repository, digest: blob.digest })
    const { registry, signal } = this.#options
    this.#ask({ digest: blob.digest, name, isThere: () => registry.hasBlob(repository, blob, signal) })
  }

  /** Without its tag an image cannot be asked for by the names that clusters have; with its manifest the tag comes back. */
  #tag(destination: string, digest: Digest): void {
    const { registry, repository, tag } = destinationAt(this.#options.target, destination)
    if (tag !== undefined && this.#loaded.arrived.has(digest)) this.#resolve({ registry, repository, tag }, digest)
  }

  #resolve(reference: Reference, digest: Digest): void {
    const { registry, signal } = this.#options
    const isThere = async () => (await registry.resolve(reference, signal))?.digest === digest
    const isManifest = reference.digest !== undefined
    this.#ask({ digest, name: formatReference(reference), isThere, ...(isManifest && { isManifest }) })
  }

  #ask(question: Question): void {
    if (!this.#questions.has(question.name)) this.#questions.set(question.name, question)
  }

  /** A repository of a plan for an archive, at the target. */
  #at(repository: string): Reference {
    return targetRepository(this.#options.target, repository.slice(repository.indexOf('/') + 1))
  }
}
