/** What a unit says, by the keys of its sections, and the command lines in it. */
import type { BootstrapUnit } from '../../openshift/bootstrap/bootstrap-units.ts'
import { listed, type UnitSetting, unitSettings } from '../../openshift/bootstrap/unit-text.ts'

export class UnitDirectives {
  readonly #settings: readonly UnitSetting[]

  constructor(unit: Pick<BootstrapUnit, 'text' | 'path' | 'dropIns'>) {
    this.#settings = unitSettings(unit)
  }

  /** @param name `Section.Key` */
  all(name: string): readonly string[] {
    const [section = '', key = ''] = name.split('.')
    return listed(this.#settings, section, key).map(({ value }) => value)
  }

  last(name: string): string | undefined {
    return this.all(name).at(-1)
  }

  /** Names of units, over all lines. */
  words(name: string): readonly string[] {
    return this.all(name).flatMap((value) => value.split(/\s+/).filter((word) => word !== ''))
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
