/**
 * The order in which the units of a bootstrap config start, what starts each, and what stands in the way.
 *
 * Seen are the units of the config, and of the system's only the names that they speak of. Quadlets are taken for the
 * services that Podman makes of them.
 *
 * Source: systemd.unit(5), systemd.target(5), podman-systemd.unit(5).
 */
import { redact } from '../../errors/redact.ts'
import type { BootstrapFile, BootstrapFiles, Evidence } from './bootstrap-file.ts'
import type { BootstrapUnit } from './bootstrap-units.ts'
import { type Before, circlesOf, ranksOf } from './unit-graph.ts'
import { lastOf, listed, parseUnitText, type UnitSetting, unitNames, unitSettings } from './unit-text.ts'

export interface OrderedUnit {
  readonly name: string
  readonly description?: string
  /** Of a service its Type; of others what the name ends with. */
  readonly type: string
  /** How many units of the config come before it, one after the other. */
  readonly rank: number
  /** Units of the config that it starts after, also where only a unit of the system stands between them. */
  readonly after: readonly string[]
  /** Units of the system that it starts after. */
  readonly afterSystem: readonly string[]
  readonly startedBy: readonly UnitStart[]
  /** False where nothing leads to it: neither enabled, nor wanted by a unit that starts. Drop-ins leave it to the system. */
  readonly isStarted: boolean
  readonly isMasked: boolean
  /** `ConditionPathExists=!/x`, as written. */
  readonly conditions: readonly string[]
  /** Commands in order, without the characters that systemd takes before them, and without passwords. */
  readonly runs: readonly string[]
  /** `on-failure` and the like. */
  readonly restart?: string
  readonly dropIns: readonly string[]
}

type Placing = 'rank' | 'after' | 'afterSystem' | 'startedBy' | 'isStarted'

export interface UnitStart {
  readonly how: 'enabled' | 'requires' | 'wants' | 'socket' | 'generator' | 'link'
  /** The unit, target, socket, generator or link. */
  readonly by: string
}

export interface UnitOrder {
  /** By rank, those of one rank in the order of the config. */
  readonly units: readonly OrderedUnit[]
  /** Units of the config or the system that wait for each other: systemd drops one of them. */
  readonly circles: readonly (readonly string[])[]
  /** Programs that units start and that neither the config nor the system has: under /usr/local, /opt, /etc, /root, /home. */
  readonly missing: readonly { readonly unit: string; readonly path: string; readonly at: Evidence }[]
}

interface Config {
  readonly files: BootstrapFiles
  readonly units: readonly BootstrapUnit[]
  /** Targets of links by path. */
  readonly links?: ReadonlyMap<string, string>
}

interface ReadUnit {
  readonly name: string
  readonly settings: readonly UnitSetting[]
  readonly unit?: BootstrapUnit
}

export function orderUnits(config: Config): UnitOrder {
  const units = [...config.units.map(readUnit), ...[...config.files.values()].flatMap(quadlet)]
  const own = new Set(units.map(({ name }) => name))
  const starts = new Map(units.map((unit) => [unit.name, startsOf(unit, units, config)]))
  const started = reached(units, starts)
  const before = orderingOf(units)
  for (const [name, earlier] of isolation(units, starts, started)) before.get(name)?.add(earlier)
  const within = new Map(units.map(({ name }) => [name, ownBefore(name, before, own)]))
  const ranks = ranksOf(within)
  const ordered = units.map((unit): OrderedUnit => {
    const { name } = unit
    return {
      ...described(unit),
      rank: ranks.get(name) ?? 0,
      after: [...(within.get(name) ?? [])],
      afterSystem: [...(before.get(name) ?? [])].filter((earlier) => !own.has(earlier)),
      startedBy: starts.get(name) ?? [],
      isStarted: started.has(name),
    }
  })
  return {
    units: ordered.toSorted((one, other) => one.rank - other.rank),
    circles: circlesOf(before),
    missing: units.flatMap((unit) => missingPrograms(unit, config.files)),
  }
}

/** What of the config comes before a unit, looking through units of the system. */
function ownBefore(name: string, before: Before, own: ReadonlySet<string>): ReadonlySet<string> {
  const seen = new Set(before.get(name))
  for (const earlier of seen) if (!own.has(earlier)) for (const one of before.get(earlier) ?? []) seen.add(one)
  return new Set([...seen].filter((earlier) => own.has(earlier)))
}

function readUnit(unit: BootstrapUnit): ReadUnit {
  return { name: unit.name, settings: unitSettings(unit), unit }
}

const quadletPath = /^\/etc\/containers\/systemd\/([^/]+)\.(container|volume|network|image|pod|kube|build)$/

function quadlet({ path, text }: BootstrapFile): readonly ReadUnit[] {
  const [, name, kind] = quadletPath.exec(path) ?? []
  if (name === undefined || kind === undefined) return []
  const service = kind === 'container' || kind === 'kube' ? `${name}.service` : `${name}-${kind}.service`
  return [{ name: service, settings: parseUnitText(text, path) }]
}

function described({ name, settings, unit }: ReadUnit): Omit<OrderedUnit, Placing> {
  const kind = name.slice(name.lastIndexOf('.') + 1)
  const description = lastOf(settings, 'Unit', 'Description')
  const restart = lastOf(settings, 'Service', 'Restart')
  const conditions = settings.filter((one) => one.section === 'Unit' && /^(?:Condition|Assert)/.test(one.name))
  return {
    name,
    type: kind === 'service' ? (lastOf(settings, 'Service', 'Type') ?? 'simple') : kind,
    ...(description !== undefined && { description }),
    ...(restart !== undefined && { restart }),
    isMasked: unit?.isMasked === true,
    conditions: conditions.map((one) => `${one.name}=${one.value}`),
    runs: commandsOf(settings).map(({ value }) => redact(value)),
    dropIns: (unit?.dropIns ?? []).map((one) => one.name),
  }
}

function commandsOf(settings: readonly UnitSetting[]): readonly UnitSetting[] {
  return ['ExecStartPre', 'ExecStart', 'ExecStartPost']
    .flatMap((name) => listed(settings, 'Service', name))
    .map((setting) => ({ ...setting, value: setting.value.replace(/^[@\-:+!|]+/, '') }))
}

const pulling = ['Wants', 'Requires', 'BindsTo', 'Requisite', 'Upholds'] as const

/** After and Before, and what systemd adds: a target comes after what it pulls in, a socket before its service. */
function orderingOf(units: readonly ReadUnit[]): Map<string, Set<string>> {
  const before = new Map<string, Set<string>>()
  const add = (name: string, earlier: string) => {
    before.set(name, (before.get(name) ?? new Set()).add(earlier))
    if (!before.has(earlier)) before.set(earlier, new Set())
  }
  for (const { name, settings } of units) {
    if (!before.has(name)) before.set(name, new Set())
    for (const earlier of unitNames(settings, 'Unit', 'After')) add(name, earlier)
    for (const later of unitNames(settings, 'Unit', 'Before')) add(later, name)
    if (name.endsWith('.target')) for (const pulled of unitNames(settings, 'Unit', ...pulling)) add(name, pulled)
    if (name.endsWith('.socket')) add(serviceOf(name, settings), name)
  }
  return before
}

/**
 * Where a generator puts another target first, and a unit of it ends with `systemctl isolate`: the rest of the boot comes
 * after that unit, as pairs of later and earlier.
 */
function isolation(
  units: readonly ReadUnit[],
  starts: ReadonlyMap<string, readonly UnitStart[]>,
  started: ReadonlySet<string>,
): readonly (readonly [later: string, earlier: string])[] {
  const last = units.filter(({ settings }) =>
    commandsOf(settings).some(({ value }) => /\bsystemctl\b.*\sisolate\s/.test(value)),
  )
  const isGenerated = ({ how }: UnitStart) => how === 'generator'
  const first = reached(units, starts, isGenerated)
  if (last.length === 0 || first.size === 0) return []
  const rest = units.filter(({ name, unit }) => {
    return started.has(name) && !first.has(name) && unit?.text !== undefined && name.endsWith('.service')
  })
  return last.flatMap((earlier) => rest.map((later) => [later.name, earlier.name] as const))
}

function serviceOf(socket: string, settings: readonly UnitSetting[]): string {
  return lastOf(settings, 'Socket', 'Service') ?? socket.replace(/\.socket$/, '.service')
}

function startsOf(unit: ReadUnit, units: readonly ReadUnit[], { files, links }: Config): readonly UnitStart[] {
  const { name, settings } = unit
  const isQuadlet = unit.unit === undefined
  // Of a unit that the system has, the system's own file says what enabling it means.
  const installed =
    unit.unit !== undefined && unit.unit.text === undefined
      ? ['its own [Install]']
      : unitNames(settings, 'Install', 'WantedBy', 'RequiredBy', 'UpheldBy')
  const enabled = isQuadlet || unit.unit?.isEnabled === true ? installed : []
  const pulled = units.flatMap((other): readonly UnitStart[] => {
    if (unitNames(other.settings, 'Unit', 'Requires', 'BindsTo', 'Requisite').includes(name))
      return [{ how: 'requires', by: other.name }]
    return unitNames(other.settings, 'Unit', 'Wants', 'Upholds').includes(name)
      ? [{ how: 'wants', by: other.name }]
      : []
  })
  const sockets = units.filter((one) => one.name.endsWith('.socket') && serviceOf(one.name, one.settings) === name)
  const generators = [...files.values()].filter(({ path, text }) => {
    return path.startsWith('/etc/systemd/system-generators/') && text.includes(name)
  })
  const linked = [...(links ?? [])].filter(([path]) => {
    const [, target] = /^\/etc\/systemd\/system\/(?:[^/]+\.(?:wants|requires)\/)?([^/]+)$/.exec(path) ?? []
    return target === name && path !== unit.unit?.path
  })
  return [
    ...enabled.map((by): UnitStart => ({ how: 'enabled', by })),
    ...pulled,
    ...sockets.map((one): UnitStart => ({ how: 'socket', by: one.name })),
    ...generators.map(({ path }): UnitStart => ({ how: 'generator', by: path.slice(path.lastIndexOf('/') + 1) })),
    ...linked.map(([path]): UnitStart => ({ how: 'link', by: path })),
  ]
}

/**
 * From what the boot itself starts along what each pulls in. Units of the system are taken as started.
 *
 * @param isRoot which starts to begin with; default: all that no unit of the config has to make
 */
function reached(
  units: readonly ReadUnit[],
  starts: ReadonlyMap<string, readonly UnitStart[]>,
  isRoot?: (start: UnitStart) => boolean,
): ReadonlySet<string> {
  const own = new Set(units.map(({ name }) => name))
  const begins = isRoot ?? (({ how, by }: UnitStart) => how === 'generator' || how === 'link' || !own.has(by))
  const isSystems = ({ unit }: ReadUnit) => isRoot === undefined && unit !== undefined && unit.text === undefined
  const roots = units.filter((unit) => isSystems(unit) || (starts.get(unit.name) ?? []).some(begins))
  const started = new Set(roots.map(({ name }) => name))
  for (let size = -1; size !== started.size; ) {
    size = started.size
    for (const [name, by] of starts) if (by.some((one) => started.has(one.by))) started.add(name)
  }
  for (const { name, unit } of units) if (unit?.isMasked === true) started.delete(name)
  return started
}

/** What the system brings stands under /usr; what is under these only the config can bring, or a program before. */
const configured = /^\/(?:usr\/local|opt|etc|root|home)\//

function missingPrograms({ name, settings }: ReadUnit, files: BootstrapFiles): UnitOrder['missing'] {
  return commandsOf(settings).flatMap(({ value, at }) => {
    const [program = '', argument = ''] = value.split(/\s+/)
    const path = /\/(?:ba|da)?sh$/.test(program) ? argument : program
    return configured.test(path) && !files.has(path) ? [{ unit: name, path, at }] : []
  })
}
