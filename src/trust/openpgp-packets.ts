/**
 * The frame of an OpenPGP message (RFC 4880 4.2, RFC 9580 4.2), down to what was signed and the signatures over it.
 *
 * Read here and not by the `openpgp` package, which drops signatures of version 3: those of OpenShift releases until 2022
 * are of that version.
 */
import { inflateRawSync, inflateSync } from 'node:zlib'
import { KnownError } from '../errors/known-error.ts'

/** What a message carries: the signed bytes, and each signature packet without its header. */
export interface SignedContent {
  readonly content: Uint8Array
  readonly signatures: readonly Uint8Array[]
}

interface Packet {
  readonly tag: number
  readonly body: Uint8Array
}

const tags = { signature: 2, compressed: 8, literal: 11 }
const encrypted = [1, 3, 9, 18, 20]
/** A signed statement about one image is half a KiB; what unpacks to more than this is none. */
const maxContentBytes = 1024 * 1024

/**
 * @param what which signature it is, for messages
 * @throws KnownError SIGNATURE_INVALID, with `reason` `not-openpgp`, where this is no signed message
 */
export function readSignedContent(bytes: Uint8Array, what: string): SignedContent {
  if (bytes.byteLength === 0) throw notOpenPgp(what, 'is empty')
  const packets = unpacked(readPackets(bytes, what), what)
  if (packets.some(({ tag }) => encrypted.includes(tag))) throw notOpenPgp(what, 'is an encrypted OpenPGP message')
  const literals = packets.filter(({ tag }) => tag === tags.literal)
  const signatures = packets.filter(({ tag }) => tag === tags.signature).map(({ body }) => body)
  const [literal] = literals
  if (literal === undefined || literals.length > 1) {
    const holds = literal === undefined ? 'no signed document' : 'more than one document'
    throw notOpenPgp(what, `is an OpenPGP message with ${holds} in it`)
  }
  if (signatures.length === 0) throw notOpenPgp(what, 'is an OpenPGP message that nobody signed')
  return { content: literalContent(literal.body, what), signatures }
}

function unpacked(packets: readonly Packet[], what: string): readonly Packet[] {
  const compressed = packets.find(({ tag }) => tag === tags.compressed)
  return compressed === undefined ? packets : readPackets(inflated(compressed.body, what), what)
}

/** RFC 4880 9.3: 0 nothing, 1 ZIP, 2 ZLIB; 3, BZip2, no signer of releases uses. */
function inflated(body: Uint8Array, what: string): Uint8Array {
  const options = { maxOutputLength: maxContentBytes }
  const data = body.subarray(1)
  try {
    if (body[0] === 0) return data
    if (body[0] === 1) return inflateRawSync(data, options)
    if (body[0] === 2) return inflateSync(data, options)
  } catch (cause) {
    throw notOpenPgp(what, 'is a damaged OpenPGP message: what it packs cannot be unpacked', cause)
  }
  throw notOpenPgp(what, `is packed by a method (${body[0]}) that is not supported`)
}

function readPackets(bytes: Uint8Array, what: string): readonly Packet[] {
  const packets: Packet[] = []
  let rest = bytes
  while (rest.byteLength > 0) {
    const first = rest[0] ?? 0
    if ((first & 0x80) === 0) throw notOpenPgp(what, describeStart(bytes, packets.length))
    const isNew = (first & 0x40) !== 0
    const tag = isNew ? first & 0x3f : (first >> 2) & 0x0f
    const read = isNew ? newLength(rest.subarray(1)) : oldLength(rest.subarray(1), first & 0x03)
    if (read === undefined) throw notOpenPgp(what, 'is an OpenPGP message that was cut short')
    packets.push({ tag, body: read.body })
    rest = read.rest
  }
  return packets
}

interface Split {
  readonly body: Uint8Array
  readonly rest: Uint8Array
}

function split(bytes: Uint8Array, start: number, size: number): Split | undefined {
  const end = start + size
  return end > bytes.byteLength ? undefined : { body: bytes.subarray(start, end), rest: bytes.subarray(end) }
}

/** RFC 4880 4.2.1: one, two or four bytes, or everything to the end. */
function oldLength(bytes: Uint8Array, type: number): Split | undefined {
  if (type === 3) return { body: bytes, rest: bytes.subarray(bytes.byteLength) }
  const width = 2 ** type
  return width > bytes.byteLength ? undefined : split(bytes, width, bigEndian(bytes.subarray(0, width)))
}

/** RFC 4880 4.2.2: also in parts. */
function newLength(bytes: Uint8Array): Split | undefined {
  const parts: Uint8Array[] = []
  let rest = bytes
  for (;;) {
    const first = rest[0]
    if (first === undefined) return undefined
    const isPart = first >= 224 && first < 255
    const width = isPart || first < 192 ? 1 : first === 255 ? 5 : 2
    if (width > rest.byteLength) return undefined
    const part = split(rest, width, isPart ? 2 ** (first & 0x1f) : lastLength(rest, first))
    if (part === undefined) return undefined
    parts.push(part.body)
    if (!isPart) return { body: parts.length === 1 ? part.body : Buffer.concat(parts), rest: part.rest }
    rest = part.rest
  }
}

function lastLength(bytes: Uint8Array, first: number): number {
  if (first < 192) return first
  return first === 255 ? bigEndian(bytes.subarray(1, 5)) : (first - 192) * 256 + (bytes[1] ?? 0) + 192
}

function bigEndian(bytes: Uint8Array): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0)
}

/** RFC 4880 5.9: format, name, date, and then the bytes that were signed. */
function literalContent(body: Uint8Array, what: string): Uint8Array {
  const start = 2 + (body[1] ?? 0) + 4
  if (body.byteLength < start) throw notOpenPgp(what, 'is an OpenPGP message that was cut short')
  return body.subarray(start)
}

function describeStart(bytes: Uint8Array, packetsBefore: number): string {
  if (packetsBefore > 0) return 'is a damaged OpenPGP message'
  const start =
    Buffer.from(bytes.subarray(0, 40))
      .toString('latin1')
      .split(/[\r\n]/)[0] ?? ''
  if (start.startsWith('-----BEGIN PGP')) return `is OpenPGP in ASCII armor, which the cluster does not read either`
  const seen = /^[\x20-\x7e]+$/.test(start) ? `: it begins with ${JSON.stringify(start)}` : ''
  return `is no OpenPGP message${seen}`
}

function notOpenPgp(what: string, why: string, cause?: unknown): KnownError {
  return new KnownError('SIGNATURE_INVALID', `${what} ${why}`, {
    details: { signature: what, reason: 'not-openpgp' },
    hint: 'Look at what the signature store sends for this URL: a proxy or a login page may have answered instead of it.',
    cause,
  })
}
