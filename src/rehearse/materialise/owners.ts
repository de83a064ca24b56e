/**
 * Who owns what is made.
 *
 * Names are looked up in `/etc/passwd` and `/etc/group` of the tree (coreos/ignition `internal/exec/util/file.go`), not with
 * whatever else `nsswitch.conf` names.
 */
import { lchown, readlink } from 'node:fs/promises'
import { isAbsolute, posix } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import type { StorageNode } from '../../ignition/config.ts'
import type { RootedTree } from './rooted-tree.ts'

/** As Linux follows them (path_resolution(7)). */
const mostHops = 40

export class Owners {
  readonly #tree: RootedTree
  readonly #isIgnored: boolean
  readonly #ids = new Map<string, ReadonlyMap<string, number> | undefined>()

  /** @param isIgnored true where this user may not give files away: everything stays with who made it */
  constructor(tree: RootedTree, { isIgnored }: { readonly isIgnored: boolean }) {
    this.#tree = tree
    this.#isIgnored = isIgnored
  }

  /**
   * Gives a file, directory or link to whom the config says; what it does not say stays.
   *
   * @param resolved where it is in the tree
   * @throws KnownError IGNITION_INVALID for a name that the tree does not know
   */
  async give(resolved: string, node: StorageNode): Promise<void> {
    if (this.#isIgnored) return
    const there = await this.#statDefault(resolved)
    const uid = await this.#idOf(node.user, '/etc/passwd', { node, otherwise: there.uid })
    const gid = await this.#idOf(node.group, '/etc/group', { node, otherwise: there.gid })
    await lchown(await this.#tree.place(resolved), uid, gid)
  }

  /** @param resolved a place in the tree */
  async giveTo(resolved: string, { uid, gid }: { readonly uid: number; readonly gid: number }): Promise<void> {
    if (!this.#isIgnored) await lchown(await this.#tree.place(resolved), uid, gid)
  }

  /**
   * A link belongs to who owns what it leads to, as Ignition asks `stat` and not `lstat`. An absolute link, also one on the
   * way, it would follow on the machine that it runs on, where what is meant is not there or belongs to root.
   */
  async #statDefault(resolved: string): Promise<{ readonly uid: number; readonly gid: number }> {
    const root = { uid: 0, gid: 0 }
    let at = resolved
    for (let hop = 0; hop < mostHops; hop += 1) {
      const there = await this.#tree.stat(at)
      if (!there) return root
      if (!there.isSymbolicLink()) return { uid: Number(there.uid), gid: Number(there.gid) }
      const target = await readlink(await this.#tree.place(at))
      if (isAbsolute(target)) return root
      at = await this.#tree.resolve(posix.join(posix.dirname(at), target))
    }
    // One that leads to itself belongs to nobody else either.
    return root
  }

  async #idOf(
    owner: StorageNode['user'],
    file: '/etc/passwd' | '/etc/group',
    { node, otherwise }: { readonly node: StorageNode; readonly otherwise: number },
  ): Promise<number> {
    if (typeof owner?.id === 'number') return owner.id
    const name = owner?.name ?? ''
    if (name === '') return otherwise
    const ids = await this.#idsOf(file)
    const id = ids?.get(name) ?? (ids === undefined && name === 'root' ? 0 : undefined)
    if (id !== undefined) return id
    const kind = posix.basename(file) === 'group' ? 'group' : 'user'
    throw new KnownError('IGNITION_INVALID', `${node.path}: there is no ${kind} ${name} in ${file} of the directory`, {
      details: { path: node.path, [kind]: name },
      hint: `Ignition looks owners up in the system that it writes to, and would fail too. Add the ${kind} to the config, name an id, start from a directory with ${file}, or leave owners out with --no-owners.`,
    })
  }

  async #idsOf(file: string): Promise<ReadonlyMap<string, number> | undefined> {
    if (!this.#ids.has(file)) this.#ids.set(file, idsIn(await this.#tree.readText(file)))
    return this.#ids.get(file)
  }
}

function idsIn(text: string | undefined): ReadonlyMap<string, number> | undefined {
  if (text === undefined) return undefined
  const ids = new Map<string, number>()
  for (const line of text.split('\n')) {
    const [name, , id] = line.split(':')
    if (name && id !== undefined && /^\d+$/.test(id) && !ids.has(name)) ids.set(name, Number(id))
  }
  return ids
}
