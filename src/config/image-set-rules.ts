/**
 * What must hold between the fields of an image set, beyond the form of each.
 *
 * The rules run beside the schema, also where it has found something: a user should see everything at once.
 *
 * Source: openshift/oc-mirror `internal/pkg/config/validate.go`. oc-mirror checks some of it only for ImageSetConfiguration,
 * some only after the catalog is there, and never that a range has its ends in order; here all of it holds at loading.
 */
import type * as z from 'zod'
import { withoutTransport } from './image-set-values.ts'
import { entriesOf, fieldOf, textOf } from './loose-values.ts'
import { isAfter } from './versions.ts'

type Context = z.RefinementCtx

/** For `superRefine`: also where the schema has found something. */
export const always = { when: () => true }

/** A range has its ends in order, and stands alone. */
export function checkRange(holder: unknown, context: Context): void {
  checkSteps(holder, context)
  const [low, high] = [textOf(holder, 'minVersion'), textOf(holder, 'maxVersion')]
  if (low === undefined || high === undefined || !isAfter(low, high)) return
  const message = `"${high}" comes before minVersion "${low}", so no version lies between; exchange the two`
  context.addIssue({ code: 'custom', path: ['maxVersion'], message })
}

/** One way to say which versions: a range, `heads` or `installed`. */
function checkSteps(holder: unknown, context: Context): void {
  const ranges = hasRange(holder) || textOf(holder, 'minBundle') !== undefined ? ['minVersion and maxVersion'] : []
  const steps = ['heads', 'installed'].filter((field) => fieldOf(holder, field) !== undefined)
  const field = steps.at(-1)
  const given = [...ranges, ...steps]
  if (given.length < 2 || field === undefined) return
  const message = `${given.join(', ')} stand together for "${textOf(holder, 'name')}"; each alone says which versions, so keep one`
  context.addIssue({ code: 'custom', path: [field], message })
}

/** A package: its range, each channel once, and a range for the package or for its channels, not for both. */
export function checkPackage(holder: unknown, context: Context): void {
  checkRange(holder, context)
  const channels = entriesOf(holder, 'channels')
  refuseDuplicates(namesOf(channels), { context, path: ['channels'], field: 'name', what: 'channel' })
  if (!hasRange(holder)) return
  for (const [index, channel] of channels.entries()) {
    if (!hasRange(channel)) continue
    const [name, of] = [textOf(holder, 'name'), textOf(channel, 'name')]
    const message = `package "${name}" and its channel "${of}" both have minVersion or maxVersion; keep those of the channels, or those of the package`
    const field = textOf(channel, 'minVersion') === undefined ? 'maxVersion' : 'minVersion'
    context.addIssue({ code: 'custom', path: ['channels', index, field], message })
  }
}

/** Each package once; and no two catalogs that would be stored under one name: the second would replace the first. */
export function checkCatalogs(catalogs: unknown, context: Context): void {
  const list = Array.isArray(catalogs) ? catalogs : []
  refuseDuplicates(list.map(catalogTargetName), { context, path: [], field: 'catalog', what: 'catalog' })
  for (const [index, catalog] of list.entries()) {
    const names = namesOf(entriesOf(catalog, 'packages'))
    refuseDuplicates(names, { context, path: [index, 'packages'], field: 'name', what: 'package' })
  }
}

export function checkPlatform(platform: unknown, context: Context): void {
  const names = namesOf(entriesOf(platform, 'channels'))
  refuseDuplicates(names, { context, path: ['channels'], field: 'name', what: 'release channel' })
  if (entriesOf(platform, 'architectures').length === 0 || entriesOf(platform, 'platforms').length === 0) return
  const message =
    'platforms and architectures exclude each other: architectures chooses whole payloads, platforms parts of the payload for all; take one out'
  context.addIssue({ code: 'custom', path: ['platforms'], message })
}

/**
 * The name that a catalog has at the target, with the host of its source.
 *
 * Source: `Operator.GetUniqueName` of v2alpha1, and of v1alpha2 for targetName.
 */
function catalogTargetName(holder: unknown): string | undefined {
  const catalog = textOf(holder, 'catalog')
  if (catalog === undefined) return undefined
  const [named = '', digest] = withoutTransport(catalog).split('@')
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const repository = colon < 0 ? named : named.slice(0, colon)
  const ownVersion = `${colon < 0 ? '' : named.slice(colon)}${digest === undefined ? '' : `@${digest}`}`
  const tag = textOf(holder, 'targetTag')
  return `${targetRepositoryOf(holder, repository)}${tag === undefined ? ownVersion : `:${tag}`}`
}

function targetRepositoryOf(holder: unknown, repository: string): string {
  const [path, name] = [textOf(holder, 'targetCatalog'), textOf(holder, 'targetName')]
  const slash = repository.indexOf('/')
  const host = slash < 0 || repository.startsWith('oci:') ? '' : repository.slice(0, slash + 1)
  if (path !== undefined) return `${host}${path}`
  return name === undefined ? repository : `${repository.slice(0, repository.lastIndexOf('/') + 1)}${name}`
}

interface DuplicateOptions {
  readonly context: Context
  readonly path: readonly (string | number)[]
  readonly field: string
  readonly what: string
}

function refuseDuplicates(names: readonly (string | undefined)[], options: DuplicateOptions): void {
  const { context, path, field, what } = options
  const seen = new Set<string>()
  for (const [index, name] of names.entries()) {
    if (name === undefined) continue
    const message = `${what} "${name}" stands here for the second time; keep one entry, with everything in it`
    if (seen.has(name)) context.addIssue({ code: 'custom', path: [...path, index, field], message })
    seen.add(name)
  }
}

function namesOf(entries: readonly unknown[]): (string | undefined)[] {
  return entries.map((entry) => textOf(entry, 'name'))
}

function hasRange(holder: unknown): boolean {
  return textOf(holder, 'minVersion') !== undefined || textOf(holder, 'maxVersion') !== undefined
}
