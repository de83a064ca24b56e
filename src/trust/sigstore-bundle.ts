/**
 * Sigstore bundles signed with a bare key: what newer versions of cosign attach to an image.
 *
 * A bundle says which manifest it is for, and no name: there is no identity to compare.
 *
 * Source: sigstore/protobuf-specs `protos/sigstore_bundle.proto`; sigstore/cosign `specs/BUNDLE_SPEC.md`,
 * `cmd/cosign/cli/sign/sign.go:signDigestBundle`; DSSE `protocol.md`.
 */
import { createHash } from 'node:crypto'
import { type Digest, hexOf } from '../oci/digest.ts'
import { JsonFault, type JsonNode, parseStrictJson } from './policy-json.ts'
import { isSignedWith, type SigstoreKey } from './sigstore-key.ts'
import { SigstoreFault } from './sigstore-signature.ts'

export interface SigstoreBundle {
  readonly bytes: Uint8Array
  /** For messages. */
  readonly origin: string
}

/** Of the statement that is a signature; statements with others are attestations (`pkg/types/predicate.go`). */
const signPredicate = 'https://sigstore.dev/cosign/sign/v1'

export interface BundleRules {
  readonly keys: readonly SigstoreKey[]
  readonly digest: Digest
  /** The bytes of the manifest, which a bare message signature is over. */
  readonly readManifest: () => Promise<Uint8Array>
}

/**
 * The key that signed the manifest; undefined for an attestation, which is something else than a signature.
 *
 * @throws SigstoreFault
 */
export async function checkSigstoreBundle(
  { bytes, origin }: SigstoreBundle,
  rules: BundleRules,
): Promise<SigstoreKey | undefined> {
  const root = parse(bytes, origin)
  const envelope = at(root, 'dsseEnvelope')
  const message = at(root, 'messageSignature')
  const verify = (signed: Uint8Array, signatures: readonly Uint8Array[]): SigstoreKey => {
    const key = rules.keys.find((one) => signatures.some((signature) => isSignedWith(one, signed, signature)))
    if (key !== undefined) return key
    const wanted = rules.keys.map((one) => `${one.origin} (${one.fingerprint})`).join(', ')
    throw new SigstoreFault(
      'not-verified',
      `${origin} verifies with none of the keys ${wanted}: it was made with another key, or altered`,
    )
  }
  if (envelope !== undefined) {
    const payload = base64(at(envelope, 'payload'), origin)
    const statement = parse(payload, `${origin}: its statement`)
    if (textAt(statement, 'predicateType') !== signPredicate) return undefined
    const signatures = items(at(envelope, 'signatures')).map((one) => base64(at(one, 'sig'), origin))
    const key = verify(preAuthenticated(textAt(envelope, 'payloadType') ?? '', payload), signatures)
    requireSubject(statement, rules.digest, origin)
    return key
  }
  if (message === undefined)
    throw new SigstoreFault('unsupported', `${origin} holds neither a message signature nor a DSSE envelope`)
  const manifest = await rules.readManifest()
  const digest = at(message, 'messageDigest', 'digest')
  const isOurs = digest === undefined || base64(digest, origin).equals(createHash('sha256').update(manifest).digest())
  if (!isOurs) throw new SigstoreFault('other-digest', `${origin} is for another manifest than ${rules.digest}`)
  return verify(manifest, [base64(at(message, 'signature'), origin)])
}

function requireSubject(statement: JsonNode, digest: Digest, origin: string): void {
  const [algorithm = ''] = digest.split(':')
  const subjects = items(at(statement, 'subject')).map((subject) => at(subject, 'digest'))
  const named = subjects.map((one) => (one === undefined ? undefined : textAt(one, algorithm)))
  if (named.includes(hexOf(digest))) return
  const found = named.map((hex) => `${algorithm}:${hex ?? '?'}`).join(', ') || 'nothing'
  throw new SigstoreFault('other-digest', `${origin} is for ${found}, not for ${digest}`)
}

/** The bytes that DSSE signs (`protocol.md`, "PAE"). */
function preAuthenticated(type: string, payload: Uint8Array): Uint8Array {
  const typeLength = Buffer.byteLength(type)
  return Buffer.concat([Buffer.from(`DSSEv1 ${typeLength} ${type} ${payload.byteLength} `), payload])
}

function parse(bytes: Uint8Array, origin: string): JsonNode {
  try {
    return parseStrictJson(new TextDecoder().decode(bytes))
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    throw new SigstoreFault('not-json', `${origin} is not JSON: ${error.message}`)
  }
}

function at(node: JsonNode | undefined, ...path: string[]): JsonNode | undefined {
  return path.reduce<JsonNode | undefined>(
    (one, key) => (one?.kind === 'object' ? one.fields.get(key) : undefined),
    node,
  )
}

function textAt(node: JsonNode, key: string): string | undefined {
  const value = at(node, key)
  return value?.kind === 'string' ? value.text : undefined
}

function items(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : []
}

function base64(node: JsonNode | undefined, origin: string): Buffer {
  if (node?.kind === 'string') return Buffer.from(node.text, 'base64')
  throw new SigstoreFault('not-json', `${origin} lacks a field that a sigstore bundle has`)
}
