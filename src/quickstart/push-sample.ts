import { mapConcurrently } from '../host/concurrency.ts'
import type { ContentTarget } from '../oci/content.ts'
import type { Reference } from '../oci/reference.ts'
import type { SampleImage } from './sample-image.ts'
import type { SampleBlob } from './sample-layer.ts'

interface PushSampleOptions {
  readonly signal?: AbortSignal
  /** Requests at a time. Default: 8. */
  readonly concurrency?: number
}

/**
 * Puts `images` into one repository: each distinct blob once, then manifests, children before parents.
 *
 * @throws KnownError the REGISTRY_ codes
 */
export async function pushSamples(
  target: ContentTarget,
  repository: Reference,
  images: readonly SampleImage[],
  options: PushSampleOptions = {},
): Promise<void> {
  const { signal, concurrency = 8 } = options
  await mapConcurrently(distinctBlobs(images), concurrency, (blob) =>
    target.pushBlob(repository, blob.descriptor, (offset) => blob.open(offset), { ...(signal && { signal }) }),
  )
  await mapConcurrently(images, concurrency, async ({ manifests }) => {
    for (const { tag, ...manifest } of manifests) {
      const name = tag === undefined ? { digest: manifest.descriptor.digest } : { tag }
      const { registry, repository: path } = repository
      await target.pushManifest({ registry, repository: path, ...name }, manifest, signal)
    }
  })
}

/** The blobs of `images`, each digest once. */
export function distinctBlobs(images: readonly SampleImage[]): readonly SampleBlob[] {
  const blobs = images.flatMap((image) => image.blobs)
  return [...new Map(blobs.map((blob) => [blob.descriptor.digest, blob])).values()]
}
