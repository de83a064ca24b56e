/** What an upgrade from one release to another changes, and what it costs to move. Pure. */
import type { Descriptor } from '../oci/descriptor.ts'
import type { Digest } from '../oci/digest.ts'
import type { ContentsComponent, ReleaseContents } from './release-contents.ts'

export interface ReleaseDiff {
  /** True: the payloads name the edge; false: they name others and not this one. Undefined: they name none at all. */
  readonly isEdge: boolean | undefined
  /** True where only the way back is an edge. */
  readonly isReverseEdge: boolean
  readonly versions: readonly VersionChange[]
  readonly added: readonly ChangedComponent[]
  readonly removed: readonly ChangedComponent[]
  readonly changed: readonly ChangedComponent[]
  /** How many are the same image in both. */
  readonly unchanged: number
  /** Blobs of the other release that this one does not have, each once, the release image included. */
  readonly newBlobs: number
  readonly newBytes: number
  /** Of the release image itself. */
  readonly imageNewBytes: number
  /** Components whose images could not be looked into: what they cost is not counted. */
  readonly unknown: readonly string[]
}

export interface VersionChange {
  /** `kubernetes`, `machine-os` */
  readonly name: string
  readonly from?: string
  readonly to?: string
}

export interface ChangedComponent {
  readonly name: string
  readonly from?: Digest
  readonly to?: Digest
  readonly source?: SourceChange
  /** Bytes that the other release has for this component, and this release has nowhere. */
  readonly newBytes?: number
}

export interface SourceChange {
  readonly repository: string
  /** Absent where the repositories differ, or one of them does not say. */
  readonly fromCommit?: string
  readonly toCommit?: string
}

/** From `one` to `other`. */
export function diffReleases(one: ReleaseContents, other: ReleaseContents): ReleaseDiff {
  const held = new Set(imagesOf(one).flatMap(({ blobs }) => blobs.map(({ digest }) => digest)))
  const isNew = ({ digest }: Descriptor) => !held.has(digest)
  const before = byName(one)
  const after = byName(other)
  const compare = (component: ContentsComponent) => compareComponent(before.get(component.name), component, isNew)
  const common = other.components.filter(({ name }) => before.has(name))
  const changed = common.filter((component) => {
    const former = before.get(component.name)
    return former === undefined || digestOf(former) !== digestOf(component)
  })
  const news = [
    ...new Map(
      imagesOf(other)
        .flatMap(({ blobs }) => blobs.filter(isNew))
        .map((one) => [one.digest, one]),
    ),
  ]
  return {
    ...edgesBetween(one, other),
    versions: versionChanges(one, other),
    added: other.components.filter(({ name }) => !before.has(name)).map(compare),
    removed: one.components
      .filter(({ name }) => !after.has(name))
      .map((gone) => compareComponent(gone, undefined, isNew)),
    changed: changed.map(compare),
    unchanged: common.length - changed.length,
    newBlobs: news.length,
    newBytes: sum(news.map(([, blob]) => blob)),
    imageNewBytes: sum(other.image.blobs.filter(isNew)),
    unknown: unknownIn(one, other),
  }
}

function imagesOf({ image, components }: ReleaseContents) {
  return [image, ...components.flatMap((component) => component.image ?? [])]
}

function byName({ components }: ReleaseContents): ReadonlyMap<string, ContentsComponent> {
  return new Map(components.map((component) => [component.name, component]))
}

function digestOf({ image, reference }: ContentsComponent): Digest | undefined {
  return reference.digest ?? image?.digest
}

function compareComponent(
  former: ContentsComponent | undefined,
  now: ContentsComponent | undefined,
  isNew: (blob: Descriptor) => boolean,
): ChangedComponent {
  const from = former && digestOf(former)
  const to = now && digestOf(now)
  const source = sourceChange(former, now)
  return {
    name: now?.name ?? former?.name ?? '',
    ...(from && { from }),
    ...(to && { to }),
    ...(source && { source }),
    ...(now?.image && { newBytes: sum(now.image.blobs.filter(isNew)) }),
  }
}

function sourceChange(
  former: ContentsComponent | undefined,
  now: ContentsComponent | undefined,
): SourceChange | undefined {
  const source = now?.source ?? former?.source
  if (!source) return undefined
  const isSame = former?.source === undefined || former.source.repository === source.repository
  const fromCommit = isSame ? former?.source?.commit : undefined
  const toCommit = now?.source?.commit
  return { repository: source.repository, ...(fromCommit && { fromCommit }), ...(toCommit && { toCommit }) }
}

function edgesBetween(one: ReleaseContents, other: ReleaseContents): Pick<ReleaseDiff, 'isEdge' | 'isReverseEdge'> {
  const leads = (from: ReleaseContents, to: ReleaseContents) =>
    (to.metadata?.previous.includes(from.version) ?? false) || (from.metadata?.next.includes(to.version) ?? false)
  const isKnown = (other.metadata?.previous.length ?? 0) + (one.metadata?.next.length ?? 0) > 0
  const isEdge = isKnown ? leads(one, other) : undefined
  return { isEdge, isReverseEdge: isEdge !== true && leads(other, one) }
}

function versionChanges(one: ReleaseContents, other: ReleaseContents): readonly VersionChange[] {
  const joined = ({ versions }: ReleaseContents) =>
    new Map(
      [...Map.groupBy(versions, ({ name }) => name)].map(([name, all]) => [name, all.map((v) => v.version).join(', ')]),
    )
  const before = joined(one)
  const after = joined(other)
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name): VersionChange[] => {
    const from = before.get(name)
    const to = after.get(name)
    return from === to ? [] : [{ name, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }]
  })
}

/** In `one` only those count whose absence makes bytes look new. */
function unknownIn(one: ReleaseContents, other: ReleaseContents): readonly string[] {
  const names = [...one.components, ...other.components].flatMap(({ name, image }) => (image ? [] : [name]))
  return [...new Set(names)].sort()
}

function sum(blobs: readonly Descriptor[]): number {
  return blobs.reduce((total, { size }) => total + size, 0)
}
