/** Signs made images as cosign does, with keys that are made for the occasion; any part of it can be made to lie. */
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { type Digest, hexOf } from '../src/oci/digest.ts'
import { mediaTypes } from '../src/oci/media-type.ts'
import { jsonBytes, manifestOf, type SampleImage, sampleImage } from '../src/quickstart/sample-image.ts'
import { blobOf, type SampleLayer } from '../src/quickstart/sample-layer.ts'

export interface SigningKey {
  readonly privateKey: KeyObject
  /** As `cosign generate-key-pair` writes cosign.pub. */
  readonly publicPem: string
}

export type SigningKeyType = 'p256' | 'p384' | 'p521' | 'rsa' | 'ed25519'

export function makeSigningKey(type: SigningKeyType = 'p256'): SigningKey {
  const { privateKey, publicKey } = pairOf(type)
  return { privateKey, publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString() }
}

function pairOf(type: SigningKeyType): { privateKey: KeyObject; publicKey: KeyObject } {
  if (type === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  if (type === 'ed25519') return generateKeyPairSync('ed25519')
  const namedCurve = { p256: 'prime256v1', p384: 'secp384r1', p521: 'secp521r1' }[type]
  return generateKeyPairSync('ec', { namedCurve })
}

/** The signature of `bytes` as sigstore makes it: over SHA-256 with every key but Ed25519. */
export function signBytes({ privateKey }: SigningKey, bytes: Uint8Array): Buffer {
  return sign(privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256', bytes, privateKey)
}

export interface MadeSignature {
  readonly payload: Uint8Array
  readonly annotations: Readonly<Record<string, string>>
}

export interface SignatureOptions {
  readonly key: SigningKey
  readonly digest: Digest
  /** cosign leaves the tag out. */
  readonly dockerReference: string
  /** Instead of what cosign would sign. */
  readonly payload?: Uint8Array
  readonly annotations?: Readonly<Record<string, string>>
}

/** One signature: what is signed, and the annotations beside it. */
export function makeSigstoreSignature(options: SignatureOptions): MadeSignature {
  const { key, digest, dockerReference, annotations } = options
  const payload = options.payload ?? payloadOf(digest, dockerReference)
  const signature = signBytes(key, payload).toString('base64')
  return { payload, annotations: { 'dev.cosignproject.cosign/signature': signature, ...annotations } }
}

export function payloadOf(digest: string, dockerReference: string): Uint8Array {
  const critical = {
    identity: { 'docker-reference': dockerReference },
    image: { 'docker-manifest-digest': digest },
    type: 'cosign container image signature',
  }
  return Buffer.from(JSON.stringify({ critical, optional: null }))
}

/** What lies under the tag `sha256-<hex>.sig`: one layer for each signature. */
export function signatureTag(digest: Digest, signatures: readonly MadeSignature[]): SampleImage {
  return sampleImage({ layers: signatures.map(layerOf), tag: `sha256-${hexOf(digest)}.sig` })
}

/** The same as a referrer, as cosign did it experimentally (`COSIGN_EXPERIMENTAL` with OCI 1.1). */
export function signatureReferrer(subject: SampleImage, signatures: readonly MadeSignature[]): SampleImage {
  return referrer(subject, 'application/vnd.dev.cosign.artifact.sig.v1+json', signatures.map(layerOf))
}

/** A sigstore bundle as a referrer (sigstore/cosign `specs/BUNDLE_SPEC.md`). */
export function bundleReferrer(subject: SampleImage, bundle: object): SampleImage {
  const type = 'application/vnd.dev.sigstore.bundle.v0.3+json'
  const blob = blobOf(jsonBytes({ mediaType: type, verificationMaterial: { publicKey: {} }, ...bundle }), type)
  return referrer(subject, type, [{ ...blob, diffId: blob.descriptor.digest }])
}

/** The DSSE envelope of a statement about a manifest (`cmd/cosign/cli/sign/sign.go:signDigestBundle`). */
export function dsseEnvelope(
  key: SigningKey,
  digest: Digest,
  predicateType = 'https://sigstore.dev/cosign/sign/v1',
): object {
  const subject = [{ digest: { sha256: hexOf(digest) } }]
  const statement = { _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate: {} }
  const payload = Buffer.from(JSON.stringify(statement))
  const payloadType = 'application/vnd.in-toto+json'
  const head = `DSSEv1 ${payloadType.length} ${payloadType} ${payload.byteLength} `
  const sig = signBytes(key, Buffer.concat([Buffer.from(head), payload])).toString('base64')
  return { dsseEnvelope: { payload: payload.toString('base64'), payloadType, signatures: [{ sig }] } }
}

export interface LogEntryOptions {
  /** Of the log. */
  readonly log: SigningKey
  /** PEM of the public key or certificate that signed. */
  readonly signer: string
  readonly signature: MadeSignature
  /** Seconds since the epoch. */
  readonly time?: number
}

/** The annotation that proves that a signature is logged (Rekor's Signed Entry Timestamp). */
export function logEntry({ log, signer, signature, time = 1_700_000_000 }: LogEntryOptions): string {
  const record = {
    apiVersion: '0.0.1',
    kind: 'hashedrekord',
    spec: {
      data: { hash: { algorithm: 'sha256', value: createHash('sha256').update(signature.payload).digest('hex') } },
      signature: {
        content: signature.annotations['dev.cosignproject.cosign/signature'],
        publicKey: { content: Buffer.from(signer).toString('base64') },
      },
    },
  }
  // In the order that RFC 8785 puts them.
  const entry = {
    body: Buffer.from(JSON.stringify(record)).toString('base64'),
    integratedTime: time,
    logID: 'c0d23d6ad406973f9559f3ba2d1ca01f84147d8ffc5b8445c224f98b9591801d',
    logIndex: 7,
  }
  const timestamp = signBytes(log, Buffer.from(JSON.stringify(entry))).toString('base64')
  const { logID, ...rest } = entry
  return JSON.stringify({ SignedEntryTimestamp: timestamp, Payload: { logID, ...rest } })
}

/** The signature with one more annotation. */
export function annotated(signature: MadeSignature, annotations: Readonly<Record<string, string>>): MadeSignature {
  return { ...signature, annotations: { ...signature.annotations, ...annotations } }
}

function layerOf({ payload, annotations }: MadeSignature): SampleLayer {
  const blob = blobOf(payload, 'application/vnd.dev.cosign.simplesigning.v1+json')
  return { ...blob, descriptor: { ...blob.descriptor, annotations }, diffId: blob.descriptor.digest }
}

function referrer(subject: SampleImage, artifactType: string, layers: readonly SampleLayer[]): SampleImage {
  const empty = blobOf(jsonBytes({}), mediaTypes.ociEmpty)
  const { mediaType, digest, size } = subject.descriptor
  const manifest = manifestOf({
    schemaVersion: 2,
    mediaType: mediaTypes.ociManifest,
    artifactType,
    config: empty.descriptor,
    layers: layers.map(({ descriptor }) => descriptor),
    subject: { mediaType, digest, size },
  })
  return {
    digest: manifest.descriptor.digest,
    descriptor: { ...manifest.descriptor, artifactType },
    manifests: [manifest],
    blobs: [empty, ...layers],
  }
}
