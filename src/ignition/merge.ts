/**
 * Two configs made into one, as Ignition makes them: what the child says wins, and what it does not say stays.
 *
 * Objects are merged field by field. In a list with keys (files by path, units by name, …) entries of the same key are merged
 * where the parent has them, and the others are appended; files, directories and links share their paths, so that a child's
 * link takes a parent's file away. Lists without keys (`append` of a file) are put one behind the other.
 *
 * Source: coreos/ignition `config/merge/merge.go`.
 */
import type { IgnitionConfig } from './config.ts'
import { configShape, type MergeShape } from './merge-shapes.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Special permission bits have a meaning from 3.6.0 on: a parent or child that is older loses them where the other is not, as in
 * Ignition, which translates both to the newest version first.
 *
 * @returns a config of the higher version of the two; it shares what was not merged with them
 */
export function mergeConfigs(parent: IgnitionConfig, child: IgnitionConfig): IgnitionConfig {
  const { version: older } = parent.ignition
  const { version: own } = child.ignition
  const version = minorOf(own) >= minorOf(older) ? own : older
  const merged = mergedFields(inVersion(parent, version), inVersion(child, version), configShape)
  const config = merged as unknown as IgnitionConfig
  return { ...config, ignition: { ...config.ignition, version } }
}

/** The first version in which setuid, setgid and sticky are more than a warning. */
const specialBitsMinor = 6

/** The permission bits of a file or directory that a config of this version sets (`translateFileEmbedded1` of Ignition). */
export function effectiveMode(mode: number, version: string): number {
  return minorOf(version) < specialBitsMinor ? mode & 0o777 : mode & 0o7777
}

function inVersion(config: IgnitionConfig, version: string): Fields {
  const { version: own } = config.ignition
  const { storage } = config
  if (!storage || minorOf(own) >= specialBitsMinor || minorOf(version) < specialBitsMinor) return { ...config }
  const plain = <Node extends { readonly mode?: number | null }>(node: Node): Node =>
    typeof node.mode === 'number' ? { ...node, mode: effectiveMode(node.mode, own) } : node
  const { files, directories } = storage
  return {
    ...config,
    storage: {
      ...storage,
      ...(files && { files: files.map(plain) }),
      ...(directories && { directories: directories.map(plain) }),
    },
  }
}

function minorOf(version: string): number {
  return Number.parseInt(version.split('.')[1] ?? '', 10)
}

function mergedFields(parent: Fields, child: Fields, shape: MergeShape): Fields {
  const merged: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(parent), ...Object.keys(child)])) {
    const fieldShape = shape.fields?.[name] ?? {}
    const value = isList(parent[name], child[name])
      ? mergedList(listsOf(parent, child, name), fieldShape, takenElsewhere(child, name, shape))
      : mergedValue(parent[name], child[name], fieldShape)
    if (value !== undefined) merged[name] = value
  }
  return merged
}

/** `null` is what is not said. */
function mergedValue(parent: unknown, child: unknown, shape: MergeShape): unknown {
  if (child === undefined || child === null) return parent ?? undefined
  return isObject(parent) && isObject(child) ? mergedFields(parent, child, shape) : child
}

interface Lists {
  readonly parent: readonly unknown[]
  readonly child: readonly unknown[]
}

function mergedList(
  { parent, child }: Lists,
  { list = {}, entries = {} }: MergeShape,
  taken: ReadonlySet<string>,
): unknown[] {
  const { keyOf, removedWithout } = list
  if (!keyOf) return [...parent, ...child]
  // Of entries with the same key the last one counts.
  const children = new Map(child.map((entry) => [keyOf(entry), entry]))
  const parentKeys = new Set(parent.map(keyOf))
  const kept = parent.flatMap((entry) => {
    const key = keyOf(entry)
    if (!children.has(key)) return taken.has(key) ? [] : [entry]
    const own = children.get(key)
    if (removedWithout !== undefined && isObject(own) && (own[removedWithout] ?? undefined) === undefined) return []
    return [mergedValue(entry, own, entries)]
  })
  return [...kept, ...child.filter((entry) => !parentKeys.has(keyOf(entry)))]
}

/** The keys that the child has in other lists of the same group. */
function takenElsewhere(child: Fields, name: string, { fields = {} }: MergeShape): ReadonlySet<string> {
  const group = fields[name]?.list?.group
  const taken = new Set<string>()
  if (group === undefined) return taken
  for (const [other, { list }] of Object.entries(fields)) {
    if (other === name || list?.group !== group || !list.keyOf) continue
    for (const entry of listOf(child[other])) taken.add(list.keyOf(entry))
  }
  return taken
}

function listsOf(parent: Fields, child: Fields, name: string): Lists {
  return { parent: listOf(parent[name]), child: listOf(child[name]) }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isList(one: unknown, other: unknown): boolean {
  return Array.isArray(one) || Array.isArray(other)
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
