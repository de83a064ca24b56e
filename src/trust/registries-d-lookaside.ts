/**
 * Signatures in a lookaside store: numbered files beside the registry, on a web server or on this machine.
 *
 * Source: containers/image `docs/signature-protocols.md`, `docker/docker_image_src.go:appendSignaturesFromLookaside`,
 * `internal/signature/signature.go:FromBlob`. The X-Registry-Supports-Signatures extension of the former integrated
 * OpenShift registry is not spoken.
 */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { KnownError } from '../errors/known-error.ts'
import { algorithmOf, type Digest, hexOf } from '../oci/digest.ts'
import { type Reference, repositoryName } from '../oci/reference.ts'
import type { WebClient } from '../remote/web-client.ts'
import { exactFields, JsonFault, parseStrictJson, textOfNode } from './policy-json.ts'
import type { SigstoreSignature } from './sigstore-signature.ts'

export interface StoredSignatures {
  /** OpenPGP messages, in order. */
  readonly simple: readonly StoredMessage[]
  readonly sigstore: readonly SigstoreSignature[]
}

export interface StoredMessage {
  readonly bytes: Uint8Array
  /** For messages: the URL. */
  readonly origin: string
}

export interface LookasidePlace {
  /** As registries.d names the store. */
  readonly lookaside: string
  /** Where the image is really read from: its path is part of the URL. */
  readonly place: Reference
  readonly digest: Digest
}

/** As containers/image: more cannot be meant. */
const maxSignatures = 128
const maxBytes = 4 * 1024 * 1024

/** The store of containers/image itself, for images of which registries.d says nothing. */
export function builtInLookaside(isRoot: boolean, home: string | undefined): string {
  const path = isRoot || !home ? '/var/lib/containers/sigstore' : join(home, '.local/share/containers/sigstore')
  return pathToFileURL(path).href
}

/** @throws KnownError POLICY_INVALID where the URL is none; SIGNATURE_INVALID; the WEB_ codes, FILE_UNREADABLE */
export async function readLookaside(
  from: LookasidePlace,
  web: WebClient,
  signal: AbortSignal,
): Promise<StoredSignatures> {
  const simple: StoredMessage[] = []
  const sigstore: SigstoreSignature[] = []
  for (let number = 1; ; number += 1) {
    const url = lookasideUrl(from, number)
    const what = `signature-${number} of ${repositoryName(from.place)}@${from.digest}`
    const document = await web.read(url, { maxBytes, what, signal, isFileAllowed: true })
    if (document === undefined) return { simple, sigstore }
    if (number > maxSignatures) throw invalid(url, `there are more than ${maxSignatures} signatures`)
    const read = readBlob(document.bytes, url)
    if ('payload' in read) sigstore.push(read)
    else simple.push(read)
  }
}

/** `BASE/PATH@sha256=HEX/signature-N`. @throws KnownError POLICY_INVALID */
export function lookasideUrl({ lookaside, place, digest }: LookasidePlace, number: number): URL {
  const url = URL.canParse(lookaside) ? new URL(lookaside) : undefined
  if (url === undefined || !['http:', 'https:', 'file:'].includes(url.protocol)) {
    throw new KnownError('POLICY_INVALID', `The lookaside store "${lookaside}" is no http, https or file URL`, {
      details: { url: lookaside },
    })
  }
  // A host without a path has the path "/" here, and none in Go.
  const base = url.protocol !== 'file:' && /^\w+:\/\/[^/?#]*$/.test(lookaside) ? '' : url.pathname
  url.pathname = `${base}/${place.repository}@${algorithmOf(digest)}=${hexOf(digest)}/signature-${number}`
  return url
}

/** What the first byte of an OpenPGP message can be: compressed data, a one-pass signature, or a signature. */
const openPgpStarts = [0xa0, 0xa1, 0xa2, 0xa3, 0xc8, 0x90, 0x91, 0x92, 0x3d, 0xc4, 0x88, 0x89, 0x8a, 0x8b, 0xc2]

function readBlob(bytes: Uint8Array, url: URL): StoredMessage | SigstoreSignature {
  const [first] = bytes
  if (first !== undefined && openPgpStarts.includes(first)) return { bytes, origin: url.href }
  if (first !== 0) throw invalid(url, first === undefined ? 'it is empty' : 'it is neither OpenPGP nor a known format')
  const end = bytes.indexOf(0x0a)
  const format = end < 0 ? '' : Buffer.from(bytes.subarray(1, end)).toString('latin1')
  const rest = bytes.subarray(end + 1)
  if (format === 'simple-signing') return { bytes: rest, origin: url.href }
  if (format === 'sigstore-json') return readSigstoreJson(rest, url)
  throw invalid(url, `the format "${format}" is unknown`)
}

function readSigstoreJson(bytes: Uint8Array, url: URL): SigstoreSignature {
  try {
    const root = parseStrictJson(new TextDecoder().decode(bytes))
    const fields = exactFields(root, 'it', ['mimeType', 'payload', 'annotations'])
    const annotations = fields.get('annotations')
    const entries = annotations?.kind === 'object' ? [...annotations.fields] : []
    return {
      mediaType: textOfNode(fields.get('mimeType'), 'mimeType', root.line),
      payload: Buffer.from(textOfNode(fields.get('payload'), 'payload', root.line), 'base64'),
      annotations: Object.fromEntries(entries.map(([key, node]) => [key, textOfNode(node, key, node.line)])),
      origin: url.href,
    }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    throw invalid(url, error.message)
  }
}

function invalid(url: URL, why: string): KnownError {
  return new KnownError('SIGNATURE_INVALID', `The signature ${url.href} cannot be read: ${why}`, {
    details: { url: url.href },
  })
}
