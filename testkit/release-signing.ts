/**
 * Keys and signatures as those of releases, and as they must not be: by old hashes, expired, of version 3.
 *
 *     const signer = await makeReleaseSigner()
 *     const signature = await signRelease(signer, { digest })
 *     const keys = await loadKeys([{ content: signer.publicKey, origin: 'test' }])
 */
import { createPrivateKey, sign } from 'node:crypto'
import {
  createMessage,
  config as defaults,
  enums,
  generateKey,
  type PrivateKey,
  SecretKeyPacket,
  SignaturePacket,
} from 'openpgp'

export interface ReleaseSigner {
  /** 16 hex digits, upper case. */
  readonly keyId: string
  readonly fingerprint: string
  /** Armored. */
  readonly publicKey: string
  readonly key: PrivateKey
}

export interface SignerOptions {
  readonly name?: string
  /** Ed25519 where nothing is said, which is made in no time. */
  readonly rsaBits?: number
  readonly madeAt?: Date
  readonly lifetimeSeconds?: number
  /** What the key vouches for itself by. Default: what OpenPGP.js takes. */
  readonly selfSignatureHash?: enums.hash
}

const madeAt = new Date('2026-01-01T00:00:00Z')

export async function makeReleaseSigner(options: SignerOptions = {}): Promise<ReleaseSigner> {
  const { name = 'Release Test', rsaBits, lifetimeSeconds = 0, selfSignatureHash } = options
  const date = options.madeAt ?? madeAt
  const { privateKey: key } = await generateKey({
    userIDs: { name, email: 'release@example.com' },
    ...(rsaBits === undefined ? { type: 'ecc', curve: 'ed25519Legacy' } : { type: 'rsa', rsaBits }),
    subkeys: [],
    date,
    keyExpirationTime: lifetimeSeconds,
    format: 'object',
    config: { minRSABits: 1024 },
  })
  if (selfSignatureHash !== undefined) await vouchBy(key, selfSignatureHash, date)
  return signerOf(key)
}

/** Signs name and key anew: the package does not choose an old hash by itself. */
async function vouchBy(key: PrivateKey, hash: enums.hash, date: Date): Promise<void> {
  for (const { userID, selfCertifications } of key.users) {
    for (const certification of selfCertifications) {
      certification.hashAlgorithm = hash
      certification.rawNotations = []
      await signPacket(certification, key, { data: { userID, key: key.keyPacket }, date })
    }
  }
}

/** Of the package, whose types leave out what it needs. */
interface PacketSigner {
  sign(key: SecretKeyPacket, data: object, date: Date, isDetached: boolean, config: object): Promise<void>
}

async function signPacket(
  packet: SignaturePacket,
  { keyPacket }: PrivateKey,
  { data, date }: { readonly data: object; readonly date: Date },
): Promise<void> {
  if (!(keyPacket instanceof SecretKeyPacket)) throw new Error('not a private key')
  // Notations with chance in them exist for new hashes only.
  const config = { ...defaults, nonDeterministicSignaturesViaNotation: false }
  await (packet as unknown as PacketSigner).sign(keyPacket, data, date, false, config)
}

export function signerOf(key: PrivateKey): ReleaseSigner {
  return {
    keyId: key.getKeyID().toHex().toUpperCase(),
    fingerprint: key.getFingerprint().toUpperCase(),
    publicKey: key.toPublic().armor(),
    key,
  }
}

export interface ReleaseClaim {
  readonly digest: string
  readonly reference?: string
}

/** What a signature of a release says. */
export function releaseClaim({
  digest,
  reference = 'quay.io/example/ocp-release:4.18.9-x86_64',
}: ReleaseClaim): string {
  return JSON.stringify({
    critical: {
      image: { 'docker-manifest-digest': digest },
      type: 'atomic container signature',
      identity: { 'docker-reference': reference },
    },
    optional: { creator: 'Sallyport test' },
  })
}

export interface SigningOptions {
  readonly signedAt?: Date
  readonly lifetimeSeconds?: number
  readonly hash?: enums.hash
  /** 3: the form of 1998, in which releases were signed until 2022; for RSA only. */
  readonly version?: 3 | 4
}

/** A signed message, as the store has it. `text` where something else is signed than a claim. */
export async function signRelease(
  signer: ReleaseSigner,
  signed: ReleaseClaim | { readonly text: string },
  options: SigningOptions = {},
): Promise<Uint8Array> {
  const content = Buffer.from('text' in signed ? signed.text : releaseClaim(signed))
  const { hash = enums.hash.sha256, signedAt = new Date('2026-02-01T00:00:00Z') } = options
  const literal = packet(11, Buffer.concat([Buffer.from([0x62, 0]), seconds(signedAt), content]))
  if (options.version === 3) return Buffer.concat([packet(2, version3(signer, content, signedAt)), literal])
  const signature = new SignaturePacket()
  signature.signatureType = enums.signature.binary
  signature.publicKeyAlgorithm = signer.key.keyPacket.algorithm
  signature.hashAlgorithm = hash
  if (options.lifetimeSeconds !== undefined) {
    signature.signatureExpirationTime = options.lifetimeSeconds
    signature.signatureNeverExpires = false
  }
  const [data] = (await createMessage({ binary: content })).packets
  if (data === undefined) throw new Error('no literal data')
  await signPacket(signature, signer.key, { data, date: signedAt })
  return Buffer.concat([packet(2, Buffer.from(signature.write() as Uint8Array)), literal])
}

function packet(tag: number, body: Uint8Array): Buffer {
  const header = Buffer.alloc(6)
  header.writeUInt8(0xc0 | tag)
  header.writeUInt8(0xff, 1)
  header.writeUInt32BE(body.byteLength, 2)
  return Buffer.concat([header, body])
}

function seconds(date: Date): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(date.getTime() / 1000)
  return bytes
}

/** RFC 4880 5.2.2. */
function version3({ key }: ReleaseSigner, content: Uint8Array, signedAt: Date): Buffer {
  const trailer = Buffer.concat([Buffer.from([0]), seconds(signedAt)])
  const privateKey = createPrivateKey({ key: jwkOf(key), format: 'jwk' })
  const value = sign('sha256', Buffer.concat([content, trailer]), privateKey)
  const start = Buffer.from(value.subarray(value.findIndex((byte) => byte !== 0)))
  const bits = Buffer.alloc(2)
  bits.writeUInt16BE(start.byteLength * 8 - Math.clz32(start[0] ?? 0) + 24)
  const issuer = Buffer.from(key.getKeyID().toHex(), 'hex')
  return Buffer.concat([Buffer.from([3, 5]), trailer, issuer, Buffer.from([1, 8, 0, 0]), bits, start])
}

function jwkOf(key: PrivateKey) {
  const { n, e } = key.keyPacket.publicParams as Record<'n' | 'e', Uint8Array>
  const { d, p, q } = (key.keyPacket as SecretKeyPacket & { privateParams: Record<'d' | 'p' | 'q', Uint8Array> })
    .privateParams
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
  const big = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const number = (value: bigint) => {
    const hex = value.toString(16)
    return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url')
  }
  const [dp, dq] = [big(d) % (big(p) - 1n), big(d) % (big(q) - 1n)]
  const qi = inverse(big(q), big(p))
  return {
    kty: 'RSA',
    n: text(n),
    e: text(e),
    d: text(d),
    p: text(p),
    q: text(q),
    dp: number(dp),
    dq: number(dq),
    qi: number(qi),
  }
}

/** Of a prime: by Fermat. */
function inverse(value: bigint, prime: bigint): bigint {
  let result = 1n
  let base = value % prime
  for (let exponent = prime - 2n; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = (result * base) % prime
    base = (base * base) % prime
  }
  return result
}
