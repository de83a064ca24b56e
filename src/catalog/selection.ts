/** What is kept of a catalog, and why: the answer of selecting, which rebuilding, mirroring and explaining read. */
import type { Finding } from '../errors/finding.ts'
import type { ChannelEntry, DeprecationEntry } from './meta.ts'

/**
 * Why a bundle is kept. `link`: it is not wanted for itself, but without it the channel would fall apart into several heads.
 *
 * `full`: everything was asked for. `head`: newest of its channel. `range`: its version lies in the range. `heads`: so many
 * below the head were asked for. `path`: an installed version passes through it. `named`: asked for by its name.
 * `dependency`: another kept bundle requires it.
 */
export type KeptBecause = 'full' | 'head' | 'range' | 'link' | 'heads' | 'path' | 'named' | 'dependency'

/**
 * Why a bundle is left out. `package`, `channel`: not asked for. `older`: below what is kept of its channel. `newer`: above it.
 * `between`: beside the replaces chain, and not wanted. `unversioned`: a range was asked for, and it has no version.
 * `unlisted`: no channel has it. `empty`: nothing of its channel is wanted.
 */
export type LeftOutBecause =
  | 'package'
  | 'channel'
  | 'older'
  | 'newer'
  | 'between'
  | 'unversioned'
  | 'unlisted'
  | 'empty'

export type BundleReason =
  | { readonly isKept: true; readonly because: KeptBecause; readonly text: string }
  | { readonly isKept: false; readonly because: LeftOutBecause; readonly text: string }

export interface KeptChannel {
  readonly name: string
  /** In the order of the catalog, and as they stand there: `replaces`, `skips` and `skipRange` may name what is not kept. */
  readonly entries: readonly ChannelEntry[]
}

export interface KeptPackage {
  readonly name: string
  /** One of `channels`; empty where the catalog names none. */
  readonly defaultChannel: string
  /** In the order of the catalog, none of them empty. */
  readonly channels: readonly KeptChannel[]
  /** Names, sorted; each is in the catalog. */
  readonly bundles: readonly string[]
  /** What the catalog says of the package itself, of kept channels and of kept bundles. */
  readonly deprecations: readonly DeprecationEntry[]
}

export interface CatalogSelection {
  /** By name, in the order of the catalog. */
  readonly kept: ReadonlyMap<string, KeptPackage>
  /** True where the catalog is kept as it is: no package was named, and all versions were asked for. */
  readonly isWhole: boolean
  readonly findings: readonly Finding[]
  /**
   * Why a bundle of this package is in or out; where several channels have it, of the one that keeps it.
   *
   * Undefined where the catalog has no such bundle.
   */
  readonly why: (packageName: string, bundle: string) => BundleReason | undefined
}
