/** Whether a key that made a signature is one that counts: not revoked, not expired, made for signing, and strong enough. */
import type { SignaturePacket } from 'openpgp'
import { KnownError } from '../errors/known-error.ts'
import { keyIdOf, keyRules, loadOpenPgp, maySelfSignBySha1Until, type SigningKey } from './openpgp-keys.ts'
import { hashNames, refusedHashes } from './openpgp-signature.ts'

interface KeyUse {
  /** Which signature it is for, for messages. */
  readonly what: string
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly signedAt: Date
}

/**
 * @throws KnownError SIGNATURE_INVALID, with `reason` `key-revoked`, `key-expired`, `key-weak` or `key-unusable`
 */
export async function refuseUnusableKey(signing: SigningKey, use: KeyUse): Promise<void> {
  await refuseRevoked(signing, use)
  await refuseExpired(signing, use)
  await refuseWeakSelf(signing, use)
  const { key, part } = signing
  const rules = await keyRules()
  try {
    await key.getSigningKey(part.getKeyID(), new Date(use.now), undefined, rules)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'it is not for signing'
    const hint = 'Name a key that is made for signing, with 2048 bits or more where it is RSA.'
    throw refused(signing, use, { reason: 'key-unusable', why: `which does not count: ${why}`, hint, cause })
  }
}

async function refuseRevoked(signing: SigningKey, use: KeyUse): Promise<void> {
  const { key, part } = signing
  const isWholeRevoked = await key.isRevoked(undefined, undefined, new Date(use.now), await keyRules())
  const revocations = isWholeRevoked || !('mainKey' in part) ? key.revocationSignatures : part.revocationSignatures
  if (!isWholeRevoked && (part === key || revocations.length === 0)) return
  const [revocation] = revocations
  const when = revocation?.created ? ` on ${dateText(revocation.created)}` : ''
  const reason = revocation?.reasonForRevocationString
  throw refused(signing, use, {
    reason: 'key-revoked',
    why: `which was revoked${when}${reason ? `: ${reason}` : ''}`,
    hint: 'Do not use what it signed. Ask the publisher for a signature by another key, and take that key from a place you trust.',
  })
}

async function refuseExpired(signing: SigningKey, use: KeyUse): Promise<void> {
  const { key, part } = signing
  const rules = await keyRules()
  const ends = [await key.getExpirationTime(undefined, rules)]
  if ('mainKey' in part) ends.push(await part.getExpirationTime(new Date(use.now), rules))
  const end = ends.find((time) => time instanceof Date && time.getTime() <= use.now)
  if (!(end instanceof Date)) return
  const order = use.signedAt < end ? 'before that' : 'after that'
  throw refused(signing, use, {
    reason: 'key-expired',
    why: `which expired on ${dateText(end)}; the signature says that it was made ${order}, on ${dateText(use.signedAt)}`,
    hint: 'Take the key anew from its publisher, who may have prolonged it, and name the file in OCP_SIGNATURE_VERIFICATION_PK; or correct the clock of this machine.',
  })
}

async function refuseWeakSelf(signing: SigningKey, use: KeyUse): Promise<void> {
  const { enums } = await loadOpenPgp()
  const proven = await selfSignatureOf(signing, use)
  const { hashAlgorithm: hash, created } = proven ?? newestClaimed(signing) ?? {}
  const isOldSha1 = hash === enums.hash.sha1 && Number(created) < maySelfSignBySha1Until && proven !== undefined
  if (!hash || !created || !refusedHashes.includes(hash) || isOldSha1) return
  throw refused(signing, use, {
    reason: 'key-weak',
    why: `which vouches for itself by ${hashNames[hash]}, made on ${dateText(created)}: that can be forged`,
    hint: 'Have its owner renew it (gpg --cert-digest-algo SHA256 --quick-set-expire …), and take it anew.',
  })
}

/** Undefined where there is none that holds. */
async function selfSignatureOf({ key, part }: SigningKey, { now }: KeyUse): Promise<SignaturePacket | undefined> {
  const rules = await keyRules()
  try {
    if ('mainKey' in part) return await part.verify(new Date(now), rules)
    return (await key.getPrimaryUser(new Date(now), undefined, rules)).selfCertification
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}

/** Nothing that it says is proven; it tells why nothing is. */
function newestClaimed({ key, part }: SigningKey): SignaturePacket | undefined {
  const all = 'mainKey' in part ? part.bindingSignatures : key.users.flatMap((user) => user.selfCertifications)
  return all.toSorted((one, other) => Number(one.created) - Number(other.created)).at(-1)
}

/** To the second, in UTC. */
export function dateText(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`
}

interface Refusal {
  readonly reason: string
  readonly why: string
  readonly hint: string
  readonly cause?: unknown
}

function refused(signing: SigningKey, { what }: KeyUse, { reason, why, hint, cause }: Refusal): KnownError {
  const keyId = keyIdOf(signing.part)
  const name = signing.key.getUserIDs()[0]
  return new KnownError('SIGNATURE_INVALID', `${what} is signed by key ${keyId}${name ? ` (${name})` : ''}, ${why}`, {
    details: { signature: what, reason, keyId, key: signing.origin },
    hint,
    cause,
  })
}
