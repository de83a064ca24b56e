/**
 * A unit as systemd reads it: settings by section, those of drop-ins after its own.
 *
 * Source: systemd.syntax(7), systemd.unit(5).
 */
import type { Evidence } from './bootstrap-file.ts'
import type { BootstrapUnit } from './bootstrap-units.ts'

type UnitParts = Pick<BootstrapUnit, 'text' | 'path' | 'dropIns'>

export interface UnitSetting {
  readonly section: string
  readonly name: string
  readonly value: string
  readonly at: Evidence
}

/** One file; continued lines are put together, with the place that they begin at. */
export function parseUnitText(text: string, file: string): readonly UnitSetting[] {
  const settings: UnitSetting[] = []
  let section = ''
  let open: { text: string; line: number } | undefined
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (/^[#;]/.test(line)) continue
    const whole = open === undefined ? { text: line, line: index + 1 } : { ...open, text: `${open.text} ${line}` }
    if (whole.text.endsWith('\\')) {
      open = { ...whole, text: whole.text.slice(0, -1).trimEnd() }
      continue
    }
    open = undefined
    const [, heading] = /^\[(.+)\]$/.exec(whole.text) ?? []
    const [, name, value = ''] = /^([A-Za-z][\w-]*)\s*=\s*(.*)$/s.exec(whole.text) ?? []
    if (heading !== undefined) section = heading
    else if (name !== undefined) settings.push({ section, name, value, at: { file, line: whole.line } })
  }
  return settings
}

/** Of a unit with its drop-ins: its own first, then those of the drop-ins in the order of their names. */
export function unitSettings({ text, path, dropIns }: UnitParts): readonly UnitSetting[] {
  const sorted = dropIns.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const own = text === undefined ? [] : parseUnitText(text, path)
  return [...own, ...sorted.flatMap((dropIn) => parseUnitText(dropIn.text, dropIn.path))]
}

/** What counts of a setting that may be given several times: an empty value takes back what stood before it. */
export function listed(
  settings: readonly UnitSetting[],
  section: string,
  ...names: readonly string[]
): readonly UnitSetting[] {
  const own = settings.filter((one) => one.section === section && names.includes(one.name))
  const reset = own.findLastIndex(({ value }) => value === '')
  return own.slice(reset + 1)
}

/** The last value of a setting; undefined where there is none, or an empty one. */
export function lastOf(settings: readonly UnitSetting[], section: string, name: string): string | undefined {
  return listed(settings, section, name).at(-1)?.value
}

/** Unit names out of settings like `After=a.service b.target`. */
export function unitNames(
  settings: readonly UnitSetting[],
  section: string,
  ...names: readonly string[]
): readonly string[] {
  const own = settings.filter((one) => one.section === section && names.includes(one.name))
  return [...new Set(own.flatMap(({ value }) => value.split(/\s+/).filter((word) => word !== '')))]
}
