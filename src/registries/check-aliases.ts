/**
 * Short names: the rules for `[aliases]`, in the words of containers/image.
 *
 * Source: containers/image `pkg/sysregistriesv2/shortnames.go:validateShortName, parseShortNameValue`.
 */
import { KnownError } from '../errors/known-error.ts'
import { parseReference } from '../oci/reference.ts'
import { InvalidEntry } from './check-entries.ts'

/**
 * @param value empty where the alias is taken back
 * @throws InvalidEntry
 */
export function checkAlias(name: string, value: string): void {
  checkWhole(name, `short name "${name}"`, 'cannot parse short name')
  if (hasHost(name)) throw new InvalidEntry(`invalid short name "${name}": must not contain registry`)
  if (value === '') return
  checkWhole(value, `alias "${value}"`, 'parsing alias')
  if (!hasHost(value)) throw new InvalidEntry(`invalid alias "${value}": must contain registry and repository`)
}

function checkWhole(text: string, subject: string, whenBroken: string): void {
  try {
    const { tag, digest } = parseReference(text)
    if (digest !== undefined) throw new InvalidEntry(`invalid ${subject}: must not contain digest`)
    if (tag !== undefined) throw new InvalidEntry(`invalid ${subject}: must not contain tag`)
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    throw new InvalidEntry(`${whenBroken} "${text}": ${error.message}`)
  }
}

function hasHost(text: string): boolean {
  const slash = text.indexOf('/')
  const first = slash < 0 ? '' : text.slice(0, slash)
  return first === 'localhost' || /[.:]/.test(first)
}
