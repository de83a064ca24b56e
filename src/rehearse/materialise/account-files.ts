/**
 * The accounts of a tree: `/etc/passwd`, `/etc/shadow`, `/etc/group`, `/etc/gshadow`, and what `useradd` reads of its settings.
 *
 * A tree without them gets those of root, as an image of a system would have.
 *
 * Source: passwd(5), shadow(5), group(5), gshadow(5), login.defs(5), useradd(8).
 */
import { rm } from 'node:fs/promises'
import type { RootedTree } from './rooted-tree.ts'

type FileName = 'passwd' | 'shadow' | 'group' | 'gshadow'
/** The fields between the colons; the first is the name. */
type Line = readonly string[]

const fresh: Readonly<Record<FileName, { readonly text: string; readonly mode: number }>> = {
  passwd: { text: 'root:x:0:0:root:/root:/bin/bash\n', mode: 0o644 },
  // As systems of Red Hat have them: root needs no permission.
  shadow: { text: 'root:*:::::::\n', mode: 0 },
  group: { text: 'root:x:0:\n', mode: 0o644 },
  gshadow: { text: 'root:::\n', mode: 0 },
}

export class AccountFiles {
  readonly #tree: RootedTree
  readonly #lines: Readonly<Record<FileName, Line[]>>
  readonly #values: ReadonlyMap<string, string>
  /** True where the tree had no `/etc/group`, and groups cannot be expected in it. */
  readonly areFresh: boolean

  private constructor(tree: RootedTree, texts: Readonly<Record<FileName, string | undefined>>, settings: string) {
    this.#tree = tree
    const linesOf = (name: FileName) => parsed(texts[name] ?? fresh[name].text)
    this.#lines = {
      passwd: linesOf('passwd'),
      shadow: linesOf('shadow'),
      group: linesOf('group'),
      gshadow: linesOf('gshadow'),
    }
    this.#values = new Map(
      [...settings.matchAll(/^\s*([A-Z_]+)[\s=]+(\S+)/gm)].map(([, key = '', value = '']) => [key, value]),
    )
    this.areFresh = texts.group === undefined
  }

  static async read(tree: RootedTree): Promise<AccountFiles> {
    const [passwd, shadow, group, gshadow, defs = '', useradd = ''] = await Promise.all(
      ['/etc/passwd', '/etc/shadow', '/etc/group', '/etc/gshadow', '/etc/login.defs', '/etc/default/useradd'].map(
        (path) => tree.readText(path),
      ),
    )
    return new AccountFiles(tree, { passwd, shadow, group, gshadow }, `${defs}\n${useradd}`)
  }

  /** A setting of login.defs or default/useradd. */
  setting(name: string, otherwise: string): string {
    return this.#values.get(name) ?? otherwise
  }

  find(file: FileName, name: string): Line | undefined {
    return this.#lines[file].find(([own]) => own === name)
  }

  all(file: FileName): readonly Line[] {
    return this.#lines[file]
  }

  /** Changes the line of this name, or adds it. */
  put(file: FileName, line: Line): void {
    const lines = this.#lines[file]
    const index = lines.findIndex(([name]) => name === line[0])
    if (index < 0) lines.push(line)
    else lines[index] = line
  }

  remove(file: FileName, name: string): void {
    const lines = this.#lines[file]
    const index = lines.findIndex(([own]) => own === name)
    if (index >= 0) lines.splice(index, 1)
  }

  /**
   * A number that nobody has: above the highest in use, or below the lowest for accounts of the system (useradd(8), `find_new_uid`).
   *
   * @param wanted taken where it is free, and one of those that are given out
   */
  freeId(
    file: 'passwd' | 'group',
    { isSystem, wanted }: { readonly isSystem: boolean; readonly wanted?: number },
  ): number {
    const used = new Set(this.#lines[file].map(([, , id]) => Number(id)))
    const kind = file === 'passwd' ? 'UID' : 'GID'
    const min = Number(this.setting(`${kind}_MIN`, '1000'))
    const max = Number(this.setting(`${kind}_MAX`, '60000'))
    const low = isSystem ? Number(this.setting(`SYS_${kind}_MIN`, '201')) : min
    const high = isSystem ? Number(this.setting(`SYS_${kind}_MAX`, String(min - 1))) : max
    if (wanted !== undefined && wanted >= low && wanted <= high && !used.has(wanted)) return wanted
    const within = [...used].filter((id) => id >= low && id <= high)
    const next = isSystem ? Math.min(high + 1, ...within) - 1 : Math.max(low - 1, ...within) + 1
    if (next >= low && next <= high) return next
    return Array.from({ length: high - low + 1 }, (_, index) => low + index).find((id) => !used.has(id)) ?? next
  }

  async write(): Promise<void> {
    for (const file of ['passwd', 'shadow', 'group', 'gshadow'] as const) {
      const at = await this.#tree.resolveWhole(`/etc/${file}`)
      const there = await this.#tree.stat(at)
      const mode = there ? Number(there.mode) & 0o7777 : fresh[file].mode
      const place = await this.#tree.place(at)
      await rm(place, { force: true })
      await this.#tree.writeNew(at, `${this.#lines[file].map((line) => line.join(':')).join('\n')}\n`, mode)
    }
  }
}

function parsed(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(':'))
}
