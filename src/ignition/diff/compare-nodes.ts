/** Files, directories and links of two configs compared. */
import { KnownError } from '../../errors/known-error.ts'
import { redact } from '../../errors/redact.ts'
import type { Directory, File, IgnitionConfig, Link, Resource, Storage, StorageNode } from '../config.ts'
import { inlineContents } from '../contents.ts'
import { effectiveMode } from '../merge.ts'
import { textOf } from '../redact/opened-bytes.ts'
import { secretKind } from '../secret-files.ts'
import { type ContentsComparison, described } from './compare-contents.ts'
import { type Detail, type Difference, keyedDifferences, safeDetail, valueDetail } from './difference.ts'

type Sides<T> = readonly [T | undefined, T | undefined]

export function nodeDifferences(
  before: IgnitionConfig,
  after: IgnitionConfig,
  comparison: ContentsComparison,
): readonly Difference[] {
  const [old, own] = [storageOf(before), storageOf(after)]
  const nameOf = ({ path }: StorageNode) => path
  return [
    ...keyedDifferences<File>({
      kind: 'file',
      before: old?.files,
      after: own?.files,
      nameOf,
      detailsOf: (...sides) => fileDetails(sides, comparison),
    }),
    ...keyedDifferences<Directory>({
      kind: 'directory',
      before: old?.directories,
      after: own?.directories,
      nameOf,
      detailsOf: (...sides) => [...fields(sides, 'mode', (node) => octal(node.mode ?? 0o755)), ...nodeDetails(sides)],
    }),
    ...keyedDifferences<Link>({
      kind: 'link',
      before: old?.links,
      after: own?.links,
      nameOf,
      detailsOf: (...sides) => [
        ...fields(sides, 'target', ({ target }) => target ?? ''),
        ...fields(sides, 'hard', ({ hard }) => String(hard === true)),
        ...nodeDetails(sides),
      ],
    }),
  ]
}

/** Before 3.6 setuid, setgid and sticky are not set, and make no difference. */
function storageOf({
  storage,
  ignition: { version },
}: IgnitionConfig): Pick<Storage, 'files' | 'directories' | 'links'> {
  const meant = <Node extends { readonly mode?: number | null }>(node: Node): Node =>
    typeof node.mode === 'number' ? { ...node, mode: effectiveMode(node.mode, version) } : node
  const { files = [], directories = [], links = [] } = storage ?? {}
  return { files: files.map(meant), directories: directories.map(meant), links }
}

/** Of what is only on one side its values; of both what differs. */
function fields<T>([before, after]: Sides<T>, field: string, tell: (entry: T) => string): readonly Detail[] {
  return valueDetail(field, before && tell(before), after && tell(after))
}

/** What every node has; what is as it is without being said is told only where it changes. */
function nodeDetails(sides: Sides<StorageNode>): readonly Detail[] {
  const isChange = sides[0] !== undefined && sides[1] !== undefined
  const told = (field: string, tell: (node: StorageNode) => string, usual: string) =>
    fields(sides, field, tell).filter(({ before, after }) => isChange || (before ?? after) !== usual)
  return [
    ...told('owner', ({ user, group }) => `${ownerOf(user)}:${ownerOf(group)}`, 'root:root'),
    ...told('overwrite', ({ overwrite }) => String(overwrite === true), 'true'),
  ]
}

/** The id 0 and the name root are the same. */
function ownerOf(owner: StorageNode['user']): string {
  const id = owner?.id ?? undefined
  return id === undefined || id === 0 ? owner?.name || 'root' : String(id)
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

function fileDetails(sides: Sides<File>, comparison: ContentsComparison): readonly Detail[] {
  const [before, after] = sides
  const mode = fields(sides, 'mode', (file) => octal(file.mode ?? 0o644))
  const path = before?.path ?? after?.path ?? ''
  const parts = before && after ? contentsDetails(path, [before, after], comparison) : sizeDetails(sides)
  return [...mode, ...nodeDetails(sides), ...parts]
}

/** What is put in place of a file, and what is added to it, are two things. */
function contentsDetails(
  path: string,
  [before, after]: readonly [File, File],
  comparison: ContentsComparison,
): readonly Detail[] {
  const compare = (field: string, old: readonly Resource[], own: readonly Resource[]) => {
    const [oldBytes, ownBytes] = [bytesOf(old, path), bytesOf(own, path)]
    if (oldBytes && ownBytes) return comparison.details(field, path, [oldBytes, ownBytes])
    return safeDetail(field, [placesOf(old, path), placesOf(own, path)], redact)
  }
  const contents = ({ contents: one }: File) => (typeof one?.source === 'string' ? [one] : [])
  return [
    ...compare('contents', contents(before), contents(after)),
    ...compare('append', before.append ?? [], after.append ?? []),
  ]
}

/** Undefined where a part is elsewhere, or broken. */
function bytesOf(resources: readonly Resource[], path: string): Uint8Array | undefined {
  try {
    const parts = resources.map((resource) => inlineContents(resource, path))
    return parts.includes(undefined) ? undefined : Buffer.concat(parts as readonly Uint8Array[])
  } catch (error) {
    if (error instanceof KnownError) return undefined
    throw error
  }
}

/** Where it comes from: URLs with their hashes, which can hold credentials. */
function placesOf(resources: readonly Resource[], path: string): string | undefined {
  const bytes = bytesOf(resources, path)
  if (bytes) return resources.length === 0 ? undefined : shownSize(bytes, path)
  return resources
    .map(({ source, verification }) => {
      if (source?.startsWith('data:')) return 'data that cannot be read'
      return [source ?? '', ...(verification?.hash ? [verification.hash] : [])].join(' ')
    })
    .join(', ')
}

function sizeDetails(sides: Sides<File>): readonly Detail[] {
  return fields(sides, 'contents', ({ path, contents, append = [] }) => {
    const resources = [...(contents ? [contents] : []), ...append]
    return redact(placesOf(resources, path) ?? 'nothing is said of them')
  })
}

/** Of a secret file no hash: a short secret can be found by it. */
function shownSize(bytes: Uint8Array, path: string): string {
  return secretKind(path, textOf(bytes) ?? '') === undefined ? described(bytes) : `${bytes.byteLength} bytes`
}
