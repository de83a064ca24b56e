/**
 * What must hold between the fields of an image set, beyond the form of each.
 *
 * Source: openshift/oc-mirror `internal/pkg/config/validate.go`. oc-mirror checks some of it only for ImageSetConfiguration,
 * some only after the catalog is there, and never that a range has its ends in order; here all of it holds at loading.
 */
import type * as z from 'zod'
import { withoutTransport } from './image-set-values.ts'
import { isAfter } from './versions.ts'

interface Range {
  readonly minVersion?: string | undefined
  readonly maxVersion?: string | undefined
}

type Context = z.RefinementCtx

export function checkRange({ minVersion, maxVersion }: Range, context: Context): void {
  if (minVersion === undefined || maxVersion === undefined || !isAfter(minVersion, maxVersion)) return
  const message = `"${maxVersion}" comes before minVersion "${minVersion}", so no version lies between; exchange the two`
  context.addIssue({ code: 'custom', path: ['maxVersion'], message })
}

interface Channels extends Range {
  readonly name: string
  readonly channels?: readonly (Range & { readonly name: string })[] | undefined
}

/** Each channel once; and a range for the package, or for its channels, not for both. */
export function checkChannels({ name, channels = [], ...range }: Channels, context: Context): void {
  refuseDuplicates(
    channels.map((channel) => channel.name),
    { context, path: ['channels'], field: 'name', what: 'channel' },
  )
  if (!hasRange(range)) return
  for (const [index, channel] of channels.entries()) {
    if (!hasRange(channel)) continue
    const message = `package "${name}" and its channel "${channel.name}" both have minVersion or maxVersion; keep those of the channels, or those of the package`
    const field = channel.minVersion === undefined ? 'maxVersion' : 'minVersion'
    context.addIssue({ code: 'custom', path: ['channels', index, field], message })
  }
}

export function checkPackages(
  { packages = [] }: { readonly packages?: readonly { readonly name: string }[] | undefined },
  context: Context,
): void {
  refuseDuplicates(
    packages.map(({ name }) => name),
    { context, path: ['packages'], field: 'name', what: 'package' },
  )
}

interface Catalog {
  readonly catalog: string
  readonly targetCatalog?: string | undefined
  readonly targetName?: string | undefined
  readonly targetTag?: string | undefined
}

/** Two catalogs that would be stored under one name: the second would replace the first. */
export function checkCatalogs(catalogs: readonly Catalog[], context: Context): void {
  refuseDuplicates(catalogs.map(catalogTargetName), { context, path: [], field: 'catalog', what: 'catalog' })
}

interface Platforms {
  readonly architectures?: readonly unknown[] | undefined
  readonly platforms?: readonly unknown[] | undefined
  readonly channels?: readonly { readonly name: string }[] | undefined
}

export function checkPlatforms(
  { architectures = [], platforms = [], channels = [] }: Platforms,
  context: Context,
): void {
  refuseDuplicates(
    channels.map(({ name }) => name),
    { context, path: ['channels'], field: 'name', what: 'release channel' },
  )
  if (architectures.length === 0 || platforms.length === 0) return
  const message =
    'platforms and architectures exclude each other: architectures chooses whole payloads, platforms parts of the payload for all; take one out'
  context.addIssue({ code: 'custom', path: ['platforms'], message })
}

/**
 * The name that a catalog has at the target, with the host of its source.
 *
 * Source: `Operator.GetUniqueName` of v2alpha1, and of v1alpha2 for targetName.
 */
function catalogTargetName({ catalog, targetCatalog, targetName, targetTag }: Catalog): string {
  const source = withoutTransport(catalog)
  const [named = '', digest] = source.split('@')
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const repository = colon < 0 ? named : named.slice(0, colon)
  const tag = colon < 0 ? '' : named.slice(colon)
  const version = targetTag === undefined ? `${tag}${digest === undefined ? '' : `@${digest}`}` : `:${targetTag}`
  const slash = repository.indexOf('/')
  const host = slash < 0 || repository.startsWith('oci:') ? '' : `${repository.slice(0, slash)}/`
  if (targetCatalog !== undefined) return `${host}${targetCatalog}${version}`
  if (targetName !== undefined) return `${repository.slice(0, repository.lastIndexOf('/') + 1)}${targetName}${version}`
  return `${repository}${version}`
}

interface DuplicateOptions {
  readonly context: Context
  readonly path: readonly (string | number)[]
  readonly field: string
  readonly what: string
}

function refuseDuplicates(names: readonly string[], { context, path, field, what }: DuplicateOptions): void {
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) === index) continue
    const message = `${what} "${name}" stands here for the second time; keep one entry, with everything in it`
    context.addIssue({ code: 'custom', path: [...path, index, field], message })
  }
}

function hasRange({ minVersion, maxVersion }: Range): boolean {
  return minVersion !== undefined || maxVersion !== undefined
}
