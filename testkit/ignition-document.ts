/** An Ignition config to be changed: file by file, unit by unit, or as text. */
import type { File, IgnitionConfig, Unit } from '../src/ignition/config.ts'
import { inlineText } from '../src/ignition/contents.ts'
import { encodeDataUrl } from '../src/ignition/data-url.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

export class IgnitionDocument {
  readonly #changes: ((text: string) => string)[] = []
  readonly files: Mutable<File>[]
  readonly units: Mutable<Unit>[]
  readonly #config: IgnitionConfig

  constructor(text: string) {
    this.#config = JSON.parse(text) as IgnitionConfig
    this.files = [...(this.#config.storage?.files ?? [])]
    this.units = [...(this.#config.systemd?.units ?? [])]
  }

  /** The text as it would stand on a disk. */
  toString(): string {
    const { storage, systemd } = this.#config
    const config = {
      ...this.#config,
      storage: { ...storage, files: this.files },
      systemd: { ...systemd, units: this.units },
    }
    return this.#changes.reduce((text, change) => change(text), JSON.stringify(config))
  }

  /** Changes the text itself, after everything else: for what is no config any more. */
  rewrite(change: (text: string) => string): void {
    this.#changes.push(change)
  }

  file(path: string): Mutable<File> {
    const found = this.files.find((file) => file.path === path)
    if (found === undefined) throw new Error(`the config has no ${path}`)
    return found
  }

  read(path: string): string {
    return inlineText(this.file(path)) ?? ''
  }

  /** Replaces a file, or adds it. */
  write(path: string, text: string, mode = 0o644): void {
    const contents = { source: encodeDataUrl(text) }
    const found = this.files.find((file) => file.path === path)
    if (found === undefined) this.files.push({ path, user: { name: 'root' }, contents, mode, overwrite: true })
    else found.contents = contents
  }

  edit(path: string, change: (text: string) => string): void {
    this.write(path, change(this.read(path)))
  }

  remove(path: string): void {
    this.files.splice(this.files.indexOf(this.file(path)), 1)
  }

  unit(name: string): Mutable<Unit> {
    const found = this.units.find((unit) => unit.name === name)
    if (found === undefined) throw new Error(`the config has no unit ${name}`)
    return found
  }

  editUnit(name: string, change: (contents: string) => string): void {
    const unit = this.unit(name)
    unit.contents = change(unit.contents ?? '')
  }
}
