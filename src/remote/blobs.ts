/** Blobs of registries: is it there, get it, put it, mount it. */
import type { ChunkStream } from '../oci/chunk-stream.ts'
import type { FetchBlobOptions } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import { type Reference, repositoryName } from '../oci/reference.ts'
import { BlobDownload } from './blob-download.ts'
import { BlobUpload, type Upload, type UploadSettings } from './blob-upload.ts'
import type { Connections } from './connections.ts'
import { drainBody } from './read-body.ts'
import { UploadWire } from './upload-wire.ts'

export class Blobs {
  readonly #connections: Connections
  readonly #uploads: UploadSettings

  constructor(connections: Connections, uploads: UploadSettings) {
    this.#connections = connections
    this.#uploads = uploads
  }

  fetch(repository: Reference, descriptor: Descriptor, options: FetchBlobOptions): ChunkStream {
    return new BlobDownload(this.#connections, repository, descriptor, options)
  }

  push(upload: Upload): Promise<void> {
    return new BlobUpload(this.#connections, this.#uploads, upload).run()
  }

  /** Size in bytes as the registry tells it; undefined where it does not have the blob, NaN where it does not say. */
  async size(repository: Reference, digest: Digest, signal?: AbortSignal): Promise<number | undefined> {
    const answer = await this.#connections.send({
      method: 'HEAD',
      registry: repository.registry,
      repository: repository.repository,
      path: `${repository.repository}/blobs/${digest}`,
      subject: `${repositoryName(repository)}@${digest}`,
      actions: 'pull',
      lane: 'request',
      expect: [200, 404],
      signal,
    })
    drainBody(answer)
    return answer.status === 404 ? undefined : Number(answer.headers['content-length'] ?? Number.NaN)
  }

  /** True when the blob is there now. A registry that cannot mount opens an upload instead, which is closed again. */
  async mount(upload: Omit<Upload, 'open'>, from: Reference): Promise<boolean> {
    const { repository, descriptor, options } = upload
    if (from.registry !== repository.registry) return false
    const query = new URLSearchParams({ mount: descriptor.digest, from: from.repository })
    const answer = await this.#connections.send({
      method: 'POST',
      registry: repository.registry,
      repository: repository.repository,
      mountFrom: from.repository,
      path: `${repository.repository}/blobs/uploads/?${query}`,
      subject: `${repositoryName(repository)}@${descriptor.digest}`,
      actions: 'pull,push',
      lane: 'request',
      expect: [201, 202],
      signal: options.signal,
    })
    drainBody(answer)
    const { location } = answer.headers
    if (answer.status === 201) return true
    if (location !== undefined && URL.canParse(location, answer.url)) {
      const state = { location: new URL(location, answer.url), offset: 0, minChunkBytes: 0 }
      await new UploadWire(this.#connections, upload).cancel(state)
    }
    return false
  }
}
