/** Unit files of a tree as systemd finds them, and what their [Install] sections say. */
import { readdir } from 'node:fs/promises'
import { posix } from 'node:path'
import { ifThere } from '../../store/presence.ts'
import type { RootedTree } from './rooted-tree.ts'

export const unitFolder = '/etc/systemd/system'
/** systemd.unit(5), "Unit File Load Path"; the first that has the unit wins. */
const unitFolders = [unitFolder, '/run/systemd/system', '/usr/local/lib/systemd/system', '/usr/lib/systemd/system']

export interface UnitFile {
  /** As links to it name it, from the root of the tree. */
  readonly path: string
  readonly isMasked: boolean
  readonly install: InstallSection
}

/** Lists by directive: WantedBy, RequiredBy, UpheldBy, Alias, Also, DefaultInstance. */
export type InstallSection = Readonly<Record<string, readonly string[]>>

/** `stem@`, instance and suffix of a unit with an `@`; undefined for others. */
export function instanceOf(
  name: string,
): { readonly stem: string; readonly instance: string; readonly suffix: string } | undefined {
  const [, stem, instance, suffix] = /^([^@]*@)(.*)(\.[^.]*)$/.exec(name) ?? []
  return stem === undefined || instance === undefined || suffix === undefined ? undefined : { stem, instance, suffix }
}

/** The file of a unit, or that of its template; undefined where the tree has none. */
export async function findUnitFile(tree: RootedTree, name: string): Promise<UnitFile | undefined> {
  const parts = instanceOf(name)
  const template = parts && `${parts.stem}${parts.suffix}`
  for (const own of new Set([name, template ?? name]))
    for (const folder of unitFolders) {
      const path = `${folder}/${own}`
      const there = await tree.stat(await tree.resolve(path))
      if (!there) continue
      const text = await tree.readText(path)
      const dropins = await readDropins(tree, new Set([own, name]))
      return { path, isMasked: text === undefined || text === '', install: installSection([text ?? '', ...dropins]) }
    }
  return undefined
}

async function readDropins(tree: RootedTree, names: ReadonlySet<string>): Promise<readonly string[]> {
  const texts: string[] = []
  for (const name of names)
    for (const folder of unitFolders)
      for (const file of await namesIn(tree, `${folder}/${name}.d`))
        if (file.endsWith('.conf')) texts.push((await tree.readText(`${folder}/${name}.d/${file}`)) ?? '')
  return texts
}

/** What is in a directory of the tree, in the order of names; nothing where there is none. */
export async function namesIn(tree: RootedTree, path: string): Promise<readonly string[]> {
  return ((await ifThere(readdir(await tree.place(await tree.resolveWhole(path))))) ?? []).sort()
}

/** A later assignment adds to an earlier one, and an empty one takes all before it back. */
function installSection(texts: readonly string[]): InstallSection {
  const lists: Record<string, string[]> = {}
  for (const text of texts) {
    const state = { section: '' }
    for (const line of text.replace(/\\\n/g, ' ').split('\n')) {
      const [, section] = /^\s*\[(.*)\]\s*$/.exec(line) ?? []
      if (section !== undefined) state.section = section
      const [, name, value] = /^\s*([A-Za-z]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
      if (state.section !== 'Install' || name === undefined || value === undefined) continue
      lists[name] = value === '' ? [] : [...(lists[name] ?? []), ...value.split(/\s+/)]
    }
  }
  return lists
}

/** The specifiers that name the unit (systemd.unit(5), "Specifiers"). */
export function withSpecifiers(text: string, unit: string): string {
  const { stem, instance } = instanceOf(unit) ?? { stem: posix.basename(unit, posix.extname(unit)), instance: '' }
  const values: Readonly<Record<string, string>> = {
    '%': '%',
    i: instance,
    n: unit,
    N: posix.basename(unit, posix.extname(unit)),
    p: stem.replace(/@$/, ''),
  }
  return text.replace(/%([%inNp])/g, (whole, letter: string) => values[letter] ?? whole)
}
