/** The manifests that oc-mirror left: by tag, by digest, and by what they refer to. */
import { basename } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import type { RawManifest } from '../../oci/content.ts'
import type { Descriptor } from '../../oci/descriptor.ts'
import { algorithmOf, type Digest, digestOf, hexOf } from '../../oci/digest.ts'
import { maxManifestBytes, parseManifest } from '../../oci/manifest.ts'
import { referrerDescriptor } from '../../oci/referrer.ts'
import { type FileSlice, readSlice } from '../tar/file-slice.ts'
import { remedyFor } from './oc-mirror-files.ts'
import type { OcMirrorIndex } from './oc-mirror-index.ts'

interface Referrer {
  readonly subject: Digest
  readonly descriptor: Descriptor
}

export class OcMirrorManifests {
  readonly #index: OcMirrorIndex
  readonly #directory: string
  #referrers: Promise<ReadonlyMap<Digest, readonly Referrer[]>> | undefined

  constructor(index: OcMirrorIndex, directory: string) {
    this.#index = index
    this.#directory = directory
  }

  /** @throws KnownError ARCHIVE_INVALID where the tag is there, but not what it stands for */
  tagged({ repository, tag }: { readonly repository: string; readonly tag: string }): Digest | undefined {
    const broken = this.#index.brokenTags.get(`${repository}:${tag}`)
    if (broken) {
      const { file, offset, why } = broken
      throw new KnownError('ARCHIVE_INVALID', `${file}: at byte ${offset}: ${why}`, { details: { file, offset } })
    }
    return this.#index.tags.get(repository)?.get(tag)
  }

  /**
   * The manifest, proven; undefined where its bytes are not here.
   *
   * @throws KnownError BLOB_DIGEST_MISMATCH, MANIFEST_INVALID, FILE_UNREADABLE
   */
  async read(digest: Digest): Promise<RawManifest | undefined> {
    let wrong: KnownError | undefined
    for (const slice of await this.#index.placesOf(digest)) {
      const bytes = await readManifest(slice, digest)
      if (digestOf(bytes, algorithmOf(digest)) === digest) {
        const { mediaType } = parseManifest(bytes, undefined, `${slice.file}: ${digest}`)
        return { descriptor: { mediaType, digest, size: bytes.byteLength }, bytes }
      }
      wrong ??= damaged(slice, digest, bytes)
    }
    if (wrong !== undefined) throw wrong
    return undefined
  }

  /** What hangs on `subject` in these repositories, in the order of the digests. */
  async referrers(repositories: readonly string[], subject: Digest): Promise<readonly Descriptor[]> {
    this.#referrers ??= this.#scan()
    const found = ((await this.#referrers).get(subject) ?? [])
      .map(({ descriptor }) => descriptor)
      .filter(({ digest }) => repositories.some((one) => this.#index.revisions.get(digest)?.includes(one)))
    const listed = await Promise.all(repositories.map((repository) => this.#listed(repository, subject)))
    const all = new Map([...listed.flat(), ...found].map((descriptor) => [descriptor.digest, descriptor]))
    return [...all.values()].sort((a, b) => (a.digest < b.digest ? -1 : 1))
  }

  /** Why something that should be here is not. */
  missing(subject: string, what: 'blob' | 'manifest' | 'tag'): KnownError {
    const [flaw] = this.#index.damage
    if (flaw === undefined) {
      return new KnownError(
        'BLOB_UNKNOWN',
        `${subject}: no file of oc-mirror in ${this.#directory} holds this ${what}`,
        {
          details: { subject, directory: this.#directory },
          hint:
            'oc-mirror leaves out what an earlier archive carried. Load the earlier archives first, with the same workspace; or name its ' +
            'cache with --from; or make a full archive: remove working-dir/.history where oc-mirror runs, and run it again.',
        },
      )
    }
    const { file, offset, why } = flaw
    return new KnownError(
      'BLOB_UNKNOWN',
      `${subject}: this ${what} is not in what can be read of ${this.#directory}: ${basename(file)} at byte ${offset}: ${why}`,
      {
        details: { subject, directory: this.#directory, file, offset },
        hint: remedyFor(file),
      },
    )
  }

  /** The list that a registry without the referrers API keeps under a tag (distribution-spec, "Referrers Tag Schema"). */
  async #listed(repository: string, subject: Digest): Promise<readonly Descriptor[]> {
    const digest = this.tagged({ repository, tag: `${algorithmOf(subject)}-${hexOf(subject).slice(0, 64)}` })
    // oc-mirror gives the same tag to the image itself when it is named by its digest alone.
    if (digest === undefined || digest === subject) return []
    const manifest = await this.read(digest)
    if (manifest === undefined) throw this.missing(`${repository}@${digest}`, 'manifest')
    const index = parseManifest(manifest.bytes, undefined, `${repository}@${digest}`)
    return index.kind === 'index' ? index.manifests : []
  }

  async #scan(): Promise<ReadonlyMap<Digest, readonly Referrer[]>> {
    const found = await mapConcurrently([...this.#index.revisions.keys()], 16, async (digest) => {
      const raw = await this.#readIfSound(digest)
      const manifest = raw && parseManifest(raw.bytes, raw.descriptor.mediaType, digest)
      if (raw === undefined || manifest?.subject === undefined) return []
      return [{ subject: manifest.subject.digest, descriptor: referrerDescriptor(manifest, raw.descriptor) }]
    })
    return Map.groupBy(found.flat(), ({ subject }) => subject)
  }

  /** The cache is shared by all configurations: what is wrong with one image must not stop another. */
  async #readIfSound(digest: Digest): Promise<RawManifest | undefined> {
    try {
      return await this.read(digest)
    } catch (error) {
      if (error instanceof KnownError && error.code !== 'FILE_UNREADABLE') return undefined
      throw error
    }
  }
}

async function readManifest(slice: FileSlice, digest: Digest): Promise<Buffer> {
  if (slice.size <= maxManifestBytes) return readSlice(slice)
  const { file, offset, size } = slice
  throw new KnownError(
    'MANIFEST_INVALID',
    `${file}: ${digest} at byte ${offset} has ${size} bytes: too many for a manifest`,
    {
      details: { file, offset, digest, size },
    },
  )
}

function damaged({ file, offset, size }: FileSlice, digest: Digest, bytes: Buffer): KnownError {
  const actual = digestOf(bytes, algorithmOf(digest))
  return new KnownError(
    'BLOB_DIGEST_MISMATCH',
    `${file}: the ${size} bytes at byte ${offset} are ${actual}, not ${digest}`,
    {
      details: { file, offset, size, expected: digest, actual },
      hint: remedyFor(file),
      retryable: false,
    },
  )
}
