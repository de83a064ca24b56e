/** Our own registry as the mirror of a bootstrap site: with TLS and an htpasswd file, filled past the protocol. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDigest } from '../src/oci/digest.ts'
import { distinctBlobs } from '../src/quickstart/push-sample.ts'
import { htpasswdLine } from '../src/registry/htpasswd.ts'
import { Repository } from '../src/store/repository.ts'
import type { BootstrapMirror } from './bootstrap-mirror.ts'
import { startEmbeddedRegistry } from './embedded-registry.ts'
import type { RepositoryContent } from './seed.ts'
import type { SiteCertificate } from './site-certificates.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'

export interface EmbeddedMirrorOptions {
  readonly certificate: SiteCertificate
  readonly credentials: { readonly username: string; readonly password: string }
  readonly content: readonly RepositoryContent[]
}

/** A registry on a free port of 127.0.0.1, closed when `t` ends. */
export async function startEmbeddedMirror(t: Cleanup, options: EmbeddedMirrorOptions): Promise<BootstrapMirror> {
  const { certificate, credentials, content } = options
  const htpasswd = join(await tempDir(t), 'htpasswd')
  await writeFile(htpasswd, await htpasswdLine(credentials.username, credentials.password), { mode: 0o600 })
  const tls = { certificate: certificate.cert, key: certificate.key }
  const { store, address } = await startEmbeddedRegistry(t, { htpasswd, tls })
  for (const { repository, images } of content) {
    const target = new Repository(store, repository)
    for (const { descriptor, open } of distinctBlobs(images)) {
      await store.put(descriptor, open(), repository)
      target.addBlob(descriptor.digest)
    }
    for (const { descriptor, bytes, tag } of images.flatMap(({ manifests }) => manifests)) {
      const { digest, mediaType } = descriptor
      await target.putManifest({ digest, bytes, mediaType, tags: tag === undefined ? [] : [tag] }, () => undefined)
    }
  }
  return {
    port: Number(address.split(':').at(-1)),
    removeManifest: async (repository, reference) => {
      const holder = new Repository(store, repository)
      const digest = holder.resolve(reference) ?? reference
      if (isDigest(digest)) await holder.removeManifest(digest, undefined)
    },
    removeBlob: async (repository, digest) => void new Repository(store, repository).removeBlob(digest),
  }
}
