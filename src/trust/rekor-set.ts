/**
 * The proof, usable offline, that a signature stands in a Rekor log: the Signed Entry Timestamp beside it.
 *
 * Source: containers/image `signature/internal/rekor_set.go`; sigstore/cosign `specs/SIGNATURE_SPEC.md`, "bundle".
 */
import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { exactFields, JsonFault, type JsonNode, parseStrictJson, textOfNode } from './policy-json.ts'
import { isSignedWith, type SigstoreKey } from './sigstore-key.ts'

/** Why a log entry proves nothing. */
export class RekorFault extends Error {
  override readonly name = 'RekorFault'
}

interface LoggedSignature {
  readonly signature: Uint8Array
  readonly payloadSha256: string
  /** The public key or the certificate that was logged. */
  readonly pem: string
}

export interface RekorClaim {
  /** The text of the annotation. */
  readonly set: string
  /** Of the logs that are trusted. */
  readonly keys: readonly SigstoreKey[]
  /** DER of the public key or certificate that signed. */
  readonly signer: Uint8Array
  readonly signature: Uint8Array
  readonly payload: Uint8Array
}

/**
 * Proves that this signature of this payload by this signer is logged, and gives the time of the entry.
 *
 * @throws RekorFault
 */
export function verifyRekorSet({ set, keys, signer, signature, payload }: RekorClaim): Date {
  const { timestamp, entry } = asFault('Rekor SET', () => parseSet(set))
  const canonical = new TextEncoder().encode(canonicalJson(entry))
  if (!keys.some((key) => isSignedWith(key, canonical, timestamp)))
    throw new RekorFault('the Rekor SET is signed by none of the trusted logs, or was altered')
  const { body, integratedTime } = asFault('Rekor SET payload', () => parseEntry(entry))
  const logged = asFault('body of the Rekor SET', () => parseHashedRekord(body))
  if (!derOf(logged.pem).equals(signer)) throw new RekorFault('the Rekor SET is for another key or certificate')
  if (!Buffer.from(logged.signature).equals(signature)) throw new RekorFault('the Rekor SET is for another signature')
  if (createHash('sha256').update(payload).digest('hex') !== logged.payloadSha256)
    throw new RekorFault('the Rekor SET is for another payload')
  return new Date(integratedTime * 1000)
}

/** What a log entry says, unproven, to explain a failure; undefined where there is none that can be read. */
export function loggedSignature(set: string | undefined): LoggedSignature | undefined {
  if (set === undefined) return undefined
  try {
    const logged = parseHashedRekord(parseEntry(parseSet(set).entry).body)
    derOf(logged.pem)
    return logged
  } catch (error) {
    if (error instanceof JsonFault || error instanceof RekorFault) return undefined
    throw error
  }
}

/** JSON as RFC 8785 writes it. */
export function canonicalJson(node: JsonNode): string {
  switch (node.kind) {
    case 'object': {
      const keys = [...node.fields.keys()].sort()
      const fields = keys.flatMap((key) => {
        const value = node.fields.get(key)
        return value === undefined ? [] : [`${JSON.stringify(key)}:${canonicalJson(value)}`]
      })
      return `{${fields.join(',')}}`
    }
    case 'array':
      return `[${node.items.map(canonicalJson).join(',')}]`
    case 'string':
      return JSON.stringify(node.text)
    case 'number':
      return JSON.stringify(Number(node.text))
    default:
      return node.kind
  }
}

function parseSet(text: string): { readonly timestamp: Uint8Array; readonly entry: JsonNode } {
  const root = parseStrictJson(text)
  const fields = exactFields(root, 'the SET', ['SignedEntryTimestamp', 'Payload'])
  const timestamp = fields.get('SignedEntryTimestamp')
  const entry = fields.get('Payload')
  if (entry === undefined) throw new JsonFault('Payload is missing', root.line)
  return { timestamp: bytesOf(timestamp, 'SignedEntryTimestamp'), entry }
}

function parseEntry(node: JsonNode): { readonly body: Uint8Array; readonly integratedTime: number } {
  const names = ['body', 'integratedTime', 'logIndex', 'logID']
  const fields = exactFields(node, 'Payload', names)
  const number = (key: string) => {
    const value = fields.get(key)
    if (value?.kind !== 'number' || !Number.isSafeInteger(Number(value.text)))
      throw new JsonFault(`${key} is not an integer`, node.line)
    return Number(value.text)
  }
  textOfNode(fields.get('logID'), 'logID', node.line)
  number('logIndex')
  return { body: bytesOf(fields.get('body'), 'body'), integratedTime: number('integratedTime') }
}

function parseHashedRekord(body: Uint8Array): LoggedSignature {
  const root = parseStrictJson(new TextDecoder().decode(body))
  const text = (...path: string[]) => textOfNode(nodeAt(root, path), path.join('.'), root.line)
  const kind = text('kind')
  const version = text('apiVersion')
  if (kind !== 'hashedrekord' || version !== '0.0.1')
    throw new JsonFault(`${kind} ${version} is not hashedrekord 0.0.1`, root.line)
  const algorithm = text('spec', 'data', 'hash', 'algorithm')
  if (algorithm !== 'sha256') throw new JsonFault(`the hash algorithm ${algorithm} is not supported`, root.line)
  const pem = bytesOf(nodeAt(root, ['spec', 'signature', 'publicKey', 'content']), 'spec.signature.publicKey.content')
  return {
    signature: bytesOf(nodeAt(root, ['spec', 'signature', 'content']), 'spec.signature.content'),
    payloadSha256: text('spec', 'data', 'hash', 'value'),
    pem: new TextDecoder().decode(pem),
  }
}

function nodeAt(root: JsonNode, path: readonly string[]): JsonNode | undefined {
  return path.reduce<JsonNode | undefined>(
    (node, key) => (node?.kind === 'object' ? node.fields.get(key) : undefined),
    root,
  )
}

function bytesOf(node: JsonNode | undefined, what: string): Uint8Array {
  return Buffer.from(textOfNode(node, what, node?.line ?? 1), 'base64')
}

/** The bytes within one PEM block. */
function derOf(pem: string): Buffer {
  try {
    return pem.includes('CERTIFICATE') ? new X509Certificate(pem).raw : spkiOf(createPublicKey(pem))
  } catch (cause) {
    throw new RekorFault('the key in the Rekor SET is no public key and no certificate', { cause })
  }
}

/** What `signer` is compared with where a bare key signed. */
export function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

function asFault<T>(what: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (error instanceof JsonFault) throw new RekorFault(`the ${what} cannot be read: ${error.message}`)
    throw error
  }
}
