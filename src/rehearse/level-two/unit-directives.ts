/** What a unit says, as systemd reads it (systemd.syntax(7)): continued lines, lists that an empty value clears, words. */
import type { BootstrapUnit } from '../../openshift/bootstrap/bootstrap-units.ts'

export class UnitDirectives {
  readonly #values = new Map<string, string[]>()

  /** The unit itself, then its drop-ins in the order of their names. */
  constructor({ text = '', dropIns }: Pick<BootstrapUnit, 'text' | 'dropIns'>) {
    const sorted = dropIns.toSorted((one, other) => (one.name < other.name ? -1 : 1))
    for (const part of [text, ...sorted.map((dropIn) => dropIn.text)]) this.#read(part)
  }

  /** @param name `Section.Key` */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? []
  }

  last(name: string): string | undefined {
    return this.all(name).at(-1)
  }

  /** Names of units, over all lines. */
  words(name: string): readonly string[] {
    return this.all(name).flatMap((value) => value.split(/\s+/).filter((word) => word !== ''))
  }

  #read(text: string): void {
    let section = ''
    for (const line of text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/)) {
      const trimmed = line.trim()
      if (trimmed === '' || /^[#;]/.test(trimmed)) continue
      const header = /^\[(.+)\]$/.exec(trimmed)
      if (header !== null) {
        section = header[1] ?? ''
        continue
      }
      const [, key = '', value = ''] = /^([\w-]+)\s*=\s*(.*)$/.exec(trimmed) ?? []
      if (key === '') continue
      const name = `${section}.${key}`
      if (value === '') this.#values.set(name, [])
      else this.#values.set(name, [...this.all(name), value])
    }
  }
}

/** The words of `ExecStart=` (systemd.service(5), "Command lines"), without the marks before the first. */
export function commandWords(command: string, env: Readonly<Record<string, string>>): readonly string[] {
  const bare = command.replace(/^[-@:+!|]+/, '')
  const words = [...bare.matchAll(/(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|\S)+/g)].map(([word]) => word)
  return words.map((word) =>
    word
      .replaceAll(/"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/g, (_, double?: string, single?: string) =>
        (double ?? single ?? '').replaceAll(/\\(["'\\])/g, '$1'),
      )
      .replaceAll(
        /\$\{(\w+)\}|\$(\w+)/g,
        (whole, braced?: string, plain?: string) => env[braced ?? plain ?? ''] ?? (braced || plain ? '' : whole),
      )
      .replaceAll('%%', '%'),
  )
}

/** `Environment=A=1 "B=two words"` */
export function environmentOf(directives: UnitDirectives): Readonly<Record<string, string>> {
  const words = directives.all('Service.Environment').flatMap((value) => commandWords(value, {}))
  return Object.fromEntries(
    words.flatMap((word) => {
      const at = word.indexOf('=')
      return at > 0 ? [[word.slice(0, at), word.slice(at + 1)]] : []
    }),
  )
}
