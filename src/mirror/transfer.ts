/**
 * Moves what a plan names: every blob once, largest first; then manifests level by level; tags last.
 *
 * Safe to repeat: what is at the target is skipped by digest, so an interrupted run loses at most the chunks in flight.
 * One image that cannot be moved does not stop the others.
 */
import { KnownError } from '../errors/known-error.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentSource, ContentTarget, OpenBlob } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { unknownManifest } from '../oci/read-image.ts'
import { parseReference, type Reference, repositoryName } from '../oci/reference.ts'
import { byDigest } from './closure.ts'
import type { OnMirrorEvent } from './events.ts'
import type { Holdings } from './holdings.ts'
import type { LocalContent } from './local-content.ts'
import type { MirrorPlan, PlannedBlob, PlannedManifest } from './plan.ts'

export interface TransferOptions {
  readonly source: ContentSource
  readonly target: ContentTarget
  /** Copies on this machine; none where the source itself is on it. */
  readonly local?: LocalContent
  /** What earlier runs left at a registry; none for a target that knows by itself. */
  readonly holdings?: Holdings
  readonly signal: AbortSignal
  readonly onEvent: OnMirrorEvent
  /** Blobs under way at a time; the client slows down by itself where a registry asks for it. */
  readonly concurrency?: number
}

export interface TransferReport {
  readonly pushedBytes: number
  readonly pushedBlobs: number
  readonly mountedBlobs: number
  readonly presentBlobs: number
  readonly manifests: number
  /** By destination of the manifest that could not be stored. */
  readonly failures: ReadonlyMap<string, unknown>
}

type How = 'pushed' | 'mounted' | 'present'

const defaultConcurrency = 16
const mountConcurrency = 8

class Transfer {
  readonly #options: TransferOptions
  readonly #counts: Record<How, number> = { pushed: 0, mounted: 0, present: 0 }
  #pushedBytes = 0
  #manifests = 0
  /** What did not arrive, by `HOST/PATH DIGEST`, with the reason. */
  readonly #missing = new Map<string, unknown>()
  readonly #failures = new Map<string, unknown>()

  constructor(options: TransferOptions) {
    this.#options = options
  }

  async run(plan: MirrorPlan): Promise<TransferReport> {
    const limit = this.#options.concurrency ?? defaultConcurrency
    await mapConcurrently(plan.blobs, limit, (blob) => this.#moveBlob(blob))
    for (const level of levels(plan.manifests)) {
      await mapConcurrently(level, limit, (manifest) => this.#moveManifest(manifest))
    }
    return {
      pushedBytes: this.#pushedBytes,
      pushedBlobs: this.#counts.pushed,
      mountedBlobs: this.#counts.mounted,
      presentBlobs: this.#counts.present,
      manifests: this.#manifests,
      failures: this.#failures,
    }
  }

  async #moveBlob(blob: PlannedBlob): Promise<void> {
    const [first, ...others] = blob.repositories
    try {
      await this.#arrived(blob, first, await this.#bring(blob, first))
    } catch (error) {
      this.#options.signal.throwIfAborted()
      for (const repository of blob.repositories) this.#missing.set(`${repository} ${blob.digest}`, error)
      return
    }
    await mapConcurrently(others, mountConcurrency, async (repository) => {
      try {
        await this.#arrived(blob, repository, await this.#mountOrPush(blob, repository, first))
      } catch (error) {
        this.#options.signal.throwIfAborted()
        this.#missing.set(`${repository} ${blob.digest}`, error)
      }
    })
  }

  async #arrived(blob: PlannedBlob, repository: string, how: How): Promise<void> {
    this.#counts[how] += 1
    if (how === 'pushed') this.#pushedBytes += blob.size
    await this.#options.holdings?.arrived(repository, blob.digest)
    this.#options.onEvent({ type: 'blob.arrived', digest: blob.digest, size: blob.size, repository, how })
  }

  /** Gets a blob into the first repository that needs it, from the cheapest place that has it. */
  async #bring(blob: PlannedBlob, repository: string): Promise<How> {
    const { target, holdings, signal } = this.#options
    const reference = parseReference(repository)
    if (await target.hasBlob(reference, blob, signal)) return 'present'
    const holder = holdings?.holderOf(blob.digest)
    const canMount = holder !== undefined && holder !== repository
    if (canMount && (await target.mountBlob(reference, blob, parseReference(holder), signal))) return 'mounted'
    return this.#push(blob, reference)
  }

  async #mountOrPush(blob: PlannedBlob, repository: string, from: string): Promise<How> {
    const { target, signal } = this.#options
    const reference = parseReference(repository)
    if (await target.mountBlob(reference, blob, parseReference(from), signal)) return 'mounted'
    if (await target.hasBlob(reference, blob, signal)) return 'present'
    return this.#push(blob, reference)
  }

  async #push(blob: PlannedBlob, repository: Reference): Promise<How> {
    const { source, target, local, holdings, signal, onEvent } = this.#options
    const name = repositoryName(repository)
    const session = holdings?.uploadOf(name, blob.digest)
    const here = await local?.openBlob(blob)
    const origin = parseReference(blob.source)
    const open: OpenBlob = here ?? ((offset, within) => source.fetchBlob(origin, blob, { offset, signal: within }))
    await target.pushBlob(repository, blob, open, {
      signal,
      origin: blob.source,
      ...(session && { session }),
      onBytes: (bytes) => onEvent({ type: 'blob.progressed', bytes }),
      ...(holdings && { onSession: (begun) => holdings.began(name, blob.digest, begun) }),
    })
    return 'pushed'
  }

  async #moveManifest(manifest: PlannedManifest): Promise<void> {
    const { target, signal, onEvent } = this.#options
    const destination = parseReference(manifest.destination)
    const repository = repositoryName(destination)
    try {
      const missing = manifest.needs.find((digest) => this.#missing.has(`${repository} ${digest}`))
      if (missing !== undefined) throw this.#missing.get(`${repository} ${missing}`)
      const bytes = await readManifest(manifest, this.#options)
      await target.pushManifest(destination, { descriptor: descriptorOf(manifest), bytes }, signal)
      this.#manifests += 1
      onEvent({ type: 'manifest.arrived', destination: manifest.destination, digest: manifest.digest })
    } catch (error) {
      signal.throwIfAborted()
      const told = manifest.isSparse ? sparseRefusal(manifest, error) : error
      this.#missing.set(`${repository} ${manifest.digest}`, told)
      this.#failures.set(manifest.destination, told)
    }
  }
}

/**
 * Carries out a plan.
 *
 * @throws only when interrupted; what could not be moved is in the report
 */
export async function transfer(plan: MirrorPlan, options: TransferOptions): Promise<TransferReport> {
  return new Transfer(options).run(plan)
}

async function readManifest(
  manifest: PlannedManifest,
  { local, source, signal }: TransferOptions,
): Promise<Uint8Array> {
  const here = await local?.readManifest(descriptorOf(manifest))
  if (here) return here.bytes
  const origin: Reference = byDigest(parseReference(manifest.source), manifest.digest)
  const raw = await source.fetchManifest(origin, signal)
  if (raw) return raw.bytes
  throw unknownManifest(`${manifest.source}@${manifest.digest}`)
}

function descriptorOf({ digest, size, mediaType }: PlannedManifest): Descriptor {
  return { digest, size, mediaType }
}

function levels(manifests: readonly PlannedManifest[]): PlannedManifest[][] {
  return [...Map.groupBy(manifests, ({ level }) => level).entries()].sort(([a], [b]) => a - b).map(([, group]) => group)
}

/**
 * Registries refuse an index whose children are not all there in several ways: 404 with MANIFEST_BLOB_UNKNOWN or nothing at
 * all, 400, 422. One without rights, or in trouble, is told as it is.
 */
function sparseRefusal({ destination }: PlannedManifest, error: unknown): unknown {
  const status = error instanceof KnownError ? Number(error.details['status']) : Number.NaN
  if (!(error instanceof KnownError) || ![400, 404, 405, 409, 412, 422].includes(status)) return error
  const why = 'the registry wants every platform of an index, and the configuration asks for some'
  return new KnownError('REGISTRY_SPARSE_REFUSED', `${destination}: ${why}: ${error.message}`, {
    details: { ...error.details, image: destination },
    cause: error,
  })
}

/** The error of a failed image as one to show: what it was, and what to do. */
export function asKnownError(error: unknown, image: string): KnownError {
  if (error instanceof KnownError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new KnownError('MIRROR_INCOMPLETE', `${image}: ${message}`, { details: { image }, cause: error })
}
