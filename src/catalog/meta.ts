/**
 * What a file-based catalog says, as far as selecting and mirroring need it: one meta for each document of its files.
 *
 * Everything else of a document stays where it is; `place` leads back to its bytes. Schemas: operator-framework/operator-registry
 * `alpha/declcfg/declcfg.go`, properties: `alpha/property/property.go`.
 */

/** Where a document stands. */
export interface MetaPlace {
  /** Path below the folder of the catalog, with `/`. */
  readonly file: string
  /** Of the first byte of the document in that file. */
  readonly offset: number
  /** In bytes. */
  readonly length: number
}

/** An API by group, version and kind. */
export interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface PackageMeta {
  readonly schema: 'olm.package'
  readonly name: string
  /** Empty where the package names none. */
  readonly defaultChannel: string
  readonly place: MetaPlace
}

/** An edge of the upgrade graph: which bundle, and which bundles it can take the place of. */
export interface ChannelEntry {
  readonly name: string
  readonly replaces?: string
  readonly skips: readonly string[]
  readonly skipRange?: string
}

export interface ChannelMeta {
  readonly schema: 'olm.channel'
  readonly package: string
  readonly name: string
  readonly entries: readonly ChannelEntry[]
  readonly place: MetaPlace
}

export interface RelatedImage {
  /** Often empty. */
  readonly name: string
  readonly image: string
}

/**
 * What must be in the cluster beside a bundle: `olm.package.required`, `olm.gvk.required` and `olm.constraint`
 * (operator-framework/enhancements `enhancements/compound-bundle-constraints.md`).
 */
export type Requirement =
  | { readonly kind: 'package'; readonly package: string; readonly versionRange: string }
  | { readonly kind: 'gvk'; readonly gvk: Gvk }
  | {
      readonly kind: 'constraint'
      /** What the author says to whom it fails; empty where nothing is said. */
      readonly text: string
      readonly constraint: Constraint
    }

export type Constraint =
  | { readonly kind: 'package'; readonly package: string; readonly versionRange: string }
  | { readonly kind: 'gvk'; readonly gvk: Gvk }
  | { readonly kind: 'all' | 'any' | 'not'; readonly of: readonly Constraint[] }
  /** An expression in CEL over the properties of a bundle. */
  | { readonly kind: 'cel'; readonly rule: string }
  /** A constraint of a kind that is not known; its own name for itself. */
  | { readonly kind: 'unknown'; readonly name: string }

export interface BundleMeta {
  readonly schema: 'olm.bundle'
  readonly package: string
  readonly name: string
  /** Empty where the catalog carries the whole bundle in itself. */
  readonly image: string
  /** Of the property `olm.package`. */
  readonly version?: string
  readonly relatedImages: readonly RelatedImage[]
  readonly requires: readonly Requirement[]
  readonly provides: readonly Gvk[]
  /** The last minor version of OpenShift that runs it: `4.18`. */
  readonly maxOpenShiftVersion?: string
  /** The first version of Kubernetes that runs it, as its ClusterServiceVersion says. */
  readonly minKubeVersion?: string
  /** Of its ClusterServiceVersion, where the catalog holds that as metadata. */
  readonly displayName?: string
  readonly place: MetaPlace
}

export interface DeprecationEntry {
  /** Of `olm.package`, `olm.channel` or `olm.bundle`; without a name it is the package. */
  readonly reference: { readonly schema: string; readonly name?: string }
  readonly message: string
}

export interface DeprecationMeta {
  readonly schema: 'olm.deprecations'
  readonly package: string
  readonly entries: readonly DeprecationEntry[]
  readonly place: MetaPlace
}

/** A document of a schema that is not known here: it belongs to its package and goes where that goes. */
export interface OtherMeta {
  readonly schema: string
  readonly package?: string
  readonly name?: string
  readonly place: MetaPlace
}

export type Meta = PackageMeta | ChannelMeta | BundleMeta | DeprecationMeta | OtherMeta

export interface CatalogPackage {
  readonly meta: PackageMeta
  readonly channels: ReadonlyMap<string, ChannelMeta>
  readonly bundles: ReadonlyMap<string, BundleMeta>
  readonly deprecations?: DeprecationMeta
  readonly others: readonly OtherMeta[]
}

export interface Catalog {
  /** By name, in the order of the names. */
  readonly packages: ReadonlyMap<string, CatalogPackage>
  /** What belongs to no package. */
  readonly others: readonly OtherMeta[]
}

/** A file of a catalog. */
export interface CatalogFile {
  /** Below the folder of the catalog, with `/`, never leading out of it. */
  readonly path: string
  /** In bytes. */
  readonly size: number
  /** Its bytes; to be read before the next file is asked for, or not at all. */
  readonly open: () => AsyncIterable<Uint8Array>
}

/** The files of one catalog, wherever they are. */
export interface CatalogFiles {
  /** Names the catalog in messages. */
  readonly origin: string
  /**
   * Every file that belongs to the catalog, each once.
   *
   * @throws KnownError LAYER_UNSAFE, and what reading throws
   */
  files(signal?: AbortSignal): AsyncIterable<CatalogFile>
}
