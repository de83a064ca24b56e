/**
 * The two ends of every transfer.
 *
 * A registry, an OCI layout, the store and an archive all implement these, so that mirror to mirror, mirror to disk and
 * disk to mirror are one `transfer`. Repositories are written `HOST/PATH` for a registry.
 */
import type { Descriptor } from './descriptor.ts'
import type { Digest } from './digest.ts'
import type { Reference } from './reference.ts'

/** A manifest as it lies in a registry: the exact bytes, because their digest is their name. */
export interface RawManifest {
  readonly descriptor: Descriptor
  readonly bytes: Uint8Array
}

export interface ContentSource {
  /** What a reference stands for now, or undefined where there is no such manifest. Cheap: no body is moved. */
  resolve(reference: Reference, signal?: AbortSignal): Promise<Descriptor | undefined>
  /**
   * What `tag` stands for in the place that `subject` was read from: a signature counts only beside its image, so a
   * place further down the line is not asked (containers/image `docker/docker_image_src.go:getSignaturesFromSigstoreAttachments`).
   */
  resolveBeside(subject: Reference, tag: string, signal?: AbortSignal): Promise<Descriptor | undefined>
  /** The manifest, proven against its digest; undefined where there is none. */
  fetchManifest(reference: Reference, signal?: AbortSignal): Promise<RawManifest | undefined>
  /**
   * The bytes of a blob from `offset`, resumed as often as the link breaks. NOT proven: the consumer hashes them, once.
   *
   * @throws KnownError BLOB_UNKNOWN and the REGISTRY_ codes
   */
  fetchBlob(repository: Reference, descriptor: Descriptor, options?: FetchBlobOptions): AsyncIterable<Uint8Array>
  /** Manifests whose `subject` is this one (distribution-spec, "Listing Referrers"); empty where not supported. */
  referrers(repository: Reference, subject: Digest, signal?: AbortSignal): Promise<readonly Descriptor[]>
  /**
   * The place that `subject` is read from, by the name that it has there; undefined where nobody has it. A source without
   * this reads everything from where its name says.
   */
  locate?(subject: Reference, signal?: AbortSignal): Promise<Reference | undefined>
  /** Every tag of a repository; undefined where the repository does not exist. A source without this cannot list them. */
  tags?(repository: Reference, signal?: AbortSignal): Promise<readonly string[] | undefined>
}

export interface FetchBlobOptions {
  /** First byte wanted. */
  readonly offset?: number
  readonly signal?: AbortSignal
}

export interface ContentTarget {
  resolve(reference: Reference, signal?: AbortSignal): Promise<Descriptor | undefined>
  /** True when this repository already has the blob. */
  hasBlob(repository: Reference, descriptor: Descriptor, signal?: AbortSignal): Promise<boolean>
  /** True when the blob is now in `repository`, taken from `from` in the same registry without moving bytes. */
  mountBlob(repository: Reference, descriptor: Descriptor, from: Reference, signal?: AbortSignal): Promise<boolean>
  /**
   * Stores a blob. `open(offset)` gives its bytes from an offset, so that a broken upload goes on where the target
   * stands; the target proves the whole before it is visible.
   */
  pushBlob(repository: Reference, descriptor: Descriptor, open: OpenBlob, options?: PushBlobOptions): Promise<void>
  /** Stores a manifest under its digest, or under the tag of `reference`. */
  pushManifest(reference: Reference, manifest: RawManifest, signal?: AbortSignal): Promise<void>
  /** Every tag of a repository; undefined where the repository does not exist. */
  tags(repository: Reference, signal?: AbortSignal): Promise<readonly string[] | undefined>
}

export type OpenBlob = (offset: number, signal: AbortSignal) => AsyncIterable<Uint8Array>

export interface PushBlobOptions {
  readonly signal?: AbortSignal
  /** Names the place that the bytes come from, for the message when they are the wrong ones. */
  readonly origin?: string
  /** Called with the number of bytes that newly arrived at the target. */
  readonly onBytes?: (count: number) => void
  /** An upload that an earlier run left, to be gone on with. */
  readonly session?: UploadSession
  /** Called whenever there is a session worth remembering across a crash. */
  readonly onSession?: (session: UploadSession) => Promise<void> | void
}

/** An unfinished upload at a registry (distribution-spec, "Pushing a blob in chunks"). */
export interface UploadSession {
  readonly location: string
}
