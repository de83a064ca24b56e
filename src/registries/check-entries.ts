/**
 * The rules that containers/image holds every registry entry to, in its words.
 *
 * Source: containers/image `pkg/sysregistriesv2/system_registries_v2.go:postProcessRegistries, parseLocation`.
 */
import { type RegistryEntry, sortedByPrefix } from './registries-conf.ts'

/** An entry that containers/image would refuse; the caller adds the file name and the code. */
export class InvalidEntry extends Error {
  override readonly name = 'InvalidEntry'
}

/** @throws InvalidEntry for an URL */
export function trimLocation(text: string): string {
  const trimmed = text.replace(/\/+$/, '')
  if (/^https?:\/\//.test(trimmed)) throw new InvalidEntry(`invalid location '${text}': URI schemes are not supported`)
  return trimmed
}

/**
 * The entries as they take effect: of two with the same prefix the first, sorted by prefix.
 *
 * @throws InvalidEntry
 */
export function checkEntries(entries: readonly RegistryEntry[]): readonly RegistryEntry[] {
  for (const entry of entries) checkEntry(entry)
  for (const entry of entries) checkConflicts(entry, entries)
  const first = new Map<string, RegistryEntry>()
  for (const entry of entries) {
    if (entry.prefix.startsWith('*.') && /[/@:]/.test(entry.prefix))
      throw new InvalidEntry(
        `Wildcarded prefix should be in the format: *.example.com. Current prefix "${entry.prefix}" is incorrectly formatted`,
      )
    if (!first.has(entry.prefix)) first.set(entry.prefix, entry)
  }
  return sortedByPrefix([...first.values()])
}

function checkEntry(entry: RegistryEntry): void {
  const { prefix, location, mirrors } = entry
  if (prefix === '') throw new InvalidEntry('invalid condition: both location and prefix are unset')
  if (location === '' && !prefix.startsWith('*.'))
    throw new InvalidEntry('invalid condition: location is unset and prefix is not in the format: *.example.com')
  for (const mirror of mirrors) {
    if (mirror.location === '') throw new InvalidEntry('invalid condition: mirror location is unset')
    if (entry.mirrorByDigestOnly && mirror.pullFromMirror !== undefined)
      throw new InvalidEntry(
        `cannot set mirror usage mirror-by-digest-only for the registry ("${prefix}") and pull-from-mirror for per-mirror ("${mirror.location}") at the same time`,
      )
  }
}

/** One place, several prefixes: what is said about the place itself must agree. */
function checkConflicts(entry: RegistryEntry, entries: readonly RegistryEntry[]): void {
  const place = entry.location || entry.prefix
  for (const other of entries) {
    if ((other.location || other.prefix) !== place) continue
    if (other.insecure !== entry.insecure) throw conflict(place, 'insecure')
    if (other.blocked !== entry.blocked) throw conflict(place, 'blocked')
  }
}

function conflict(place: string, setting: string): InvalidEntry {
  return new InvalidEntry(`registry '${place}' is defined multiple times with conflicting '${setting}' setting`)
}
