/**
 * Units, drop-ins, masks, and the preset that says what is enabled, as the files stage of Ignition makes them.
 *
 * Ignition enables nothing itself: it writes a preset file, from which systemd makes the links when a machine starts for the
 * first time (`enabled-units.ts` does that part).
 *
 * Source: coreos/ignition `internal/exec/stages/files/units.go`, `internal/exec/util/unit.go`.
 */
import { readlink, rm, symlink } from 'node:fs/promises'
import { posix } from 'node:path'
import { KnownError } from '../../errors/known-error.ts'
import type { Unit } from '../../ignition/config.ts'
import { disableUnit, isEnabledInTree } from './enabled-units.ts'
import type { RootedTree } from './rooted-tree.ts'
import type { Workshop } from './storage-nodes.ts'
import { instanceOf, unitFolder } from './unit-files.ts'

const presetFile = '/etc/systemd/system-preset/20-ignition.preset'

/** @throws KnownError FILE_UNWRITABLE where a directory is in the way */
export async function makeUnits(units: readonly Unit[], { tree, signal }: Workshop): Promise<void> {
  for (const unit of units) {
    signal.throwIfAborted()
    for (const { name, contents } of unit.dropins ?? [])
      if (typeof contents === 'string') await writeOver(tree, `${unitFolder}/${unit.name}.d/${name}`, contents)
    if (typeof unit.contents === 'string' && unit.contents !== '')
      await writeOver(tree, `${unitFolder}/${unit.name}`, unit.contents)
    if (unit.mask === true) await mask(tree, unit.name)
    if (unit.mask === false) await unmask(tree, unit.name)
  }
  const lines: string[] = []
  for (const { name, isEnabled } of presetsOf(units)) {
    if (isEnabled) lines.push(`enable ${name}\n`)
    // A unit that is not enabled needs no line to stay so; one that is loses its links, and is told to stay without.
    if (isEnabled || !(await isEnabledInTree(tree, name))) continue
    await disableUnit(tree, name)
    lines.push(`disable ${name}\n`)
  }
  if (lines.length > 0) await appendTo(tree, presetFile, lines.join(''))
}

/** Whatever file or link is there is replaced: units are not asked whether they may overwrite. */
async function writeOver(tree: RootedTree, path: string, contents: string): Promise<void> {
  const at = await tree.resolve(path)
  const there = await tree.stat(at)
  if (there?.isDirectory()) throw inTheWay(path)
  if (there) await rm(await tree.place(at))
  await tree.writeNew(at, contents, 0o644)
}

async function appendTo(tree: RootedTree, path: string, text: string): Promise<void> {
  const at = await tree.resolve(path)
  const there = await tree.stat(at)
  if (there?.isFile()) await tree.append(at, text)
  else if (there) throw inTheWay(path)
  else await tree.writeNew(at, text, 0o644)
}

async function mask(tree: RootedTree, name: string): Promise<void> {
  const at = await tree.resolve(`${unitFolder}/${name}`)
  await tree.makeParent(at)
  const place = await tree.place(at)
  await rm(place, { recursive: true, force: true })
  await symlink('/dev/null', place)
}

async function unmask(tree: RootedTree, name: string): Promise<void> {
  const at = await tree.resolve(`${unitFolder}/${name}`)
  const there = await tree.stat(at)
  if (!there?.isSymbolicLink()) return
  const place = await tree.place(at)
  if ((await readlink(place)) === '/dev/null') await rm(place)
}

interface Preset {
  /** The unit; of instances the template, and behind it what they are called. */
  readonly name: string
  readonly isEnabled: boolean
}

/** In the order of their names. */
function presetsOf(units: readonly Unit[]): readonly Preset[] {
  const instances = new Map<string, Preset>()
  for (const { name, enabled } of units) {
    if (typeof enabled !== 'boolean') continue
    const parts = instanceOf(name)
    const own = parts ? `${parts.stem}${parts.suffix}` : name
    const key = `${own}-${enabled ? 'enabled' : 'disabled'}`
    const said = instances.get(key)?.name ?? own
    instances.set(key, { name: parts ? `${said} ${parts.instance}` : name, isEnabled: enabled })
  }
  return [...instances].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, preset]) => preset)
}

function inTheWay(path: string): KnownError {
  return new KnownError('FILE_UNWRITABLE', `${path} cannot be written: a directory is there`, {
    details: { path: posix.normalize(path) },
  })
}
