/** One signature packet of an OpenPGP message: what it says of itself, and whether a key made it. */
import { createPublicKey, verify } from 'node:crypto'
import type { Key, SignaturePacket, Subkey } from 'openpgp'
import * as z from 'zod'
import { keyRules, loadOpenPgp } from './openpgp-keys.ts'

/** Nothing of this is proven before `isBy` says so. */
export interface ClaimedSignature {
  readonly version: number
  /** 16 hex digits, upper case; zeroes where the signature does not say. */
  readonly keyId: string
  readonly hash: number
  readonly signedAt: Date
  /** Where the signature itself ends. */
  readonly expiresAt?: Date
  /** A condition that must be understood, and is not. */
  readonly condition?: string
  isBy(part: Key | Subkey, content: Uint8Array): Promise<boolean>
}

/** RFC 4880 9.4 and RFC 9580 9.5. */
export const hashNames: Readonly<Record<number, string>> = {
  1: 'MD5',
  2: 'SHA-1',
  3: 'RIPEMD-160',
  8: 'SHA-256',
  9: 'SHA-384',
  10: 'SHA-512',
  11: 'SHA-224',
  12: 'SHA3-256',
  14: 'SHA3-512',
}

/** Whoever wants to can find two texts for one of these hashes. */
export const refusedHashes: readonly number[] = [1, 2, 3]

/** Of documents, as opposed to keys: over the bytes, and over lines of text. */
const documentTypes = [0, 1]
const rsa = [1, 3]

/**
 * @param body of the signature packet
 * @returns undefined where the packet is damaged, or of a form that nobody reads
 */
export function readSignaturePacket(body: Uint8Array): Promise<ClaimedSignature | undefined> {
  return body[0] === 3 ? Promise.resolve(readVersion3(body)) : readWithPackage(body)
}

async function readWithPackage(body: Uint8Array): Promise<ClaimedSignature | undefined> {
  const { readSignature } = await loadOpenPgp()
  const header = Buffer.alloc(6)
  header.writeUInt16BE(0xc2ff)
  header.writeUInt32BE(body.byteLength, 2)
  let packet: SignaturePacket | undefined
  try {
    packet = (await readSignature({ binarySignature: Buffer.concat([header, body]) })).packets[0]
  } catch (error) {
    // The package throws plain errors: whatever it cannot read is damaged to us.
    if (error instanceof Error) return undefined
    throw error
  }
  // Where it does not know a version or an algorithm, it puts a packet there that says nothing.
  if (packet?.created == null || packet.hashAlgorithm === null) return undefined
  return documentTypes.includes(packet.signatureType ?? -1) ? claimOf(packet, packet.created) : undefined
}

function claimOf(packet: SignaturePacket, signedAt: Date): ClaimedSignature {
  const expiry = packet.getExpirationTime()
  const condition = conditionOf(packet)
  return {
    version: packet.version,
    keyId: packet.issuerKeyID.toHex().toUpperCase().padStart(16, '0'),
    hash: Number(packet.hashAlgorithm),
    signedAt,
    ...(expiry instanceof Date && { expiresAt: expiry }),
    ...(condition !== undefined && { condition }),
    isBy: (part, content) => isMadeBy(packet, part, content),
  }
}

function conditionOf({ unknownSubpackets, rawNotations }: SignaturePacket): string | undefined {
  const subpacket = unknownSubpackets.find(({ critical }) => critical)
  if (subpacket !== undefined) return `subpacket ${subpacket.type}`
  const notation = rawNotations.find(({ critical }) => critical)
  return notation === undefined ? undefined : `notation ${notation.name}`
}

async function isMadeBy(packet: SignaturePacket, part: Key | Subkey, content: Uint8Array): Promise<boolean> {
  const { createMessage } = await loadOpenPgp()
  const [literal] = (await createMessage({ binary: content })).packets
  if (literal === undefined || packet.signatureType === null) return false
  const date = packet.created ?? undefined
  try {
    await packet.verify(part.keyPacket, packet.signatureType, literal, date, true, await keyRules())
    return true
  } catch (error) {
    // What else may be wrong with it is asked before: here the package has compared hashes and computed.
    if (error instanceof Error) return false
    throw error
  }
}

/** RFC 4880 5.2.2: fixed places, and no subpackets. */
function readVersion3(body: Uint8Array): ClaimedSignature | undefined {
  const view = Buffer.from(body)
  if (view.byteLength < 21 || view[1] !== 5 || view[2] !== 0) return undefined
  const bits = view.readUInt16BE(19)
  const value = view.subarray(21, 21 + Math.ceil(bits / 8))
  if (!rsa.includes(view[15] ?? 0) || value.byteLength < Math.ceil(bits / 8)) return undefined
  const hash = view[16] ?? 0
  const trailer = view.subarray(2, 7)
  return {
    version: 3,
    keyId: view.subarray(7, 15).toString('hex').toUpperCase(),
    hash,
    signedAt: new Date(view.readUInt32BE(3) * 1000),
    isBy: async ({ keyPacket }, content) => isRsaBy(keyPacket.publicParams, { hash, value, trailer, content }),
  }
}

interface RsaSignature {
  readonly hash: number
  readonly value: Uint8Array
  /** Hashed behind the content: type and time. */
  readonly trailer: Uint8Array
  readonly content: Uint8Array
}

const RsaParameters = z.object({ n: z.instanceof(Uint8Array), e: z.instanceof(Uint8Array) })

function isRsaBy(parameters: object, { hash, value, trailer, content }: RsaSignature): boolean {
  const known = RsaParameters.safeParse(parameters)
  const name = hashNames[hash]
  if (!known.success || name === undefined) return false
  const n = Buffer.from(known.data.n)
  const key = createPublicKey({
    key: { kty: 'RSA', n: n.toString('base64url'), e: Buffer.from(known.data.e).toString('base64url') },
    format: 'jwk',
  })
  // The number is written without leading zeroes; RSA wants it as long as the modulus.
  const padded = Buffer.alloc(n.byteLength)
  if (value.byteLength > n.byteLength) return false
  padded.set(value, n.byteLength - value.byteLength)
  return verify(name.replace('-', ''), Buffer.concat([content, trailer]), key, padded)
}
