/** The signatures of one manifest, wherever registries.d says that they are: read once, when the first requirement asks. */
import type { ContentSource } from '../oci/content.ts'
import type { Digest } from '../oci/digest.ts'
import { unknownManifest } from '../oci/read-image.ts'
import type { Reference } from '../oci/reference.ts'
import type { WebClient } from '../remote/web-client.ts'
import { type RegistriesD, storageOf } from './registries-d.ts'
import { builtInLookaside, readLookaside, type StoredMessage } from './registries-d-lookaside.ts'
import { readSignatureTag } from './sigstore-attachments.ts'
import type { SigstoreFault, SigstoreSignature } from './sigstore-signature.ts'

export interface FoundSignatures {
  readonly simple: readonly StoredMessage[]
  readonly sigstore: readonly (SigstoreSignature | SigstoreFault)[]
  /** Where was looked, for the message that there is nothing. */
  readonly places: readonly string[]
}

interface ImageSignaturesOptions {
  readonly source: ContentSource
  readonly web: WebClient
  readonly signal: AbortSignal
  readonly registriesD: RegistriesD
  readonly home: string | undefined
  readonly userId: number | undefined
}

export class ImageSignatures {
  readonly #image: { readonly source: Reference; readonly digest: Digest }
  readonly #options: ImageSignaturesOptions
  #found: Promise<FoundSignatures> | undefined

  constructor(image: { readonly source: Reference; readonly digest: Digest }, options: ImageSignaturesOptions) {
    this.#image = image
    this.#options = options
  }

  /** @throws KnownError SIGNATURE_INVALID, POLICY_INVALID, the WEB_ and REGISTRY_ codes */
  find(): Promise<FoundSignatures> {
    this.#found ??= this.#read()
    return this.#found
  }

  async #read(): Promise<FoundSignatures> {
    const { source, digest } = this.#image
    const { web, signal, registriesD, home, userId } = this.#options
    const content = this.#options.source
    const subject = { registry: source.registry, repository: source.repository, digest }
    // A mirror has settings of its own, under its own name.
    const place = content.locate ? await content.locate(subject, signal) : subject
    if (place === undefined) throw unknownManifest(`${source.registry}/${source.repository}@${digest}`)
    const storage = storageOf(registriesD, { ...place, ...tagOf(source, place) })
    const lookaside = storage.lookaside ?? builtInLookaside(userId === 0, home)
    const stored = await readLookaside({ lookaside, place, digest }, web, signal)
    const places = [`the lookaside store ${lookaside}`]
    if (!storage.usesSigstoreAttachments) return { ...stored, places }
    const attached = await readSignatureTag({ source: content, repository: source, digest, signal })
    const tag = `${place.registry}/${place.repository}:${digest.replace(':', '-')}.sig`
    return { ...stored, sigstore: [...stored.sigstore, ...(attached ?? [])], places: [...places, tag] }
  }
}

/** Scopes of registries.d may name a tag: the one that was asked for. */
function tagOf({ tag, digest }: Reference, place: Reference): Reference {
  const { registry, repository } = place
  if (digest !== undefined) return { registry, repository, digest }
  return { registry, repository, tag: tag ?? 'latest' }
}
