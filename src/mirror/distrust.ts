import type { ContentTarget } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'

/**
 * A target that is not believed when it says that it has one of `wrongBlobs`, until that blob was sent anew.
 *
 * Whether sending helps is the registry's affair: the embedded one replaces the bytes; distribution keeps what it has
 * under a digest (`registry/storage/blobwriter.go:moveBlob`), so the blob has to be deleted there first.
 */
export function distrustBlobs(target: ContentTarget, wrongBlobs: ReadonlySet<Digest>): ContentTarget {
  if (wrongBlobs.size === 0) return target
  const wrong = new Set(wrongBlobs)
  return {
    resolve: (reference, signal) => target.resolve(reference, signal),
    hasBlob: async (repository, descriptor, signal) =>
      !wrong.has(descriptor.digest) && target.hasBlob(repository, descriptor, signal),
    mountBlob: async (repository, descriptor, from, signal) =>
      !wrong.has(descriptor.digest) && target.mountBlob(repository, descriptor, from, signal),
    pushBlob: async (repository, descriptor, open, options) => {
      await target.pushBlob(repository, descriptor, open, options)
      wrong.delete(descriptor.digest)
    },
    pushManifest: (reference, manifest, signal) => target.pushManifest(reference, manifest, signal),
    tags: (repository, signal) => target.tags(repository, signal),
  }
}
