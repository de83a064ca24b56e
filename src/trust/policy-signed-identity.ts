/** Reads a `signedIdentity`. Source: containers/image `signature/policy_config.go:newPolicyReferenceMatchFromJSON`. */
import { KnownError } from '../errors/known-error.ts'
import { parseReference } from '../oci/reference.ts'
import type { SignedIdentity } from './policy-identity.ts'
import { exactFields, JsonFault, type JsonNode, textOfNode } from './policy-json.ts'

/** @throws JsonFault */
export function parseSignedIdentity(node: JsonNode, place: string): SignedIdentity {
  const { line } = node
  if (node.kind !== 'object') throw new JsonFault(`${place} must be an object`, line)
  const type = textOfNode(node.fields.get('type'), `${place}.type`, line)
  const field = (key: string, known: readonly string[]) =>
    textOfNode(exactFields(node, place, ['type', ...known]).get(key), `${place}.${key}`, line)
  switch (type) {
    case 'matchExact':
    case 'matchRepoDigestOrExact':
    case 'matchRepository':
      exactFields(node, place, ['type'])
      return { type }
    case 'exactReference': {
      const dockerReference = field('dockerReference', ['dockerReference'])
      const { tag, digest } = readReference(dockerReference, place, line)
      if (tag === undefined && digest === undefined)
        throw new JsonFault(`${place}.dockerReference "${dockerReference}" has neither tag nor digest`, line)
      return { type, dockerReference }
    }
    case 'exactRepository': {
      const dockerRepository = field('dockerRepository', ['dockerRepository'])
      readReference(dockerRepository, place, line)
      return { type, dockerRepository }
    }
    case 'remapIdentity': {
      const prefix = field('prefix', ['prefix', 'signedPrefix'])
      const signedPrefix = field('signedPrefix', ['prefix', 'signedPrefix'])
      for (const one of [prefix, signedPrefix]) {
        if (!isPrefix(one)) throw new JsonFault(`${place}: "${one}" is no host, and no host with a path`, line)
      }
      return { type, prefix, signedPrefix }
    }
    default:
      throw new JsonFault(`${place}: the type "${type}" is unknown`, line)
  }
}

/** A host with or without port, alone or before a path (`validateIdentityRemappingPrefix`). */
function isPrefix(text: string): boolean {
  const host = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
  const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
  const domain = `(?:${host}(?:\\.${host})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
  return new RegExp(`^${domain}(?:/${component})*$`).test(text)
}

function readReference(text: string, place: string, line: number) {
  try {
    return parseReference(text)
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    throw new JsonFault(`${place}: ${error.message}`, line)
  }
}
