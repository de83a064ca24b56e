/**
 * Files, directories and links, as the files stage of Ignition makes them: from the root downwards, hard links last.
 *
 * Source: coreos/ignition `internal/exec/stages/files/filesystemEntries.go`.
 */
import { link, lstat, readlink, rm, symlink } from 'node:fs/promises'
import { posix } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import type { Directory, IgnitionConfig, Link, StorageNode } from '../../ignition/config.ts'
import type { LoadedFile } from './loaded-file.ts'
import type { ModesAtLast } from './modes-at-last.ts'
import type { Owners } from './owners.ts'
import type { RootedTree } from './rooted-tree.ts'

/** What everything that is made needs. */
export interface Workshop {
  readonly tree: RootedTree
  readonly owners: Owners
  readonly modes: ModesAtLast
  readonly signal: AbortSignal
}

interface Entry {
  /** Where it is in the tree, resolved before anything is made. */
  readonly at: string
  readonly node: StorageNode
  readonly make: () => Promise<void>
}

/** @throws KnownError FILE_EXISTS where something is there that the config does not say to overwrite; IGNITION_INVALID */
export async function makeNodes(
  { storage }: IgnitionConfig,
  files: readonly LoadedFile[],
  shop: Workshop,
): Promise<void> {
  const entries: Entry[] = []
  const add = async (node: StorageNode, make: (at: string) => Promise<void>) => {
    if (!/^\/[^\0]*$/.test(node.path)) throw invalid(`${JSON.stringify(node.path)} is no absolute path`)
    const at = await shop.tree.resolve(node.path)
    const same = entries.find((entry) => entry.at === at)
    if (same)
      throw invalid(`${node.path} and ${same.node.path} are the same place, ${at}, behind the links that are there`)
    entries.push({ at, node, make: () => make(at) })
  }
  for (const directory of storage?.directories ?? []) await add(directory, (at) => makeDirectory(at, directory, shop))
  for (const loaded of files) await add(loaded.file, (at) => makeFile(at, loaded, shop))
  const symbolic = (storage?.links ?? []).filter(({ hard }) => hard !== true)
  for (const one of symbolic) await add(one, (at) => makeSymbolicLink(at, one, shop))
  const shallowFirst = [...entries.values()].sort((one, other) => depthOf(one.at) - depthOf(other.at))
  const hard = (storage?.links ?? []).filter((one) => one.hard === true)
  for (const one of hard) await add(one, (at) => makeHardLink(at, one, shop))
  for (const entry of [...shallowFirst, ...[...entries.values()].slice(shallowFirst.length)]) {
    shop.signal.throwIfAborted()
    await clearWay(entry, shop)
    await entry.make()
  }
}

function depthOf(path: string): number {
  return path.split('/').filter((name) => name !== '').length
}

async function clearWay({ at, node }: Entry, { tree }: Workshop): Promise<void> {
  if (node.overwrite !== true) return
  if (at === '/') throw invalid('the directory / cannot be overwritten: everything would go with it')
  await rm(await tree.place(at), { recursive: true, force: true })
}

async function makeFile(at: string, { file, contents, append }: LoadedFile, shop: Workshop): Promise<void> {
  const { tree, owners, modes } = shop
  const there = await tree.stat(at)
  if (there && !there.isFile()) throw exists(file.path, 'something that is no file')
  if (there && contents !== undefined) throw exists(file.path, 'a file')
  if (!there) await tree.writeNew(at, contents ?? new Uint8Array(), 0o644)
  for (const bytes of append) await tree.append(at, bytes)
  await owners.give(at, file)
  await modes.set(at, file.mode)
}

async function makeDirectory(at: string, directory: Directory, { tree, owners, modes }: Workshop): Promise<void> {
  const there = await tree.stat(at)
  if (there && !there.isDirectory()) throw exists(directory.path, 'something that is no directory')
  await tree.makeDirectory(at)
  await owners.give(at, directory)
  modes.setLater(at, directory.mode)
}

async function makeSymbolicLink(at: string, node: Link, { tree, owners }: Workshop): Promise<void> {
  const target = node.target ?? ''
  const there = await tree.stat(at)
  if (there?.isSymbolicLink()) {
    const old = await readlink(await tree.place(at))
    if (posix.normalize(old) === posix.normalize(target)) return
    throw exists(node.path, `a link to ${old}`)
  }
  if (there) throw exists(node.path, 'something that is no link')
  await tree.makeParent(at)
  await symlink(target, await tree.place(at))
  await owners.give(at, node)
}

async function makeHardLink(at: string, node: Link, { tree }: Workshop): Promise<void> {
  const target = await tree.resolve(node.target ?? '')
  const found = await tree.stat(target)
  if (!found) throw invalid(`${node.path} is to be a hard link to ${node.target}, which is not there`)
  const there = await tree.stat(at)
  if (there?.ino === found.ino && there.dev === found.dev) return
  if (there) throw exists(node.path, `something else than ${node.target}`)
  await tree.makeParent(at)
  const source = await tree.place(target)
  // Linking a link would be refused by some kernels, and a directory by all: said in words of ours.
  if ((await lstat(source)).isDirectory())
    throw invalid(`${node.path} is to be a hard link to ${node.target}, a directory`)
  await link(source, await tree.place(at))
}

function exists(path: string, what: string): KnownError {
  return new KnownError('FILE_EXISTS', `${path}: ${what} is there already, and overwrite is not true`, {
    details: { path },
    hint: 'Ignition would stop the boot here too: set "overwrite": true, or start from an empty directory.',
  })
}

function invalid(why: string): KnownError {
  return new KnownError('IGNITION_INVALID', why)
}
