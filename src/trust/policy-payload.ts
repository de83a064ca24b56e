/**
 * What is signed: the JSON of simple signing, which cosign took over with another type.
 *
 * Source: containers/image `docs/containers-signature.5.md`, `signature/internal/sigstore_payload.go`,
 * `signature/simple.go`; sigstore/cosign `specs/SIGNATURE_SPEC.md`.
 */
import { type Digest, isDigest } from '../oci/digest.ts'
import { exactFields, JsonFault, type JsonNode, parseStrictJson, textOfNode } from './policy-json.ts'

export interface SignedPayload {
  readonly digest: Digest
  /** The name that the signer gave the image; cosign leaves the tag out. */
  readonly dockerReference: string
}

export type PayloadType = 'cosign container image signature' | 'atomic container signature'

/** @throws JsonFault */
export function parseSignedPayload(bytes: Uint8Array, type: PayloadType): SignedPayload {
  const root = parseStrictJson(textOf(bytes))
  const fields = exactFields(root, 'the payload', ['critical', 'optional'])
  const { line } = root
  const optional = required(fields, 'optional', line)
  if (optional.kind !== 'object' && !(optional.kind === 'null' && type.startsWith('cosign')))
    throw new JsonFault('optional must be an object', optional.line)
  if (optional.kind === 'object') checkOptional(optional.fields)
  const critical = exactFields(required(fields, 'critical', line), 'critical', ['type', 'image', 'identity'])
  const found = textOfNode(critical.get('type'), 'critical.type', line)
  if (found !== type) throw new JsonFault(`critical.type is "${found}", not "${type}"`, line)
  const image = exactFields(required(critical, 'image', line), 'critical.image', ['docker-manifest-digest'])
  const identity = exactFields(required(critical, 'identity', line), 'critical.identity', ['docker-reference'])
  const digest = textOfNode(image.get('docker-manifest-digest'), 'critical.image.docker-manifest-digest', line)
  if (!isDigest(digest)) throw new JsonFault(`critical.image.docker-manifest-digest "${digest}" is no digest`, line)
  const dockerReference = textOfNode(identity.get('docker-reference'), 'critical.identity.docker-reference', line)
  return { digest, dockerReference }
}

/** Two notes have a type; whatever else a signer adds is not looked at. */
function checkOptional(fields: ReadonlyMap<string, JsonNode>): void {
  const creator = fields.get('creator')
  if (creator !== undefined) textOfNode(creator, 'optional.creator', creator.line)
  const timestamp = fields.get('timestamp')
  if (timestamp === undefined) return
  if (timestamp.kind !== 'number' || !Number.isInteger(Number(timestamp.text)))
    throw new JsonFault('optional.timestamp is not an integer', timestamp.line)
}

function required(fields: ReadonlyMap<string, JsonNode>, key: string, line: number): JsonNode {
  const node = fields.get(key)
  if (node === undefined) throw new JsonFault(`${key} is missing`, line)
  return node
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new JsonFault('it is not UTF-8', 1)
  }
}
