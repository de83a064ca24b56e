/**
 * A config with what it refers to: `ignition.config.replace` and `ignition.config.merge`, as Ignition evaluates them before it
 * does anything else.
 *
 * Source: coreos/ignition `internal/exec/config_fetcher.go:RenderConfig`.
 */
import { KnownError } from '../errors/known-error.ts'
import type { IgnitionConfig, Resource } from './config.ts'
import { inlineContents } from './contents.ts'
import { encodeDataUrl, isDataUrl } from './data-url.ts'
import { mergeConfigs } from './merge.ts'
import { readValidConfig } from './valid-config.ts'

/**
 * Brings the bytes of a resource that is somewhere else, as they come over the wire: compressed where it says so, unproven.
 *
 * @param name what it is, for errors: a path, `ignition.config.merge[0]`
 */
export type FetchResource = (resource: Resource, name: string) => Promise<Uint8Array>

/**
 * For whoever may not reach out.
 *
 * @throws KnownError IGNITION_REMOTE always
 */
export const refuseRemote: FetchResource = async ({ source }, name) => {
  throw new KnownError('IGNITION_REMOTE', `${name} is not in the config: it is at ${source}`, {
    details: { name, source: source ?? '' },
  })
}

/**
 * The bytes of a resource, out of the config or fetched; decompressed, and proven where it has a hash.
 *
 * @throws KnownError IGNITION_INVALID, and what `fetch` throws
 */
export async function resourceContents(
  resource: Resource | undefined,
  name: string,
  fetch: FetchResource,
): Promise<Uint8Array> {
  const inline = inlineContents(resource, name)
  if (inline !== undefined || resource === undefined) return inline ?? new Uint8Array()
  const source = encodeDataUrl(await fetch(resource, name), 'application/octet-stream')
  return inlineContents({ ...resource, source }, name) ?? new Uint8Array()
}

/** A chain of configs that is longer is not meant. */
const maxDepth = 32

/**
 * Depth first and in order: a replacement stands in the place of the config, and the children of `merge` win over it, the later
 * ones over the earlier.
 *
 * @throws KnownError IGNITION_INVALID where a child is no valid config, or comes back to itself; and what `fetch` throws
 */
export function renderConfig(config: IgnitionConfig, fetch: FetchResource): Promise<IgnitionConfig> {
  return rendered(config, { fetch, chain: [] })
}

interface Rendering {
  readonly fetch: FetchResource
  /** Where this config and those that led to it came from. */
  readonly chain: readonly string[]
}

async function rendered(config: IgnitionConfig, rendering: Rendering): Promise<IgnitionConfig> {
  const { merge = [], replace } = config.ignition.config ?? {}
  if (typeof replace?.source === 'string') return referenced(replace, 'ignition.config.replace', rendering)
  const merged = { config }
  for (const [index, child] of merge.entries()) {
    const own = await referenced(child, `ignition.config.merge[${index}]`, rendering)
    merged.config = mergeConfigs(merged.config, own)
  }
  return merged.config
}

async function referenced(resource: Resource, name: string, { fetch, chain }: Rendering): Promise<IgnitionConfig> {
  const source = resource.source ?? ''
  if (source === '') throw invalid(`${name} has no source`, name)
  if (chain.length >= maxDepth) throw invalid(`${name}: more than ${maxDepth} configs lead to one another`, name)
  if (!isDataUrl(source) && chain.includes(source)) throw invalid(`${name}: ${source} leads back to itself`, name)
  const bytes = await resourceContents(resource, name, fetch)
  const place = isDataUrl(source) ? name : source
  const { config } = readValidConfig(Buffer.from(bytes).toString('utf8'), place)
  return rendered(config, { fetch, chain: [...chain, source] })
}

function invalid(why: string, name: string): KnownError {
  return new KnownError('IGNITION_INVALID', why, { details: { name } })
}
