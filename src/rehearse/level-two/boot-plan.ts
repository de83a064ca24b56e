/**
 * Which services systemd would start to reach a target, and in what order: those that the target, and what is started for
 * it, wants or requires, and those that are enabled for them.
 *
 * Units of the machine itself (crio.service, NetworkManager) are taken as running.
 *
 * Source: systemd.unit(5), "[Unit] Section Options", "[Install] Section Options".
 */
import type { BootstrapUnit } from '../../openshift/bootstrap/bootstrap-units.ts'
import { UnitDirectives } from './unit-directives.ts'

export interface PlannedUnit {
  readonly name: string
  readonly directives: UnitDirectives
  /** Units of this config that must have come up. */
  readonly requires: readonly string[]
  /** Units of this config that this one waits for, if they are started at all. */
  readonly after: readonly string[]
}

const pulled = ['Unit.Requires', 'Unit.Wants', 'Unit.BindsTo', 'Unit.Requisite'] as const

/** In the order in which they are started. */
export function planBoot(units: readonly BootstrapUnit[], target: string): readonly PlannedUnit[] {
  const known = new Map(
    units
      .filter((unit) => !unit.isMasked && unit.text !== undefined)
      .map((unit) => [unit.name, new UnitDirectives(unit)]),
  )
  const enabled = units.filter(({ isEnabled, isMasked }) => isEnabled === true && !isMasked)
  const wantedBy = (name: string) =>
    enabled.filter((unit) => {
      const directives = known.get(unit.name)
      return ['Install.WantedBy', 'Install.RequiredBy'].some((key) => directives?.words(key).includes(name))
    })
  const started = new Set<string>()
  const start = (name: string) => {
    if (started.has(name)) return
    started.add(name)
    const directives = known.get(name)
    for (const key of pulled) for (const next of directives?.words(key) ?? []) start(next)
    for (const unit of wantedBy(name)) start(unit.name)
  }
  start(target)
  const chosen = [...known.keys()].filter((name) => started.has(name) && name.endsWith('.service'))
  return inOrder(chosen.map((name) => planned(name, chosen, known)))
}

function planned(name: string, chosen: readonly string[], known: ReadonlyMap<string, UnitDirectives>): PlannedUnit {
  const directives = known.get(name) ?? new UnitDirectives({ path: name, dropIns: [] })
  const own = (key: string) => directives.words(key).filter((other) => chosen.includes(other))
  const before = chosen.filter((other) => known.get(other)?.words('Unit.Before').includes(name))
  const requires = ['Unit.Requires', 'Unit.BindsTo', 'Unit.Requisite'].flatMap(own)
  return { name, directives, requires, after: [...new Set([...own('Unit.After'), ...before])] }
}

/** Units that wait for each other in a circle: systemd breaks it anywhere, here it is at the first by its place. */
function inOrder(units: readonly PlannedUnit[]): readonly PlannedUnit[] {
  const ordered: PlannedUnit[] = []
  const left = new Set(units)
  while (left.size > 0) {
    const free = [...left].find(({ after }) => ![...left].some(({ name }) => after.includes(name)))
    const next = free ?? [...left][0]
    if (next === undefined) break
    ordered.push(next)
    left.delete(next)
  }
  return ordered
}
