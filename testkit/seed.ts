/** Puts made images where tests and benchmarks need them. */
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { ContentTarget } from '../src/oci/content.ts'
import { type Digest, hexOf } from '../src/oci/digest.ts'
import { distinctBlobs, pushSamples } from '../src/quickstart/push-sample.ts'
import type { SampleImage, TaggedManifest } from '../src/quickstart/sample-image.ts'
import type { SampleBlob } from '../src/quickstart/sample-layer.ts'
import { releaseSources, type SampleRelease } from '../src/quickstart/sample-release.ts'

export interface RepositoryContent {
  /** The path of the repository, without a host. */
  readonly repository: string
  readonly images: readonly SampleImage[]
}

/** Where the images of a release lie upstream. */
export function releaseContent(release: SampleRelease): readonly RepositoryContent[] {
  return [
    { repository: releaseSources.components, images: release.components.map(({ image }) => image) },
    { repository: releaseSources.images, images: [release.image] },
  ]
}

/** Pushes through the distribution protocol, or into whatever `target` is. */
export async function pushAll(
  target: ContentTarget,
  registry: string,
  content: readonly RepositoryContent[],
): Promise<void> {
  for (const { repository, images } of content) await pushSamples(target, { registry, repository }, images)
}

/**
 * Writes images as files that docker-registry serves when it is started on `root`: gigabytes in seconds.
 *
 * Source of the layout: distribution `registry/storage/paths.go` (version 2).
 */
export async function writeToDockerRegistryRoot(root: string, content: readonly RepositoryContent[]): Promise<void> {
  const storage = new DockerRegistryRoot(join(root, 'docker', 'registry', 'v2'))
  for (const { repository, images } of content) {
    for (const blob of distinctBlobs(images)) await storage.addBlob(repository, blob)
    for (const manifest of images.flatMap(({ manifests }) => manifests)) await storage.addManifest(repository, manifest)
  }
}

class DockerRegistryRoot {
  readonly #root: string
  readonly #written = new Set<Digest>()

  constructor(root: string) {
    this.#root = root
  }

  async addBlob(repository: string, { descriptor, open }: SampleBlob): Promise<void> {
    await this.#writeData(descriptor.digest, open())
    await this.#writeLink(descriptor.digest, repository, '_layers', 'sha256', hexOf(descriptor.digest))
  }

  async addManifest(repository: string, { descriptor, bytes, tag }: TaggedManifest): Promise<void> {
    const { digest } = descriptor
    await this.#writeData(digest, [bytes])
    await this.#writeLink(digest, repository, '_manifests', 'revisions', 'sha256', hexOf(digest))
    if (tag === undefined) return
    await this.#writeLink(digest, repository, '_manifests', 'tags', tag, 'current')
    await this.#writeLink(digest, repository, '_manifests', 'tags', tag, 'index', 'sha256', hexOf(digest))
  }

  async #writeData(digest: Digest, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    if (this.#written.has(digest)) return
    this.#written.add(digest)
    const hex = hexOf(digest)
    const path = join(this.#root, 'blobs', 'sha256', hex.slice(0, 2), hex, 'data')
    await mkdir(dirname(path), { recursive: true })
    const file = createWriteStream(path)
    for await (const chunk of chunks) {
      if (!file.write(chunk)) await once(file, 'drain')
    }
    await finished(file.end())
  }

  async #writeLink(digest: Digest, ...path: string[]): Promise<void> {
    const folder = join(this.#root, 'repositories', ...path)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'link'), digest)
  }
}
