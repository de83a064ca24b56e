/**
 * What `systemctl --root` makes of [Install] sections: the links below `/etc/systemd/system`.
 *
 * Source: systemctl(1) `enable`, `disable`, `is-enabled`; systemd.unit(5) "[Install] Section Options".
 */
import { readlink, rm, symlink } from 'node:fs/promises'
import { posix } from 'node:path'
import type { RootedTree } from './rooted-tree.ts'
import { findUnitFile, instanceOf, namesIn, unitFolder, withSpecifiers } from './unit-files.ts'

const folderSuffixes: Readonly<Record<string, string>> = {
  WantedBy: 'wants',
  RequiredBy: 'requires',
  UpheldBy: 'upholds',
}

/** Why a unit has no links: it is not in the tree, masked, or says not where it belongs. */
export type Enablement = 'enabled' | 'absent' | 'masked' | 'without-install'

/** Makes the links of a unit, and of those that it names with Also=. */
export async function enableUnit(
  tree: RootedTree,
  name: string,
  seen: ReadonlySet<string> = new Set(),
): Promise<Enablement> {
  const unit = await findUnitFile(tree, name)
  if (!unit) return 'absent'
  if (unit.isMasked) return 'masked'
  const { install } = unit
  const linked = linkName(name, install['DefaultInstance'])
  const links: string[] = []
  if (linked !== undefined)
    for (const [directive, suffix] of Object.entries(folderSuffixes))
      for (const by of install[directive] ?? [])
        links.push(`${unitFolder}/${withSpecifiers(by, linked)}.${suffix}/${linked}`)
  const aliases = (install['Alias'] ?? []).map((alias) => withSpecifiers(alias, linked ?? name))
  for (const alias of aliases) if (isOfSameKind(alias, name)) links.push(`${unitFolder}/${alias}`)
  for (const path of links) await makeLink(tree, path, unit.path)
  const also = (install['Also'] ?? []).map((other) => withSpecifiers(other, name)).filter((other) => !seen.has(other))
  for (const other of also) await enableUnit(tree, other, new Set([...seen, name, ...also]))
  return links.length > 0 || also.length > 0 ? 'enabled' : 'without-install'
}

/** A service is no other name of a socket, and a unit none of a template. */
function isOfSameKind(alias: string, name: string): boolean {
  return posix.extname(alias) === posix.extname(name) && alias.includes('@') === name.includes('@')
}

/** A template is linked as its default instance, and not at all without one. */
function linkName(name: string, defaultInstance: readonly string[] | undefined): string | undefined {
  const parts = instanceOf(name)
  if (parts?.instance !== '') return name
  const instance = defaultInstance?.at(-1)
  return instance === undefined ? undefined : `${parts.stem}${instance}${parts.suffix}`
}

async function makeLink(tree: RootedTree, path: string, target: string): Promise<void> {
  const at = await tree.resolve(path)
  if (await tree.stat(at)) return
  await tree.makeParent(at)
  await symlink(target, await tree.place(at))
}

/**
 * What `systemctl is-enabled` answers yes to: a unit with links, and one that needs none (static, indirect, an alias).
 *
 * @param name instances of a template, with spaces between them as Ignition asks for them, are never enabled
 */
export async function isEnabledInTree(tree: RootedTree, name: string): Promise<boolean> {
  const unit = name.includes(' ') ? undefined : await findUnitFile(tree, name)
  if (!unit || unit.isMasked) return false
  if ((await linksOf(tree, name)).length > 0) return true
  const own = await tree.stat(await tree.resolve(unit.path))
  const needsLinks = ['WantedBy', 'RequiredBy', 'UpheldBy', 'Alias'].some(
    (directive) => unit.install[directive]?.length,
  )
  return own?.isSymbolicLink() === true || !needsLinks
}

/** Takes the links of a unit away. */
export async function disableUnit(tree: RootedTree, name: string): Promise<void> {
  for (const at of await linksOf(tree, name)) await rm(await tree.place(at))
}

/** Links below `/etc/systemd/system` that enable a unit: of its name in folders of others, and of other names to it. */
async function linksOf(tree: RootedTree, name: string): Promise<readonly string[]> {
  const links: string[] = []
  for (const entry of await namesIn(tree, unitFolder)) {
    const path = `${unitFolder}/${entry}`
    const isFolder = /\.(?:wants|requires|upholds)$/.test(entry)
    const inside = isFolder ? (await namesIn(tree, path)).filter((own) => isOrIsOf(own, name)) : []
    for (const at of isFolder ? inside.map((own) => `${path}/${own}`) : [path]) {
      const resolved = await tree.resolve(at)
      if (!(await tree.stat(resolved))?.isSymbolicLink()) continue
      const target = posix.basename(await readlink(await tree.place(resolved)))
      if (isFolder || (entry !== name && target === name)) links.push(resolved)
    }
  }
  return links
}

/** With one instance a template counts as enabled. */
function isOrIsOf(own: string, name: string): boolean {
  const parts = instanceOf(own)
  return own === name || (parts !== undefined && name === `${parts.stem}${parts.suffix}`)
}
