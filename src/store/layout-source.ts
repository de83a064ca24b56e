/**
 * An OCI image layout on disk, read as a registry is: `oci-layout`, `index.json`, `blobs/` (OCI image-spec image-layout.md).
 *
 * A layout has no names of registries and repositories, so those of a reference are not looked at.
 */
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { ContentSource, FetchBlobOptions, RawManifest } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { algorithmOf, type Digest, digestOf, hexOf } from '../oci/digest.ts'
import { childrenOf, parseManifest } from '../oci/manifest.ts'
import { isManifestType, mediaTypes } from '../oci/media-type.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { ifThere } from './presence.ts'

const refName = 'org.opencontainers.image.ref.name'

export class LayoutSource implements ContentSource {
  readonly #directory: string
  /** What `index.json` lists. */
  readonly images: readonly Descriptor[]

  private constructor(directory: string, images: readonly Descriptor[]) {
    this.#directory = directory
    this.images = images
  }

  /** @throws KnownError FILE_UNREADABLE where it is no layout, MANIFEST_INVALID where its index is none */
  static async open(directory: string): Promise<LayoutSource> {
    await readLayoutFile(directory, 'oci-layout')
    const index = await readLayoutFile(directory, 'index.json')
    const manifest = parseManifest(index, mediaTypes.ociIndex, join(directory, 'index.json'))
    return new LayoutSource(directory, childrenOf(manifest))
  }

  /** @throws KnownError MANIFEST_UNKNOWN where `name` is not there, USAGE where there are several and none is named */
  choose(name: string | undefined): Descriptor {
    const matching = name === undefined ? this.images : this.images.filter((image) => nameOf(image) === name)
    const [only, ...others] = matching
    if (only && others.length === 0) return only
    const names = this.images.map((image) => nameOf(image) ?? image.digest).join(', ')
    if (only === undefined) {
      const what = name === undefined ? 'there is no image in it' : `there is no image "${name}"; there is: ${names}`
      throw new KnownError('MANIFEST_UNKNOWN', `${this.#directory}: ${what}`, { details: { layout: this.#directory } })
    }
    throw new KnownError('USAGE', `${this.#directory}: there are ${matching.length} images: ${names}`, {
      hint: `Name one of them: oci://${this.#directory}:NAME.`,
    })
  }

  async resolve({ tag, digest }: Reference): Promise<Descriptor | undefined> {
    const listed = this.images.find((image) => (digest ? image.digest === digest : nameOf(image) === tag))
    if (listed || digest === undefined) return listed
    return (await this.#readManifest(digest, undefined))?.descriptor
  }

  async resolveBeside(subject: Reference, tag: string): Promise<Descriptor | undefined> {
    return this.resolve({ registry: subject.registry, repository: subject.repository, tag })
  }

  async fetchManifest(reference: Reference): Promise<RawManifest | undefined> {
    const listed = this.images.find(({ digest }) => digest === reference.digest) ?? (await this.#named(reference))
    const digest = reference.digest ?? listed?.digest
    return digest === undefined ? undefined : this.#readManifest(digest, listed?.mediaType)
  }

  async *fetchBlob(
    repository: Reference,
    { digest }: Descriptor,
    options: FetchBlobOptions = {},
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* createReadStream(this.#pathOf(digest), {
        start: options.offset ?? 0,
        highWaterMark: 256 * 1024,
        ...(options.signal && { signal: options.signal }),
      })
    } catch (error) {
      if (!hasSystemCode(error, 'ENOENT')) throw error
      throw new KnownError(
        'BLOB_UNKNOWN',
        `${this.#directory} has no blob ${digest} of ${formatReference(repository)}`,
        {
          details: { layout: this.#directory, digest },
          hint: 'The layout is incomplete: make it anew with skopeo copy --all.',
        },
      )
    }
  }

  /** None: who names whom as its subject is not looked for in a layout. Signatures by tag are found by `resolveBeside`. */
  async referrers(): Promise<readonly Descriptor[]> {
    return []
  }

  async #named({ tag, digest }: Reference): Promise<Descriptor | undefined> {
    return digest === undefined ? this.images.find((image) => nameOf(image) === tag) : undefined
  }

  async #readManifest(digest: Digest, mediaType: string | undefined): Promise<RawManifest | undefined> {
    const bytes = await ifThere(readFile(this.#pathOf(digest)))
    if (!bytes) return undefined
    const actual = digestOf(bytes, algorithmOf(digest))
    const origin = `${this.#directory}: ${digest}`
    if (actual !== digest) {
      throw new KnownError('BLOB_DIGEST_MISMATCH', `${origin}: received ${actual}`, {
        details: { expected: digest, actual, size: bytes.byteLength },
        hint: 'The file in the layout is damaged: make the layout anew.',
      })
    }
    const type = mediaType !== undefined && isManifestType(mediaType) ? mediaType : undefined
    const parsed = parseManifest(bytes, type, origin)
    return { descriptor: { mediaType: parsed.mediaType, digest, size: bytes.byteLength }, bytes }
  }

  #pathOf(digest: Digest): string {
    return join(this.#directory, 'blobs', algorithmOf(digest), hexOf(digest))
  }
}

function nameOf({ annotations }: Descriptor): string | undefined {
  return annotations?.[refName]
}

async function readLayoutFile(directory: string, name: string): Promise<Buffer> {
  try {
    return await readFile(join(directory, name))
  } catch (cause) {
    if (!hasSystemCode(cause, 'ENOENT', 'ENOTDIR', 'EACCES')) throw cause
    const why = cause.code === 'EACCES' ? `this user may not read ${name}` : `it has no ${name}`
    throw new KnownError('FILE_UNREADABLE', `${directory} cannot be read as an OCI image layout: ${why}`, {
      details: { directory },
      hint: 'Make one with: skopeo copy --all docker://REF oci:DIR.',
      cause,
    })
  }
}
