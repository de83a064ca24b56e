/**
 * The units of the config: whether systemd understands them, finds what they start, and finds an order for them.
 *
 * Units of `systemd.units` with broken lines are refused by Ignition already; those that come as files, and drop-ins, are not
 * looked at by it.
 *
 * Source: systemd.syntax(7), systemd.unit(5), systemd.service(5).
 */
import { type Finding, finding } from '../../errors/finding.ts'
import type { BootstrapConfig } from '../../openshift/bootstrap/bootstrap-config.ts'
import type { Evidence } from '../../openshift/bootstrap/bootstrap-file.ts'
import type { BootstrapUnit } from '../../openshift/bootstrap/bootstrap-units.ts'
import { orderUnits, type UnitOrder } from '../../openshift/bootstrap/unit-order.ts'
import { listed, type UnitSetting, unitSettings } from '../../openshift/bootstrap/unit-text.ts'
import { evidenceText } from './config-places.ts'

export function checkUnits(bootstrap: BootstrapConfig): readonly Finding[] {
  const { circles, missing, units } = orderUnits(bootstrap)
  const started = new Set(units.filter(({ isStarted }) => isStarted).map(({ name }) => name))
  return [
    ...bootstrap.units.flatMap(unitFindings),
    ...circles.map((names) => circleFinding(names, bootstrap.units)),
    ...missing.map((one) => missingFinding(one, started)),
    ...bootstrap.units.flatMap((unit) => notExecutable(unit, bootstrap)),
  ]
}

interface UnitFault {
  readonly at: Evidence
  readonly why: string
  readonly severity: Finding['severity']
}

function unitFindings(unit: BootstrapUnit): readonly Finding[] {
  const { name, text, path, dropIns } = unit
  const syntax = [
    ...(text === undefined ? [] : syntaxFaults(text, path).slice(0, 1)),
    ...dropIns.flatMap((dropIn) => syntaxFaults(dropIn.text, dropIn.path).slice(0, 1)),
  ]
  // One broken line changes what all after it mean.
  const faults = syntax.length > 0 || text === undefined || text.trim() === '' ? syntax : meaningFaults(unit, text)
  return faults.map(({ at, why, severity }) =>
    finding({
      id: 'rehearse.unit-invalid',
      severity,
      summary: `systemd does not take ${name} as it is: ${why}`,
      evidence: evidenceText(at),
      remedy: `Correct it where it was added or changed: systemd-analyze verify ./${name} says the same.`,
      where: at,
    }),
  )
}

const sections: Readonly<Record<string, readonly string[]>> = {
  service: ['Service'],
  socket: ['Socket'],
  mount: ['Mount'],
  automount: ['Automount'],
  timer: ['Timer'],
  path: ['Path'],
  swap: ['Swap'],
  slice: ['Slice'],
  target: [],
}

/** Line by line, as far as every kind of unit has it in common. */
function syntaxFaults(text: string, file: string): readonly UnitFault[] {
  const faults: UnitFault[] = []
  let section: string | undefined
  let isContinued = false
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    const at = { file, line: index + 1 }
    const wasContinued = isContinued
    if (/^[#;]/.test(line)) continue
    isContinued = line.endsWith('\\')
    if (line === '' || wasContinued) continue
    if (line.startsWith('[')) {
      section = /^\[([^\]]+)\]$/.exec(line)?.[1]
      if (section === undefined) faults.push({ at, why: `line ${at.line} is no section: ${line}`, severity: 'error' })
    } else if (!line.includes('=')) {
      faults.push({ at, why: `line ${at.line} is no assignment: ${line}`, severity: 'error' })
    } else if (section === undefined) {
      faults.push({ at, why: `line ${at.line} stands in no section`, severity: 'error' })
    }
  }
  return faults
}

const serviceTypes = ['simple', 'exec', 'forking', 'oneshot', 'dbus', 'notify', 'notify-reload', 'idle']

function meaningFaults({ name, path, dropIns }: BootstrapUnit, text: string): readonly UnitFault[] {
  const kind = name.slice(name.lastIndexOf('.') + 1)
  const settings = unitSettings({ text, path, dropIns })
  const faults: UnitFault[] = []
  const known = ['Unit', 'Install', ...(sections[kind] ?? [])]
  const strange = settings.find(({ section }) => !known.includes(section) && !section.startsWith('X-'))
  if (strange !== undefined && kind in sections)
    faults.push({
      at: strange.at,
      why: `a ${kind} has no section [${strange.section}], it is passed over`,
      severity: 'warning',
    })
  if (kind === 'service') faults.push(...serviceFaults(settings, path))
  if (kind === 'mount' && !['What', 'Where'].every((key) => listed(settings, 'Mount', key).length > 0))
    faults.push({ at: { file: path, line: 1 }, why: 'a mount needs What= and Where=', severity: 'error' })
  return faults
}

function serviceFaults(settings: readonly UnitSetting[], path: string): readonly UnitFault[] {
  const of = (key: string) => listed(settings, 'Service', key)
  const faults: UnitFault[] = []
  const [type] = of('Type').slice(-1)
  if (type !== undefined && !serviceTypes.includes(type.value))
    faults.push({ at: type.at, why: `Type=${type.value} is none`, severity: 'error' })
  const commands = ['ExecStartPre', 'ExecStart', 'ExecStartPost', 'ExecStop', 'ExecStopPost', 'ExecReload'].flatMap(of)
  const needed = type?.value === 'oneshot' ? ['ExecStart', 'ExecStop', 'SuccessAction'] : ['ExecStart']
  const isPresent = needed.some((key) => of(key).length > 0 || listed(settings, 'Unit', key).length > 0)
  if (!isPresent) faults.push({ at: { file: path, line: 1 }, why: 'it has no ExecStart=', severity: 'error' })
  for (const { value, at } of commands) {
    const program = value.replace(/^[@\-:+!|]+/, '').split(/\s+/)[0] ?? ''
    if (program.includes('/') && !/^["']?[/$%]/.test(program))
      faults.push({ at, why: `${program} is no absolute path`, severity: 'error' })
  }
  return faults
}

function circleFinding(names: readonly string[], units: readonly BootstrapUnit[]): Finding {
  const own = units.find(({ name }) => names.includes(name))
  const where = own === undefined ? undefined : { file: own.path, line: 1 }
  return finding({
    id: 'rehearse.unit-cycle',
    severity: 'error',
    summary: `${names.join(', ')} wait for each other: systemd breaks the circle by not starting one of them`,
    evidence: evidenceText(where, 'After= and Before= of these units'),
    remedy: 'Take one After= or Before= out of the unit or drop-in that was added last.',
    ...(where && { where }),
  })
}

function missingFinding({ unit, path, at }: UnitOrder['missing'][number], started: ReadonlySet<string>): Finding {
  return finding({
    id: 'rehearse.script-missing',
    severity: started.has(unit) ? 'error' : 'info',
    summary: `${unit} starts ${path}, which the config does not have`,
    evidence: evidenceText(at),
    remedy: `Add ${path} with mode 0755 (sallyport ignition patch FILE --file ${path}=SCRIPT:0755), or take the unit out.`,
    where: at,
  })
}

/** Ignition gives 0644 where the config says nothing. */
function notExecutable({ name, text, path, dropIns }: BootstrapUnit, { files }: BootstrapConfig): readonly Finding[] {
  const settings = unitSettings({ ...(text !== undefined && { text }), path, dropIns })
  const commands = ['ExecStartPre', 'ExecStart', 'ExecStartPost'].flatMap((key) => listed(settings, 'Service', key))
  return commands.flatMap(({ value, at }) => {
    const program = value.replace(/^[@\-:+!|]+/, '').split(/\s+/)[0] ?? ''
    const file = files.get(program)
    return file === undefined || (file.mode & 0o111) !== 0 ? [] : [modeFinding(name, file, at)]
  })
}

export function modeFinding(
  caller: string,
  { path, mode }: { readonly path: string; readonly mode: number },
  at: Evidence,
): Finding {
  return finding({
    id: 'rehearse.script-not-executable',
    severity: 'error',
    summary: `${caller} starts ${path}, which has mode ${mode.toString(8).padStart(4, '0')}: permission denied`,
    evidence: evidenceText(at, `storage.files, ${path}: mode ${mode}`),
    remedy: `Give ${path} mode 0755: 493 in the config, where modes are decimal.`,
    where: at,
  })
}
