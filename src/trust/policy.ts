/**
 * policy.json: what an image must show before it is used. Read as strictly as containers/image reads it.
 *
 * Source: containers-policy.json(5); containers/image `signature/policy_config.go`.
 */
import { KnownError } from '../errors/known-error.ts'
import type { Reference } from '../oci/reference.ts'
import { exactFields, JsonFault, type JsonNode, parseStrictJson } from './policy-json.ts'
import { type PolicyRequirement, parseRequirement } from './policy-requirement.ts'
import { scopesOf } from './policy-scope.ts'

/** Requirements that stand under one scope; each of them must be met. */
export interface ScopedRequirements {
  /** As a person finds it in the file: `transports.docker."quay.io/ns"`, or `default`. */
  readonly place: string
  readonly line: number
  readonly requirements: readonly PolicyRequirement[]
}

export interface Policy {
  readonly file: string
  readonly default: ScopedRequirements
  /** By transport (`docker`, `oci`, …), then by scope; the scope `""` is the default of its transport. */
  readonly transports: ReadonlyMap<string, ReadonlyMap<string, ScopedRequirements>>
}

/** @throws KnownError POLICY_INVALID */
export function parsePolicy(text: string, file: string): Policy {
  try {
    const root = parseStrictJson(text)
    const fields = exactFields(root, 'the policy', ['default', 'transports'])
    const fallback = fields.get('default')
    if (fallback === undefined) throw new JsonFault('the policy has no "default"', root.line)
    const transports = new Map<string, ReadonlyMap<string, ScopedRequirements>>()
    for (const [name, node] of entriesOf(fields.get('transports'), 'transports')) {
      const place = `transports.${name}`
      const scopes = [...entriesOf(node, place)].map(
        ([scope, list]) => [scope, parseRequirements(list, `${place}.${JSON.stringify(scope)}`)] as const,
      )
      transports.set(name, new Map(scopes))
    }
    return { file, default: parseRequirements(fallback, 'default'), transports }
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error
    throw new KnownError('POLICY_INVALID', `${file}:${error.line}: ${error.message}`, {
      details: { file, line: error.line },
    })
  }
}

/** The requirements for an image of a registry. The closest scope decides alone; nothing is added from wider ones. */
export function requirementsFor(policy: Policy, image: Reference): ScopedRequirements {
  const scopes = policy.transports.get('docker')
  const closest = [...scopesOf(image), ''].find((scope) => scopes?.has(scope))
  return (closest === undefined ? undefined : scopes?.get(closest)) ?? policy.default
}

function entriesOf(node: JsonNode | undefined, what: string): ReadonlyMap<string, JsonNode> {
  if (node === undefined) return new Map()
  if (node.kind !== 'object') throw new JsonFault(`${what} must be an object`, node.line)
  return node.fields
}

function parseRequirements(node: JsonNode, place: string): ScopedRequirements {
  if (node.kind !== 'array' || node.items.length === 0)
    throw new JsonFault(`${place} must be a list of at least one requirement`, node.line)
  const requirements = node.items.map((item, index) => parseRequirement(item, `${place}[${index}]`))
  return { place, line: node.line, requirements }
}
