/** The units of a config drawn in their order: what comes first at the top, what belongs to nothing else last. */
import { explainUnit } from '../../openshift/bootstrap/explain-units.ts'
import type { Inspection } from '../../openshift/bootstrap/inspection.ts'
import type { OrderedUnit, UnitOrder, UnitStart } from '../../openshift/bootstrap/unit-order.ts'

const bar = '│'

export function renderUnits({ order }: Inspection): string {
  if (order.units.length === 0) return 'no units\n'
  return chainsOf(order)
    .map((chain) => drawChain(chain))
    .join('\n')
}

/** Units that come after one another; the longest first. */
function chainsOf({ units }: UnitOrder): readonly (readonly OrderedUnit[])[] {
  const above = new Map(units.map(({ name }) => [name, name]))
  const rootOf = (name: string): string => {
    const next = above.get(name) ?? name
    return next === name ? name : rootOf(next)
  }
  for (const { name, after } of units) for (const earlier of after) above.set(rootOf(earlier), rootOf(name))
  const chains = [...Map.groupBy(units, ({ name }) => rootOf(name)).values()]
  return chains.toSorted((one, other) => other.length - one.length)
}

function drawChain(chain: readonly OrderedUnit[]): string {
  const waves = [...Map.groupBy(chain, ({ rank }) => rank).values()]
  const lines = waves.flatMap((wave, index) => {
    const isLast = index === waves.length - 1
    const drawn = wave.flatMap((unit) => [
      headOf(unit),
      ...detailsOf(unit, chain).map((line) => `${isLast ? ' ' : bar}  ${line}`),
    ])
    return isLast ? drawn : [...drawn, '▼']
  })
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

function headOf({ name, type, isMasked, isStarted }: OrderedUnit): string {
  const state = isMasked ? ', masked: it never starts' : isStarted ? '' : ', nothing starts it'
  return `● ${name}   ${type}${state}`
}

function detailsOf(unit: OrderedUnit, chain: readonly OrderedUnit[]): readonly string[] {
  const { name, description, startedBy, afterSystem, conditions, runs, restart, dropIns } = unit
  const own = directlyAfter(unit, chain)
  const after = [
    ...(own.length === 0 ? [] : [own.join(', ')]),
    ...(afterSystem.length === 0 ? [] : [`${afterSystem.join(', ')} of the system`]),
  ]
  return [
    explainUnit(name, description).text,
    ...(startedBy.length === 0 ? [] : [startedBy.map(startOf).join(', ')]),
    ...(after.length === 0 ? [] : [`after ${after.join('; ')}`]),
    ...conditions.map((condition) => `only if ${condition}`),
    ...runs.map((command, index) => `${index === 0 ? 'runs' : '    '} ${commandOf(command)}`),
    ...(restart === undefined ? [] : [`restarts ${restart}`]),
    ...(dropIns.length === 0 ? [] : [`changed by ${dropIns.join(', ')}`]),
  ]
}

/** Without those that come before another of them anyway. */
function directlyAfter({ after }: OrderedUnit, chain: readonly OrderedUnit[]): readonly string[] {
  const earlier = new Map(chain.map((unit) => [unit.name, unit.after]))
  const further = new Set<string>(after.flatMap((name) => earlier.get(name) ?? []))
  for (const name of further) for (const one of earlier.get(name) ?? []) further.add(one)
  return after.filter((name) => !further.has(name))
}

function startOf({ how, by }: UnitStart): string {
  switch (how) {
    case 'enabled':
      return `enabled for ${by}`
    case 'requires':
      return `required by ${by}`
    case 'wants':
      return `wanted by ${by}`
    case 'socket':
      return `started by ${by}`
    case 'generator':
      return `made the target of the boot by the generator ${by}`
    case 'link':
      return `enabled by the link ${by}`
  }
}

const shownOfACommand = 90

/** The whole of a short command; of a long one its beginning. */
function commandOf(command: string): string {
  return command.length <= shownOfACommand ? command : `${command.slice(0, shownOfACommand)}…`
}
