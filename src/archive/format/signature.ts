/**
 * Signatures over archives and receipts, with key files as OpenSSL writes them.
 *
 * A signature is over a short text that names what it vouches for, so that it can be checked with nothing but OpenSSL:
 * `openssl pkeyutl -verify -pubin -inkey KEY.pub -rawin -in TEXT -sigfile SIGNATURE`. ECDSA and RSA sign the SHA-256 of the
 * text (SHA-384 for P-384), RSA with PKCS #1 v1.5; Ed25519 signs the text itself (RFC 8032).
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { KnownError } from '../../errors/known-error.ts'
import type { EndRecord } from './records.ts'

/** As it stands in a document: which key, and its value in base64. */
export type ArchiveSignature = Omit<NonNullable<EndRecord['signature']>, 'sum'>

export interface ArchiveSigner {
  /** SHA-256 of the public key (DER, SubjectPublicKeyInfo), 64 hex digits. */
  readonly key: string
  sign(text: string): ArchiveSignature
}

/** The public half of a signer. */
export interface ArchiveVerifier {
  /** As in `ArchiveSigner`. */
  readonly key: string
  readonly publicKey: KeyObject
}

/** Below this a key for RSA is no protection any more (NIST SP 800-57). */
const minRsaBits = 2048
const makeKey = 'Make one with: sallyport archive keygen KEY.pem'
const takePublicHalf = 'Write its public half with: openssl pkey -in KEY.pem -pubout -out KEY.pub.pem'

/**
 * @param path a private key in PEM, not encrypted: Ed25519, ECDSA P-256 or P-384, RSA
 * @throws KnownError KEY_INVALID, FILE_UNREADABLE
 */
export async function loadSigningKey(path: string): Promise<ArchiveSigner> {
  const pem = await readKey(path)
  refuseForeign(pem, path)
  if (!/-----BEGIN (?:RSA |EC )?PRIVATE KEY-----/.test(pem))
    throw invalidKey(path, 'holds no private key', { hint: makeKey })
  const privateKey = parsed(path, () => createPrivateKey(pem))
  const hash = hashFor(privateKey, path)
  const key = fingerprint(createPublicKey(privateKey))
  return { key, sign: (text) => ({ key, value: sign(hash, Buffer.from(text), privateKey).toString('base64') }) }
}

/**
 * @param path a public key or a certificate in PEM
 * @throws KnownError KEY_INVALID, FILE_UNREADABLE
 */
export async function loadVerifyKey(path: string): Promise<ArchiveVerifier> {
  const pem = await readKey(path)
  refuseForeign(pem, path)
  if (/PRIVATE KEY-----/.test(pem)) {
    throw invalidKey(path, 'is a private key, which has no business where something is only verified', {
      hint: takePublicHalf,
    })
  }
  if (!/-----BEGIN (?:(?:RSA )?PUBLIC KEY|CERTIFICATE)-----/.test(pem)) {
    throw invalidKey(path, 'holds no public key', { hint: takePublicHalf })
  }
  const publicKey = parsed(path, () => createPublicKey(pem))
  hashFor(publicKey, path)
  return { key: fingerprint(publicKey), publicKey }
}

/** What the signature of an archive is over: its end stands for every byte, because checksums are chained. */
export function archiveMessage(end: Pick<EndRecord, 'id' | 'volumes' | 'checksum' | 'holes'>): string {
  return `sallyport-archive-v1\n${end.id}\n${end.volumes}\n${end.checksum}\n${end.holes}\n`
}

/**
 * @param signed the text, its signature, and what to call it in messages
 * @throws KnownError SIGNATURE_INVALID where there is no signature, it is by another key, or over another text
 */
export function verifySignature(
  verifier: ArchiveVerifier,
  signed: { text: string; signature: ArchiveSignature | undefined; what: string },
): void {
  const { text, signature, what } = signed
  if (signature === undefined) {
    throw new KnownError('SIGNATURE_INVALID', `${what} is not signed`, {
      hint: 'Ask the other side to sign it (--sign-key), or name no key here if you trust the way it came.',
    })
  }
  const details = { expectedKey: verifier.key, key: signature.key }
  if (signature.key !== verifier.key) {
    throw new KnownError(
      'SIGNATURE_INVALID',
      `${what} is signed with the key ${shortKey(signature.key)}, not with ${shortKey(verifier.key)}`,
      { details, hint: 'Name the public key of the one who signed; if you do not know that key, do not trust this.' },
    )
  }
  const value = Buffer.from(signature.value, 'base64')
  if (verify(hashFor(verifier.publicKey, what), Buffer.from(text), verifier.publicKey, value)) return
  throw new KnownError('SIGNATURE_INVALID', `The signature of ${what} does not fit its content`, { details })
}

/** Enough of a key's digest to tell it from others. */
function shortKey(key: string): string {
  return key.slice(0, 16)
}

async function readKey(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new KnownError('FILE_UNREADABLE', `The key ${path} cannot be read`, { details: { file: path }, cause })
  }
}

/** Kinds of key files that people have and that are none for this: each is refused by its name, with the way out. */
function refuseForeign(pem: string, path: string): void {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    const hint = `Take the passphrase off onto a disk in memory: openssl pkey -in ${path} -out /dev/shm/KEY.pem`
    throw invalidKey(path, 'is encrypted, and a passphrase cannot be asked for here', { hint })
  }
  if (/-----BEGIN OPENSSH PRIVATE KEY-----|^(?:ssh|ecdsa)-\S+ AAAA/m.test(pem)) {
    throw invalidKey(path, 'is a key of OpenSSH, whose form is not read here', { hint: makeKey })
  }
  if (/-----BEGIN (?:ENCRYPTED )?(?:COSIGN|SIGSTORE) /.test(pem)) {
    throw invalidKey(path, 'is a key of cosign, which is always encrypted', { hint: makeKey })
  }
  if (/-----BEGIN PGP /.test(pem))
    throw invalidKey(path, 'is a key of OpenPGP, which is not read here', { hint: makeKey })
}

/** The error of OpenSSL says nothing that a person could use, and what it was given must not be shown. */
function parsed(path: string, parse: () => KeyObject): KeyObject {
  try {
    return parse()
  } catch (cause) {
    throw invalidKey(path, 'cannot be read as a key: it is cut or damaged', { hint: makeKey, cause })
  }
}

/** The hash to sign with; null where the algorithm has its own. */
function hashFor(key: KeyObject, path: string): 'sha256' | 'sha384' | null {
  const { asymmetricKeyType: type = 'unknown', asymmetricKeyDetails: details = {} } = key
  if (type === 'ed25519') return null
  if (type === 'ec' && details.namedCurve === 'prime256v1') return 'sha256'
  if (type === 'ec' && details.namedCurve === 'secp384r1') return 'sha384'
  const bits = details.modulusLength ?? 0
  if (type === 'rsa' && bits >= minRsaBits) return 'sha256'
  const kind = type === 'rsa' ? `RSA with ${bits} bits` : [type, details.namedCurve].filter(Boolean).join(' ')
  throw invalidKey(path, `is a key for ${kind}; Ed25519, ECDSA P-256 and P-384, and RSA from 2048 bits work`, {
    hint: makeKey,
  })
}

function fingerprint(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
}

function invalidKey(path: string, why: string, options: { hint: string; cause?: unknown }): KnownError {
  return new KnownError('KEY_INVALID', `${path} ${why}`, { ...options, details: { file: path } })
}
