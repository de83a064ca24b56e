/**
 * One requirement of policy.json.
 *
 * Source: containers-policy.json(5), "Policy Requirements"; containers/image `signature/policy_config.go`,
 * `signature/policy_config_sigstore.go`.
 */
import { type ByteSource, parseByteSource } from './policy-bytes.ts'
import { defaultIdentity, type SignedIdentity } from './policy-identity.ts'
import { exactFields, JsonFault, type JsonNode, type JsonObject, textOfNode } from './policy-json.ts'
import { parseSignedIdentity } from './policy-signed-identity.ts'

interface RequirementPlace {
  /** As a person finds it in the file: `default[0]`. */
  readonly place: string
  readonly line: number
}

export interface SignedByRequirement extends RequirementPlace {
  readonly type: 'signedBy'
  readonly keyType: string
  readonly keys: ByteSource
  readonly identity: SignedIdentity
}

/** Keyless: a certificate of a Fulcio CA for this address, and a log entry that says when. */
export interface FulcioRoot {
  readonly ca: ByteSource
  readonly oidcIssuer: string
  readonly subjectEmail: string
}

/** Bring your own PKI: a certificate of these roots for this address or host. */
export interface PkiRoot {
  readonly roots: ByteSource
  readonly intermediates?: ByteSource
  readonly subjectEmail?: string
  readonly subjectHostname?: string
}

export interface SigstoreRequirement extends RequirementPlace {
  readonly type: 'sigstoreSigned'
  /** Exactly one of these three is there. */
  readonly keys?: ByteSource
  readonly fulcio?: FulcioRoot
  readonly pki?: PkiRoot
  readonly rekorKeys?: ByteSource
  readonly identity: SignedIdentity
}

export interface BareRequirement extends RequirementPlace {
  /** `signedBaseLayer` is known, and never met: containers/image does not implement it either. */
  readonly type: 'insecureAcceptAnything' | 'reject' | 'signedBaseLayer'
}

export type PolicyRequirement = BareRequirement | SignedByRequirement | SigstoreRequirement

const keyTypes = ['GPGKeys', 'signedByGPGKeys', 'X509Certificates', 'signedByX509CAs']

/** @throws JsonFault */
export function parseRequirement(node: JsonNode, place: string): PolicyRequirement {
  const { line } = node
  if (node.kind !== 'object') throw new JsonFault(`${place} must be an object`, line)
  const type = textOfNode(node.fields.get('type'), `${place}.type`, line)
  switch (type) {
    case 'insecureAcceptAnything':
    case 'reject':
      exactFields(node, place, ['type'])
      return { type, place, line }
    case 'signedBy':
      return parseSignedBy(node, place)
    case 'sigstoreSigned':
      return parseSigstoreSigned(node, place)
    case 'signedBaseLayer': {
      const fields = exactFields(node, place, ['type', 'baseLayerIdentity'])
      const identity = fields.get('baseLayerIdentity')
      if (identity === undefined) throw new JsonFault(`${place}.baseLayerIdentity is missing`, line)
      parseSignedIdentity(identity, `${place}.baseLayerIdentity`)
      return { type, place, line }
    }
    default:
      throw new JsonFault(`${place}: the requirement type "${type}" is unknown`, line)
  }
}

function parseSignedBy(node: JsonObject & JsonNode, place: string): SignedByRequirement {
  const { line } = node
  const fields = exactFields(node, place, ['type', 'keyType', 'keyPath', 'keyPaths', 'keyData', 'signedIdentity'])
  const keyType = textOfNode(fields.get('keyType'), `${place}.keyType`, line)
  if (!keyTypes.includes(keyType)) throw new JsonFault(`${place}.keyType "${keyType}" is unknown`, line)
  const keys = parseByteSource(fields, { names: ['keyPath', 'keyPaths', 'keyData'], place })
  if (keys === undefined) throw new JsonFault(`${place} needs one of keyPath, keyPaths and keyData`, line)
  return { type: 'signedBy', place, line, keyType, keys, identity: identityOf(fields, place) }
}

const sigstoreKeys = ['keyPath', 'keyPaths', 'keyData', 'keyDatas']
const rekorKeys = ['rekorPublicKeyPath', 'rekorPublicKeyPaths', 'rekorPublicKeyData', 'rekorPublicKeyDatas']

function parseSigstoreSigned(node: JsonObject & JsonNode, place: string): SigstoreRequirement {
  const { line } = node
  const known = ['type', ...sigstoreKeys, 'fulcio', 'pki', ...rekorKeys, 'signedIdentity']
  const fields = exactFields(node, place, known)
  const keys = parseByteSource(fields, { names: sigstoreKeys, place })
  const rekor = parseByteSource(fields, { names: rekorKeys, place })
  const fulcio = fields.get('fulcio')
  const pki = fields.get('pki')
  const given = [keys, fulcio, pki].filter((one) => one !== undefined)
  if (given.length !== 1)
    throw new JsonFault(`${place} needs exactly one of ${sigstoreKeys.join(', ')}, fulcio and pki`, line)
  if (fulcio !== undefined && rekor === undefined)
    throw new JsonFault(`${place} has fulcio, and so needs one of ${rekorKeys.join(', ')}`, line)
  if (pki !== undefined && rekor !== undefined)
    throw new JsonFault(`${place} has pki, which goes with none of ${rekorKeys.join(', ')}`, line)
  return {
    type: 'sigstoreSigned',
    place,
    line,
    identity: identityOf(fields, place),
    ...(keys && { keys }),
    ...(fulcio && { fulcio: parseFulcio(fulcio, `${place}.fulcio`) }),
    ...(pki && { pki: parsePki(pki, `${place}.pki`) }),
    ...(rekor && { rekorKeys: rekor }),
  }
}

function parseFulcio(node: JsonNode, place: string): FulcioRoot {
  const fields = exactFields(node, place, ['caPath', 'caData', 'oidcIssuer', 'subjectEmail'])
  const ca = parseByteSource(fields, { names: ['caPath', 'caData'], place })
  if (ca === undefined) throw new JsonFault(`${place} needs one of caPath and caData`, node.line)
  const oidcIssuer = filledText(fields, { key: 'oidcIssuer', place, line: node.line })
  const subjectEmail = filledText(fields, { key: 'subjectEmail', place, line: node.line })
  return { ca, oidcIssuer, subjectEmail }
}

function parsePki(node: JsonNode, place: string): PkiRoot {
  const intermediateNames = ['caIntermediatesPath', 'caIntermediatesData']
  const rootNames = ['caRootsPath', 'caRootsData']
  const fields = exactFields(node, place, [...rootNames, ...intermediateNames, 'subjectEmail', 'subjectHostname'])
  const roots = parseByteSource(fields, { names: rootNames, place })
  if (roots === undefined) throw new JsonFault(`${place} needs one of caRootsPath and caRootsData`, node.line)
  const intermediates = parseByteSource(fields, { names: intermediateNames, place })
  const optional = (key: string) => (fields.has(key) ? filledText(fields, { key, place, line: node.line }) : undefined)
  const subjectEmail = optional('subjectEmail')
  const subjectHostname = optional('subjectHostname')
  if (subjectEmail === undefined && subjectHostname === undefined)
    throw new JsonFault(`${place} needs one of subjectEmail and subjectHostname`, node.line)
  return {
    roots,
    ...(intermediates && { intermediates }),
    ...(subjectEmail !== undefined && { subjectEmail }),
    ...(subjectHostname !== undefined && { subjectHostname }),
  }
}

function filledText(
  fields: JsonObject['fields'],
  { key, place, line }: { readonly key: string; readonly place: string; readonly line: number },
): string {
  const text = textOfNode(fields.get(key), `${place}.${key}`, line)
  if (text === '') throw new JsonFault(`${place}.${key} is empty`, fields.get(key)?.line ?? line)
  return text
}

function identityOf(fields: JsonObject['fields'], place: string): SignedIdentity {
  const node = fields.get('signedIdentity')
  return node === undefined ? defaultIdentity : parseSignedIdentity(node, `${place}.signedIdentity`)
}
