/**
 * Content that this machine already has: manifests read in an earlier run, and the layers that hold a release payload.
 *
 * Everything is proven again when it is read; a file that does not hold what its name says is as good as absent.
 */
import { createReadStream } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode } from '../errors/known-error.ts'
import type { ContentSource, RawManifest } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { algorithmOf, type Digest, digestOf, hasherFor, hexOf } from '../oci/digest.ts'
import { formatReference, type Reference, repositoryName } from '../oci/reference.ts'
import { verified } from '../oci/verified.ts'
import { ifThere, sizeIfThere } from '../store/presence.ts'
import { writeStaged } from '../store/staged-write.ts'
import type { Workspace } from './workspace.ts'

export class LocalContent {
  readonly #root: string

  constructor(workspace: Workspace) {
    this.#root = workspace.state
  }

  /** The manifest with this digest, from an earlier run. */
  async readManifest(descriptor: Descriptor): Promise<RawManifest | undefined> {
    const bytes = await ifThere(readFile(this.#manifestPath(descriptor.digest)))
    const isIntact = bytes && digestOf(bytes, algorithmOf(descriptor.digest)) === descriptor.digest
    return isIntact ? { descriptor: { ...descriptor, size: bytes.byteLength }, bytes } : undefined
  }

  async writeManifest(manifest: RawManifest): Promise<void> {
    // Not flushed: a manifest is proven when it is read, and a lost one is only read from its source again.
    await writeStaged(this.#manifestPath(manifest.descriptor.digest), (file) => file.writeFile(manifest.bytes))
  }

  /** Brings a blob here, unless it is here already, and gives the path of the proven file. */
  async bringBlob(
    source: ContentSource,
    repository: Reference,
    descriptor: Descriptor,
    signal: AbortSignal,
  ): Promise<string> {
    const path = this.#blobPath(descriptor.digest)
    if (await this.#holds(path, descriptor)) return path
    await writeStaged(path, async (file) => {
      const bytes = source.fetchBlob(repository, descriptor, { signal })
      // Not `write`, which may store a part and say so: on a full disk it does.
      for await (const chunk of verified(bytes, descriptor, repositoryName(repository))) await file.writeFile(chunk)
      await file.sync()
    })
    return path
  }

  /**
   * Brings a blob here whose size nobody knows, unless it is here already.
   *
   * @param open gives its bytes, and throws where they are not those of `digest`
   * @returns its size in bytes
   */
  async bringUnsized(digest: Digest, open: () => AsyncIterable<Uint8Array>): Promise<number> {
    const path = this.#blobPath(digest)
    const known = await sizeIfThere(path)
    if (known !== undefined && (await this.#holds(path, { mediaType: '', digest, size: known }))) return known
    let size = 0
    await writeStaged(path, async (file) => {
      for await (const chunk of open()) {
        await file.writeFile(chunk)
        size += chunk.byteLength
      }
      await file.sync()
    })
    return size
  }

  /** The bytes of a blob that was brought here, or undefined. The consumer hashes them, as it does those from afar. */
  async openBlob(descriptor: Descriptor): Promise<((offset: number) => AsyncIterable<Uint8Array>) | undefined> {
    const path = this.#blobPath(descriptor.digest)
    if (!(await this.#holds(path, descriptor))) return undefined
    return (offset) => createReadStream(path, { start: offset })
  }

  /** Forgets the blobs: they are at the target now. */
  async removeBlobs(): Promise<void> {
    await rm(join(this.#root, 'blobs'), { recursive: true, force: true })
  }

  /** True where the file is there and holds these very bytes: a disk can return others than were written. */
  async #holds(path: string, descriptor: Descriptor): Promise<boolean> {
    try {
      const { size } = await stat(path)
      if (size !== descriptor.size) return false
      const hash = hasherFor(algorithmOf(descriptor.digest))
      for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) hash.update(chunk as Uint8Array)
      return hash.digest('hex') === hexOf(descriptor.digest)
    } catch (error) {
      if (hasSystemCode(error, 'ENOENT')) return false
      throw error
    }
  }

  #manifestPath(digest: Digest): string {
    return join(this.#root, 'manifests', algorithmOf(digest), hexOf(digest))
  }

  #blobPath(digest: Digest): string {
    return join(this.#root, 'blobs', algorithmOf(digest), hexOf(digest))
  }
}

/**
 * A source whose manifests are read from here first, and kept here.
 *
 * What a tag stands for is asked once: within a run it means one image, also where it moves in the meantime.
 */
export function withLocalManifests(source: ContentSource, local: LocalContent): ContentSource {
  const resolved = new Map<string, Descriptor>()
  const { tags } = source
  return {
    ...(tags && { tags: (repository, signal) => tags.call(source, repository, signal) }),
    resolve: async (reference, signal) => {
      const name = formatReference(reference)
      const descriptor = resolved.get(name) ?? (await source.resolve(reference, signal))
      if (descriptor) resolved.set(name, descriptor)
      return descriptor
    },
    resolveBeside: (subject, tag, signal) => source.resolveBeside(subject, tag, signal),
    fetchBlob: (repository, descriptor, options) => source.fetchBlob(repository, descriptor, options),
    referrers: (repository, subject, signal) => source.referrers(repository, subject, signal),
    locate: async (subject, signal) => (source.locate ? source.locate(subject, signal) : subject),
    fetchManifest: async (reference, signal) => {
      const digest = reference.digest ?? resolved.get(formatReference(reference))?.digest
      const known = digest && (await local.readManifest({ mediaType: '', digest, size: 0 }))
      if (known) return known
      const manifest = await source.fetchManifest(reference, signal)
      if (manifest) await local.writeManifest(manifest)
      return manifest
    },
  }
}
