/** From metas to packages: everything under its name, and nothing twice (operator-framework/operator-registry `alpha/declcfg/declcfg_to_model.go`). */
import { type CatalogFault, invalidCatalog } from './invalid-catalog.ts'
import type {
  BundleMeta,
  Catalog,
  CatalogFiles,
  CatalogPackage,
  ChannelMeta,
  DeprecationMeta,
  Meta,
  MetaPlace,
  OtherMeta,
  PackageMeta,
} from './meta.ts'

interface PackageParts {
  readonly meta: PackageMeta
  readonly channels: Map<string, ChannelMeta>
  readonly bundles: Map<string, BundleMeta>
  deprecations?: DeprecationMeta
  readonly others: OtherMeta[]
}

/**
 * @param metas by path and offset
 * @param files to say the line of what is wrong
 * @throws KnownError CATALOG_INVALID
 */
export async function assembleCatalog(
  metas: readonly Meta[],
  files: CatalogFiles,
  signal?: AbortSignal,
): Promise<Catalog> {
  try {
    return assemble(metas)
  } catch (error) {
    if (error instanceof MisplacedMeta) throw await invalidCatalog(files, error.fault, signal)
    throw error
  }
}

class MisplacedMeta extends Error {
  readonly fault: CatalogFault

  constructor(why: string, { place, package: owner }: { readonly place: MetaPlace; readonly package: string }) {
    super(why)
    this.fault = { why, file: place.file, offset: place.offset, package: owner }
  }
}

function assemble(metas: readonly Meta[]): Catalog {
  const packages = new Map<string, PackageParts>()
  const others: OtherMeta[] = []
  for (const meta of metas) {
    if (!isPackage(meta)) continue
    const { name } = meta
    const before = packages.get(name)
    if (before) throw twice('the package', { ...meta, package: name }, before.meta.place)
    packages.set(name, { meta, channels: new Map(), bundles: new Map(), others: [] })
  }
  for (const meta of metas) {
    if (isPackage(meta)) continue
    const parts = meta.package === undefined ? undefined : packages.get(meta.package)
    if (parts) place(meta, parts)
    else if (isKnown(meta)) throw orphan(meta)
    else others.push(meta)
  }
  return { packages: byName(new Map([...packages].map(([name, parts]) => [name, finished(parts)]))), others }
}

function place(meta: Exclude<Meta, PackageMeta>, parts: PackageParts): void {
  if (isChannel(meta)) put(meta, parts.channels, 'the channel')
  else if (isBundle(meta)) put(meta, parts.bundles, 'the bundle')
  else if (isDeprecations(meta)) {
    if (parts.deprecations)
      throw twice('olm.deprecations of', { ...meta, name: meta.package }, parts.deprecations.place)
    parts.deprecations = meta
  } else parts.others.push(meta)
}

function put<One extends ChannelMeta | BundleMeta>(meta: One, into: Map<string, One>, what: string): void {
  const before = into.get(meta.name)
  if (before) throw twice(what, meta, before.place)
  into.set(meta.name, meta)
}

function finished(parts: PackageParts): CatalogPackage {
  return { ...parts, channels: byName(parts.channels), bundles: byName(parts.bundles) }
}

function byName<Value>(map: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  return new Map([...map].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

interface Named {
  readonly name: string
  readonly package: string
  readonly place: MetaPlace
}

function twice(what: string, meta: Named, before: MetaPlace): MisplacedMeta {
  const first = `${before.file}, byte ${before.offset}`
  return new MisplacedMeta(`${what} "${meta.name}" is there twice: the first is at ${first}`, meta)
}

function orphan(meta: ChannelMeta | BundleMeta | DeprecationMeta): MisplacedMeta {
  const what = meta.schema === 'olm.deprecations' ? 'olm.deprecations' : `${meta.schema} "${meta.name}"`
  return new MisplacedMeta(`${what} is of the package "${meta.package}", which the catalog does not have`, meta)
}

// `schema` of OtherMeta may be any text, so the compiler cannot tell metas apart by it.
function isPackage(meta: Meta): meta is PackageMeta {
  return meta.schema === 'olm.package'
}

function isChannel(meta: Meta): meta is ChannelMeta {
  return meta.schema === 'olm.channel'
}

function isBundle(meta: Meta): meta is BundleMeta {
  return meta.schema === 'olm.bundle'
}

function isDeprecations(meta: Meta): meta is DeprecationMeta {
  return meta.schema === 'olm.deprecations'
}

function isKnown(meta: Meta): meta is ChannelMeta | BundleMeta | DeprecationMeta {
  return isChannel(meta) || isBundle(meta) || isDeprecations(meta)
}
