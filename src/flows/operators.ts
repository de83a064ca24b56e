/**
 * From the operator catalogs of a configuration to images: each catalog filtered, made anew, and mirrored with the images of
 * the bundles in it.
 *
 * Where the source is an archive, the catalog is the one that was made on the connected side, with all the bundles in it.
 */
import { dependencyPolicy, type ResolvedDependencies, resolveDependencies } from '../catalog/dependencies.ts'
import type { Catalog } from '../catalog/meta.ts'
import { readCatalog } from '../catalog/read-catalog.ts'
import { selectBundles } from '../catalog/select-bundles.ts'
import { limitFindings } from '../catalog/select-limits.ts'
import type { CatalogSelection } from '../catalog/selection.ts'
import type { OperatorContent } from '../config/image-set-content.ts'
import { KnownError } from '../errors/known-error.ts'
import { resolveImage } from '../mirror/closure.ts'
import type { MirrorTarget } from '../mirror/destination.ts'
import type { LocalContent } from '../mirror/local-content.ts'
import { madeCatalogReference } from '../mirror/made-catalog.ts'
import { type MadeImage, rootOf } from '../mirror/made-content.ts'
import { catalogDestination, layoutDirectory } from '../mirror/operator-destination.ts'
import type { CheckImage } from '../mirror/resolve-images.ts'
import { type ChosenBundles, operatorImages } from '../mirror/select-operators.ts'
import type { SelectedImage, Selection, UnreadableImage } from '../mirror/selection.ts'
import type { Workspace } from '../mirror/workspace.ts'
import type { ContentSource } from '../oci/content.ts'
import { type Digest, digestOf } from '../oci/digest.ts'
import { unknownManifest } from '../oci/read-image.ts'
import { parseReference, type Reference } from '../oci/reference.ts'
import { architecturesOf, makeCatalog, type ReadCatalog } from './filtered-catalog.ts'
import { type CatalogLocation, type OpenedCatalog, openCatalog } from './open-catalog.ts'
import { checkTemplates, isFiltered } from './operator-resources.ts'

type OperatorEntry = OperatorContent[number]

export interface OperatorOptions {
  readonly target: MirrorTarget
  readonly workspace: Workspace
  readonly source: ContentSource
  readonly local?: LocalContent | undefined
  /** True where catalogs are filtered here; false where the source is an archive, which has them filtered. */
  readonly isMaking: boolean
  /** What paths of templates are relative to. */
  readonly cwd: string
  /** Versions of the releases that are mirrored: bundles that do not run on them are told. */
  readonly releases: readonly string[]
  /** Images of other classes: an operator does not take their names. */
  readonly others: readonly SelectedImage[]
  /** A catalog that is filtered here is looked at as any image is, before it is read. */
  readonly check?: CheckImage | undefined
  readonly signal: AbortSignal
}

export interface OperatorSelection extends Pick<Selection, 'images' | 'unreadable' | 'findings'> {
  readonly made: readonly MadeImage[]
}

/** One catalog, read and chosen from. */
interface ChosenCatalog extends ReadCatalog {
  readonly entry: OperatorEntry
}

interface MirroredCatalog {
  readonly image: SelectedImage
  readonly made?: MadeImage
}

/** @throws KnownError DISK_FULL, CONFIG_INVALID; what is wrong with single catalogs and images is in the result */
export async function selectOperators(entries: OperatorContent, options: OperatorOptions): Promise<OperatorSelection> {
  const { target, others, cwd, releases } = options
  await checkTemplates(entries, cwd)
  const holes: UnreadableImage[] = []
  const chosen = await each(entries, (entry) => chooseFrom(entry, options), {
    holes,
    options,
    entryOf: (entry) => entry,
  })
  const { selections, findings } = withDependencies(chosen, { holes, options })
  const complete = chosen.flatMap((one, index) => {
    const selection = selections[index]
    return selection ? [{ ...one, selection }] : []
  })
  const catalogs = await each(complete, (one) => mirrored(one, options), {
    holes,
    options,
    entryOf: ({ entry }) => entry,
  })
  const bundles = operatorImages(complete.map(chosenBundles), {
    target,
    others: [...others, ...catalogs.map(({ image }) => image)],
  })
  return {
    images: [...catalogs.map(({ image }) => image), ...bundles.images],
    made: catalogs.flatMap(({ made }) => (made ? [made] : [])),
    unreadable: [...holes, ...bundles.unreadable],
    findings: [
      ...chosen.flatMap(({ selection }) => selection.findings),
      ...findings,
      ...complete.flatMap(({ catalog, selection }) => limitFindings(catalog, selection, releases)),
    ],
  }
}

interface Each<Item> {
  /** Takes the catalogs with which it does not go on. */
  readonly holes: UnreadableImage[]
  readonly options: OperatorOptions
  readonly entryOf: (item: Item) => OperatorEntry
}

/** One after the other: each may need much memory. What is wrong with one keeps no other from being mirrored. */
async function each<Item, Result>(
  items: readonly Item[],
  action: (item: Item) => Promise<Result>,
  { holes, options, entryOf }: Each<Item>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) {
    try {
      results.push(await action(item))
    } catch (error) {
      options.signal.throwIfAborted()
      if (!(error instanceof KnownError) || !isOfCatalog(error)) throw error
      holes.push({ image: catalogImage(entryOf(item), options.target), error })
    }
  }
  return results
}

/** What kept bundles require of others; with the policy `fail` nothing is chosen where a requirement is not met. */
function withDependencies(
  chosen: readonly ChosenCatalog[],
  { holes, options }: Pick<Each<ChosenCatalog>, 'holes' | 'options'>,
): Pick<ResolvedDependencies, 'selections' | 'findings'> {
  try {
    return resolveDependencies(
      chosen.map(({ entry, catalog, selection }) => {
        const policy = isCarried(entry, options) ? 'ignore' : dependencyPolicy(entry)
        return { name: entry.catalog, catalog, selection, policy }
      }),
    )
  } catch (error) {
    if (!(error instanceof KnownError) || !isOfCatalog(error)) throw error
    for (const { entry } of chosen) holes.push({ image: catalogImage(entry, options.target), error })
    return { selections: [], findings: [] }
  }
}

function chosenBundles({ entry, catalog, selection }: ChosenCatalog): ChosenBundles {
  return { catalog: entry.catalog, bundles: [...bundlesOf(catalog, selection)], platforms: entry.platforms }
}

function isOfCatalog({ code }: KnownError): boolean {
  return /^(?:CATALOG|POLICY|SIGNATURE|MANIFEST|BLOB|LAYER|REGISTRY|REFERENCE|ARCHIVE|FILE)_/.test(code)
}

async function chooseFrom(entry: OperatorEntry, options: OperatorOptions): Promise<ChosenCatalog> {
  const { source, local, signal } = options
  const location = isCarried(entry, options) ? madeLocation(entry) : locationOf(entry)
  const bring =
    local &&
    ((repository: Reference, layer: Parameters<LocalContent['bringBlob']>[2], from: ContentSource) =>
      local.bringBlob(from, repository, layer, signal))
  const architectures = isCarried(entry, options) ? architecturesOf(entry) : undefined
  const opened = await openCatalog(location, { source, signal, architectures, ...(bring && { bring }) })
  if (options.isMaking && isFiltered(entry)) await checkBase(entry, opened, options)
  const catalog = await readCatalog(opened.files, { signal })
  // What was carried was chosen on the other side: its catalog lists these bundles and no others.
  return {
    entry,
    opened,
    catalog,
    selection: selectBundles(catalog, isCarried(entry, options) ? { full: true } : entry),
  }
}

function isCarried(entry: OperatorEntry, { isMaking }: OperatorOptions): boolean {
  return !isMaking && isFiltered(entry)
}

async function checkBase(entry: OperatorEntry, { image }: OpenedCatalog, { check, signal, target }: OperatorOptions) {
  if (!check || !image) return
  const { source, reference, digest } = image
  const selected = selectedCatalog(entry, { source: { ...reference, digest }, target, digest })
  const [resolved] = await resolveImage(selected, { source, signal, withoutAttached: true })
  if (resolved) await check({ image: resolved, attached: [] }, { source, signal })
}

function locationOf({ catalog }: OperatorEntry): CatalogLocation {
  const layout = layoutDirectory(catalog)
  if (layout === undefined) return { kind: 'registry', reference: parseReference(catalog.replace(/^docker:\/\//, '')) }
  const [, directory = layout, image] = /^(.*?)(?::([^/:]+))?$/.exec(layout) ?? []
  return { kind: 'layout', directory, ...(image !== undefined && { image }) }
}

function madeLocation(entry: OperatorEntry): CatalogLocation {
  return { kind: 'registry', reference: madeCatalogReference(entry) }
}

function* bundlesOf(catalog: Catalog, { kept, why }: CatalogSelection) {
  for (const { name, bundles } of kept.values()) {
    const of = catalog.packages.get(name)
    for (const bundle of bundles) {
      const meta = of?.bundles.get(bundle)
      if (meta) yield { ...meta, reason: why(name, bundle)?.text }
    }
  }
}

async function mirrored(
  { entry, opened, catalog, selection }: ChosenCatalog,
  { target, workspace, isMaking, signal }: OperatorOptions,
): Promise<MirroredCatalog> {
  const { image } = opened
  if (!image) throw unknownManifest(opened.name)
  if (!isMaking || !isFiltered(entry)) {
    const source = isFiltered(entry)
      ? madeCatalogReference(entry)
      : parseReference(entry.catalog.replace(/^docker:\/\//, ''))
    const selected = selectedCatalog(entry, { source, target, digest: image.digest })
    // oc-mirror lists all platforms in a catalog that it filtered, and carries those that are wanted.
    return {
      image: isFiltered(entry) && entry.platforms?.length ? { ...selected, platforms: entry.platforms } : selected,
    }
  }
  const made = await makeCatalog(entry, { image, opened, catalog, selection, workspace, signal })
  const digest = rootOf(made).descriptor.digest
  return { image: selectedCatalog(entry, { source: made.reference, target, digest }), made }
}

interface Placing {
  readonly source: Reference
  readonly target: MirrorTarget
  /** Of the image as it will be at the target. */
  readonly digest: Digest
}

function selectedCatalog(entry: OperatorEntry, { source, target, digest }: Placing): SelectedImage {
  return {
    source,
    class: 'operator',
    destination: catalogDestination(entry, target, digest),
    why: `operators ${entry.catalog}`,
    isCatalog: true,
  }
}

/** What stands for a catalog that cannot be read. */
function catalogImage(entry: OperatorEntry, target: MirrorTarget): SelectedImage {
  return selectedCatalog(entry, { source: madeCatalogReference(entry), target, digest: digestOf(entry.catalog) })
}
