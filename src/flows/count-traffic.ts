/** Counts what crosses between two registries, where it crosses. */
import type { ContentSource, ContentTarget } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'

export interface Traffic {
  readonly manifests: number
  /** Distinct blobs. */
  readonly blobs: number
  /** How often a blob was moved: the same as `blobs` where each moved once. */
  readonly transfers: number
  /** Bytes of blobs, repeated ones counted again. */
  readonly bytes: number
}

export class TrafficCounter {
  #manifests = 0
  #transfers = 0
  #bytes = 0
  readonly #blobs = new Set<Digest>()

  manifest(): void {
    this.#manifests += 1
  }

  blob(digest: Digest): void {
    this.#blobs.add(digest)
    this.#transfers += 1
  }

  bytes(count: number): void {
    this.#bytes += count
  }

  get traffic(): Traffic {
    return { manifests: this.#manifests, blobs: this.#blobs.size, transfers: this.#transfers, bytes: this.#bytes }
  }
}

/** `source`, counting manifests and blobs that are read from it. */
export function countReads(source: ContentSource, counter: TrafficCounter): ContentSource {
  return {
    resolve: (reference, signal) => source.resolve(reference, signal),
    resolveBeside: (subject, tag, signal) => source.resolveBeside(subject, tag, signal),
    referrers: (repository, subject, signal) => source.referrers(repository, subject, signal),
    locate: async (subject, signal) => (source.locate ? source.locate(subject, signal) : subject),
    fetchManifest: async (reference, signal) => {
      const manifest = await source.fetchManifest(reference, signal)
      if (manifest) counter.manifest()
      return manifest
    },
    fetchBlob: async function* (repository, descriptor, options) {
      counter.blob(descriptor.digest)
      for await (const chunk of source.fetchBlob(repository, descriptor, options)) {
        counter.bytes(chunk.byteLength)
        yield chunk
      }
    },
  }
}

/** `target`, counting manifests and blobs that it receives. */
export function countWrites(target: ContentTarget, counter: TrafficCounter): ContentTarget {
  return {
    resolve: (reference, signal) => target.resolve(reference, signal),
    hasBlob: (repository, descriptor, signal) => target.hasBlob(repository, descriptor, signal),
    mountBlob: (repository, descriptor, from, signal) => target.mountBlob(repository, descriptor, from, signal),
    tags: (repository, signal) => target.tags(repository, signal),
    pushManifest: async (reference, manifest, signal) => {
      await target.pushManifest(reference, manifest, signal)
      counter.manifest()
    },
    pushBlob: async (repository, descriptor, open, options) => {
      counter.blob(descriptor.digest)
      const onBytes = (count: number) => {
        counter.bytes(count)
        options?.onBytes?.(count)
      }
      await target.pushBlob(repository, descriptor, open, { ...options, onBytes })
    },
  }
}
