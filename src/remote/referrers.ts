/** Manifests that point at another one (distribution-spec, "Listing Referrers", "Referrers Tag Schema"). */
import { KnownError } from '../errors/known-error.ts'
import type { RawManifest } from '../oci/content.ts'
import type { Descriptor } from '../oci/descriptor.ts'
import { algorithmOf, type Digest, digestOf, hexOf } from '../oci/digest.ts'
import { type Manifest, maxManifestBytes, parseManifest } from '../oci/manifest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { formatReference, type Reference } from '../oci/reference.ts'
import { referrerDescriptor } from '../oci/referrer.ts'
import type { Connections, RegistryRequest } from './connections.ts'
import type { Manifests } from './manifests.ts'
import { nextPage } from './next-page.ts'

export class Referrers {
  readonly #connections: Connections
  readonly #manifests: Manifests
  /** Registries that said that they have no referrers API. */
  readonly #withoutApi = new Set<string>()
  /** The tag schema is read, changed and written: one change of a tag at a time. */
  readonly #changes = new Map<string, Promise<void>>()

  constructor(connections: Connections, manifests: Manifests) {
    this.#connections = connections
    this.#manifests = manifests
  }

  async list(repository: Reference, subject: Digest, signal?: AbortSignal): Promise<readonly Descriptor[]> {
    const listed = this.#withoutApi.has(repository.registry) ? undefined : await this.#ask(repository, subject, signal)
    if (listed !== undefined) return listed
    return (await this.#tagged(repository, subject, signal)) ?? []
  }

  /** Enters a manifest that was pushed into the list of its subject, at a registry that does not do so itself. */
  async add(reference: Reference, manifest: RawManifest, signal?: AbortSignal): Promise<void> {
    const parsed = parseManifest(manifest.bytes, manifest.descriptor.mediaType, formatReference(reference))
    const { subject } = parsed
    if (subject === undefined) return
    const key = `${reference.registry}/${reference.repository}@${subject.digest}`
    const before = this.#changes.get(key) ?? Promise.resolve()
    const change = before.then(() => this.#change(reference, { manifest, parsed, subject: subject.digest }, signal))
    const settled = change.then(
      () => undefined,
      () => undefined,
    )
    this.#changes.set(key, settled)
    await change
    if (this.#changes.get(key) === settled) this.#changes.delete(key)
  }

  async #change(
    reference: Reference,
    { manifest, parsed, subject }: { manifest: RawManifest; parsed: Manifest; subject: Digest },
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const known = (await this.#tagged(reference, subject, signal)) ?? []
    if (known.some(({ digest }) => digest === manifest.descriptor.digest)) return
    const list = [...known, referrerDescriptor(parsed, manifest.descriptor)]
    const index = { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests: list }
    const bytes = Buffer.from(JSON.stringify(index))
    const descriptor = { mediaType: mediaTypes.ociIndex, digest: digestOf(bytes), size: bytes.byteLength }
    const { registry, repository } = reference
    await this.#manifests.push({ registry, repository, tag: referrersTag(subject) }, { descriptor, bytes }, signal)
  }

  /** The API's answer; undefined where there is no such API. */
  async #ask(repository: Reference, subject: Digest, signal?: AbortSignal): Promise<readonly Descriptor[] | undefined> {
    const found: Descriptor[] = []
    const name = `${formatReference({ registry: repository.registry, repository: repository.repository })}@${subject}`
    let path: string | URL | undefined = `${repository.repository}/referrers/${subject}`
    while (path !== undefined) {
      const request: RegistryRequest = {
        method: 'GET',
        registry: repository.registry,
        repository: repository.repository,
        path,
        subject: name,
        actions: 'pull',
        lane: 'request',
        headers: { accept: mediaTypes.ociIndex },
        expect: [200, 400, 404, 405, 501],
        signal,
      }
      const { answer, bytes } = await this.#connections.read(request, maxManifestBytes)
      if (answer.status !== 200) {
        this.#withoutApi.add(repository.registry)
        return undefined
      }
      path = nextPage(answer)
      found.push(...childrenIn(parseManifest(bytes, mediaTypes.ociIndex, name)))
    }
    return found
  }

  async #tagged(
    repository: Reference,
    subject: Digest,
    signal?: AbortSignal,
  ): Promise<readonly Descriptor[] | undefined> {
    const reference = { registry: repository.registry, repository: repository.repository, tag: referrersTag(subject) }
    const raw = await this.#manifests.fetch(reference, signal)
    if (raw === undefined) return undefined
    const index = parseManifest(raw.bytes, raw.descriptor.mediaType, formatReference(reference))
    if (index.kind === 'index') return index.manifests
    throw new KnownError('MANIFEST_INVALID', `${formatReference(reference)}: this tag must hold a list of referrers`, {
      details: { image: formatReference(reference) },
    })
  }
}

function childrenIn(manifest: Manifest): readonly Descriptor[] {
  return manifest.kind === 'index' ? manifest.manifests : []
}

/** distribution-spec, "Referrers Tag Schema": algorithm up to 32 and encoded part up to 64 characters. */
function referrersTag(subject: Digest): string {
  return `${algorithmOf(subject)}-${hexOf(subject).slice(0, 64)}`
}
