/**
 * Signed OpenPGP messages: who signed them, and whether that counts.
 *
 * What counts: a signature over the bytes by a key that was given, which is neither revoked nor expired, neither now nor when it
 * signed. GnuPG, and with it containers/image (`signature/mechanism_gpgme.go`), refuse a key that has expired by now as well: the time in a signature is
 * the signer's word, so it cannot prove that a key was still good. The hash of a signature is SHA-2 or SHA-3. Keys may vouch for themselves
 * by SHA-1 where they did so before 2019 (`openpgp-keys.ts`).
 */
import type { Key, Subkey } from 'openpgp'
import { KnownError } from '../errors/known-error.ts'
import { dateText, refuseUnusableKey } from './openpgp-key-state.ts'
import { type Keyring, keyIdOf, type SigningKey } from './openpgp-keys.ts'
import { readSignedContent } from './openpgp-packets.ts'
import { type ClaimedSignature, hashNames, readSignaturePacket, refusedHashes } from './openpgp-signature.ts'

export interface Signer {
  /** 16 hex digits, upper case: the key, or the subkey, that made the signature. */
  readonly keyId: string
  /** Of the whole key, 40 hex digits, upper case. */
  readonly fingerprint: string
  /** `Red Hat, Inc. (release key 2) <security@redhat.com>` */
  readonly userId: string
  /** Where the key was taken from. */
  readonly origin: string
  readonly signedAt: Date
}

export interface SignedMessage {
  readonly content: Uint8Array
  readonly signer: Signer
}

export interface MessageCheck {
  readonly bytes: Uint8Array
  readonly keys: Keyring
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Which signature it is, for messages. */
  readonly what: string
}

/** Clocks differ; a signature that comes from further ahead means that one of them is wrong. */
const clockToleranceMs = 24 * 60 * 60 * 1000

/**
 * The content of a message, proven to be signed by one of `keys`.
 *
 * @throws KnownError SIGNATURE_INVALID; `details.reason` is `not-openpgp`, `unknown-key`, `mismatch`, `weak-hash`, `expired`, `from-future`,
 * `condition`, `key-expired`, `key-revoked`, `key-weak` or `key-unusable`
 */
export async function verifyMessage(check: MessageCheck): Promise<SignedMessage> {
  const { content, signatures } = readSignedContent(check.bytes, check.what)
  const refusals: KnownError[] = []
  for (const body of signatures) {
    try {
      return { content, signer: await verifyOne(body, content, check) }
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      refusals.push(error)
    }
  }
  // One by a key that is known says more than one by a stranger.
  throw refusals.find(({ details }) => details['reason'] !== 'unknown-key') ?? refusals[0]
}

async function verifyOne(body: Uint8Array, content: Uint8Array, check: MessageCheck): Promise<Signer> {
  const claim = await readSignaturePacket(body)
  if (claim === undefined) {
    const hint =
      'Fetch the signature again; where it comes again as it is, it was made by a program that OpenPGP tools of today do not follow.'
    throw refused(check, 'not-openpgp', {
      why: `carries a signature (version ${body[0]}) that is damaged, or of a form that is not supported`,
      hint,
    })
  }
  const candidates = partsOf(check.keys, claim.keyId)
  if (candidates.length === 0) throw unknownKey(check, claim)
  refuseWeakHash(check, claim)
  const signing = await makerOf(candidates, claim, content)
  if (signing === undefined) throw mismatch(check, claim)
  refuseByTime(check, claim)
  await refuseUnusableKey(signing, { ...check, signedAt: claim.signedAt })
  return signerOf(signing, claim)
}

function partsOf(keys: Keyring, keyId: string): SigningKey[] {
  return keys.flatMap((trusted) => {
    const parts: (Key | Subkey)[] = trusted.key.getKeys()
    return parts.filter((part) => keyIdOf(part) === keyId).map((part) => ({ ...trusted, part }))
  })
}

async function makerOf(
  candidates: readonly SigningKey[],
  claim: ClaimedSignature,
  content: Uint8Array,
): Promise<SigningKey | undefined> {
  for (const candidate of candidates) {
    if (await claim.isBy(candidate.part, content)) return candidate
  }
  return undefined
}

function signerOf({ key, part, origin }: SigningKey, { signedAt }: ClaimedSignature): Signer {
  return {
    keyId: keyIdOf(part),
    fingerprint: key.getFingerprint().toUpperCase(),
    userId: key.getUserIDs()[0] ?? '',
    origin,
    signedAt,
  }
}

function unknownKey(check: MessageCheck, { keyId }: ClaimedSignature): KnownError {
  const known = check.keys.map(({ key }) => keyIdOf(key)).join(', ')
  return refused(check, 'unknown-key', {
    why: `is signed by key ${keyId}, which is not among the trusted keys (${known || 'there are none'})`,
    hint: `Where you trust that key, name a file with it in OCP_SIGNATURE_VERIFICATION_PK: gpg --export --armor ${keyId}`,
    keyId,
  })
}

function mismatch(check: MessageCheck, { keyId }: ClaimedSignature): KnownError {
  return refused(check, 'mismatch', {
    why: `does not match its content: these bytes are not what key ${keyId} signed`,
    hint: 'The bytes changed after they were signed. Fetch the signature again; do not use what it stands for before one matches.',
    keyId,
  })
}

function refuseWeakHash(check: MessageCheck, { hash, keyId }: ClaimedSignature): void {
  const name = hashNames[hash]
  if (name !== undefined && !refusedHashes.includes(hash)) return
  throw refused(check, 'weak-hash', {
    why: `is made by ${name ?? `hash ${hash}`}, which proves nothing any more`,
    hint: 'Have it signed again with SHA-256 or better (gpg --digest-algo SHA256).',
    keyId,
  })
}

function refuseByTime(check: MessageCheck, { signedAt, expiresAt, keyId, condition }: ClaimedSignature): void {
  if (condition !== undefined) {
    const hint = 'Have it signed again without that condition.'
    throw refused(check, 'condition', {
      why: `holds only under a condition that is not known (${condition})`,
      hint,
      keyId,
    })
  }
  if (signedAt.getTime() > check.now + clockToleranceMs) {
    const hint = 'Correct the clock of this machine, or find out what signed it.'
    const why = `was made on ${dateText(signedAt)}, and here it is ${dateText(new Date(check.now))}`
    throw refused(check, 'from-future', { why, hint, keyId })
  }
  if (expiresAt !== undefined && expiresAt.getTime() <= check.now) {
    const hint = 'Fetch the signatures again: whoever made it was to make a newer one.'
    throw refused(check, 'expired', { why: `expired on ${dateText(expiresAt)}`, hint, keyId })
  }
}

interface Refusal {
  readonly why: string
  readonly hint: string
  readonly keyId?: string
}

function refused({ what }: MessageCheck, reason: string, { why, hint, keyId }: Refusal): KnownError {
  return new KnownError('SIGNATURE_INVALID', `${what} ${why}`, { details: { signature: what, reason, keyId }, hint })
}
