/** Rules for units and their drop-ins (coreos/ignition `config/v3_N/types/{unit,systemd}.go`, `config/shared/validations`). */
import type { Dropin, Unit } from '../config.ts'
import { extensionOf, goQuoted } from '../go-text.ts'
import { readUnit, type UnitSyntax } from '../unit-syntax.ts'
import { messages } from './messages.ts'
import type { Place } from './place.ts'

const unitExtensions: ReadonlySet<string> = new Set([
  '.service',
  '.socket',
  '.device',
  '.mount',
  '.automount',
  '.swap',
  '.target',
  '.path',
  '.timer',
  '.snapshot',
  '.slice',
  '.scope',
])

export function checkUnit({ name, contents, enabled }: Unit, place: Place): void {
  if (!unitExtensions.has(extensionOf(name))) place.error(messages.unitExtension, 'name')
  if (!contents) return
  const syntax = readUnit(contents)
  place.error(syntaxFault(syntax), 'contents')
  if (enabled === true && !mayInstall(syntax))
    place.warning(`unit ${goQuoted(name)} is enabled, but has no install section so enable does nothing`, 'contents')
}

export function checkDropin({ name, contents }: Dropin, place: Place): void {
  if (contents) place.error(syntaxFault(readUnit(contents)), 'contents')
  if (extensionOf(name) !== '.conf') place.error(messages.dropinExtension, 'name')
}

/** An instance that is enabled needs an [Install] in its template, where the template is in the config. */
export function checkInstances({ units = [] }: { readonly units?: readonly Unit[] }, place: Place): void {
  const byName = new Map(units.map((unit) => [unit.name, unit]))
  for (const [index, { name, enabled }] of units.entries()) {
    const [, prefix] = /^([^\n]+?)@[^\n]+?\.service$/.exec(name) ?? []
    if (prefix === undefined || enabled !== true) continue
    const template = `${prefix}@.service`
    const contents = byName.get(template)?.contents
    if (contents && !mayInstall(readUnit(contents)))
      place.warning(
        `template unit ${goQuoted(template)} for ${goQuoted(name)} doesn't have Install section`,
        'units',
        index,
        'contents',
      )
  }
}

function syntaxFault(syntax: UnitSyntax): string | undefined {
  return 'fault' in syntax ? `invalid unit content: ${syntax.fault}` : undefined
}

/** Of what cannot be read, that much has been said already. */
function mayInstall(syntax: UnitSyntax): boolean {
  return 'fault' in syntax || syntax.options.some(({ section }) => section === 'Install')
}
