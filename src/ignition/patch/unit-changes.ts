/** Units and drop-ins of a patch, put together by unit. */
import { type Finding, finding } from '../../errors/finding.ts'
import { readUnit } from '../unit-syntax.ts'
import type { DropinPatch, IgnitionPatch, PatchedUnit, UnitPatch } from './patch.ts'

/** What Ignition takes (coreos/ignition `config/v3_6/types/unit.go:validateName`). */
const unitName =
  /^[A-Za-z0-9:_.\\@-]+\.(?:service|socket|device|mount|automount|swap|target|path|timer|snapshot|slice|scope)$/

export function patchedUnits({ units = [], dropins = [] }: Pick<IgnitionPatch, 'units' | 'dropins'>): {
  readonly units: readonly PatchedUnit[]
  readonly findings: readonly Finding[]
} {
  const names = [...new Set([...units.map(({ name }) => name), ...dropins.map(({ unit }) => unit)])]
  return {
    units: names.map((name) => ({
      ...(units.findLast((unit) => unit.name === name) ?? { name }),
      dropins: dropins.filter(({ unit }) => unit === name).map(({ unit: _, ...dropin }) => dropin),
    })),
    findings: [...twice(units, dropins), ...units.flatMap(judgeUnit), ...dropins.flatMap(judgeDropin)],
  }
}

function judgeUnit(unit: UnitPatch): readonly Finding[] {
  const { name, enabled, mask, contents } = unit
  const findings = [...judgeName(name), ...judgeContents(name, contents)]
  if (contents === undefined && enabled === undefined && mask === undefined)
    findings.push(invalid(`units: ${name} says neither contents nor enabled nor mask: nothing would change`))
  if (enabled === true && contents !== undefined && !/^\[Install\]/m.test(contents))
    findings.push(
      finding({
        id: 'ignition.patch-unit-not-started',
        severity: 'warning',
        summary: `units: ${name} is enabled and has no [Install] section: nothing will start it`,
        remedy: 'Add [Install] with WantedBy=multi-user.target, or have another unit ask for it.',
      }),
    )
  return findings
}

function judgeDropin({ unit, name, contents }: DropinPatch): readonly Finding[] {
  const findings = [...judgeName(unit), ...judgeContents(`${unit}, ${name}`, contents)]
  if (!/^[A-Za-z0-9:_.\\@-]+\.conf$/.test(name))
    findings.push(invalid(`dropins: ${unit}: "${name}" does not end in .conf`))
  return findings
}

function judgeName(name: string): readonly Finding[] {
  return unitName.test(name) ? [] : [invalid(`units: "${name}" is no name of a unit: NAME.service, NAME.mount, …`)]
}

function judgeContents(name: string, contents: string | undefined): readonly Finding[] {
  const syntax = readUnit(contents ?? '')
  if ('fault' in syntax) return [invalid(`units: ${name}: ${syntax.fault}`)]
  const line = strayLine(contents ?? '')
  if (line === undefined) return []
  return [
    finding({
      id: 'ignition.patch-unit-line',
      severity: 'warning',
      summary: `units: ${name}, line ${line} is in no section: systemd passes it over`,
      remedy: 'Correct it in the patch; systemd-analyze verify FILE says more.',
    }),
  ]
}

/** Counted from 1: the first line that says something, where that is no section. Ignition itself passes over what is before one. */
function strayLine(contents: string): number | undefined {
  const lines = contents.split('\n')
  const first = lines.findIndex((line) => !/^\s*(?:[#;]|$)/.test(line))
  return first < 0 || /^\s*\[/.test(lines[first] ?? '') ? undefined : first + 1
}

function twice(units: readonly UnitPatch[], dropins: readonly DropinPatch[]): readonly Finding[] {
  const names = [...units.map(({ name }) => name), ...dropins.map(({ unit, name }) => `${unit}.d/${name}`)]
  const again = new Set(names.filter((name, index) => names.indexOf(name) !== index))
  return [...again].map((name) => invalid(`units: ${name} stands in the patch twice`))
}

function invalid(summary: string): Finding {
  const remedy = 'Correct it in the patch; systemd-analyze verify FILE says more about a unit. Nothing was written.'
  return finding({ id: 'ignition.patch-unit-invalid', severity: 'error', summary, remedy })
}
