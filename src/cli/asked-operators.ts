/** Which part of a configuration asks for an operator, and for which OpenShift. */
import { openImageSetConfiguration } from '../config/image-set-configuration.ts'
import type { OperatorContent, PlatformContent } from '../config/image-set-content.ts'
import { KnownError } from '../errors/known-error.ts'
import { catalogLocation } from './catalog-access.ts'

type OperatorEntry = OperatorContent[number]

export interface AskedOperators {
  readonly entry: OperatorEntry
  /** For people: `mirror.operators[0] of isc.yaml`. */
  readonly place: string
  /** Releases of OpenShift that the configuration mirrors, as far as it names them: `4.18`, `4.18.9`. */
  readonly releases: readonly string[]
}

interface AskedOptions {
  /** As the command line has it; undefined where it names none. */
  readonly catalog: string | undefined
  readonly package: string
  readonly cwd: string
}

/**
 * The entry of `operators:` that is for this catalog or, where none is named, the one that asks for this package.
 *
 * @throws KnownError USAGE where there is no such entry or there are several, CONFIG_INVALID
 */
export async function askedOperators(path: string, asked: AskedOptions): Promise<AskedOperators> {
  const { configuration } = await openImageSetConfiguration(path)
  const { operators, platform } = configuration.mirror
  const all = [...operators.entries()].map(([index, entry]) => ({
    entry,
    place: `mirror.operators[${index}] of ${path}`,
    releases: releasesOf(platform),
  }))
  const matching = all.filter(({ entry }) => isSame(entry, asked))
  const naming = matching.filter(({ entry }) => asksFor(entry, asked.package))
  const [first, ...others] = naming.length > 0 ? naming : matching
  if (first && others.length === 0) return first
  const there = operators.map(({ catalog }) => catalog).join(', ') || 'none'
  if (first)
    throw new KnownError('USAGE', `${path} has ${others.length + 1} catalogs for ${asked.package}: ${there}`, {
      hint: 'Say which one is meant: --catalog CATALOG.',
    })
  throw new KnownError('USAGE', `${path} does not ask for ${asked.catalog ?? 'any catalog'}; its catalogs: ${there}`, {
    hint: 'Name one of these with --catalog, or leave --config away to see what would be taken without one.',
  })
}

function isSame({ catalog }: OperatorEntry, asked: AskedOptions): boolean {
  if (asked.catalog === undefined) return true
  const [one, other] = [catalog, asked.catalog].map((text) => JSON.stringify(catalogLocation(text, { cwd: asked.cwd })))
  return one === other
}

function asksFor({ packages = [] }: OperatorEntry, name: string): boolean {
  return packages.length === 0 || packages.some((one) => one.name === name)
}

/** A channel stands for its minor version, and for those that its bounds name. */
function releasesOf(platform: PlatformContent | undefined): string[] {
  const channels = platform?.channels ?? []
  const named = channels.flatMap(({ name, minVersion, maxVersion }) => {
    const minor = /-(\d+\.\d+)$/.exec(name)?.[1]
    const bounds = [minVersion, maxVersion].filter((version) => version !== undefined)
    return bounds.length === 2 || minor === undefined ? bounds : [...bounds, minor]
  })
  const release = /:v?(\d+\.\d+\.\d+)/.exec(platform?.release ?? '')?.[1]
  return [...new Set([...named, ...(release === undefined ? [] : [release])])]
}
