/**
 * Drop-ins of registries.conf held against the config that they go into: what they replace, and what they hide.
 *
 * Read as containers/image reads them on the host (`src/registries/`): drop-ins in the order of their names after the main
 * file, whole entries replacing each other, the longest prefix of a name deciding alone.
 */
import { type Finding, finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { File, IgnitionConfig } from '../ignition/config.ts'
import { inlineText } from '../ignition/contents.ts'
import type { RegistriesDropIn } from '../ignition/patch/patch.ts'
import { registriesDropInDirectory } from '../ignition/patch/patch-changes.ts'
import { parseRegistriesConf } from '../registries/parse.ts'
import type { RegistriesConf, RegistryEntry } from '../registries/registries-conf.ts'

const mainPath = '/etc/containers/registries.conf'

/** An error where podman would refuse the drop-in; warnings for what it changes without a word. */
export function checkRegistriesDropIns(
  config: IgnitionConfig,
  dropIns: readonly RegistriesDropIn[],
): readonly Finding[] {
  const files = config.storage?.files ?? []
  const own = new Set(dropIns.map(({ fileName }) => `${registriesDropInDirectory}/${fileName}`))
  const main = files.filter(({ path }) => path === mainPath)
  const others = files.filter(({ path }) => isDropIn(path) && !own.has(path))
  const there = [...main, ...others].flatMap((file) => confOf(file) ?? [])
  return dropIns.flatMap(({ fileName, text }) => {
    const path = `${registriesDropInDirectory}/${fileName}`
    const conf = parsed(text, path, true)
    if (!('registries' in conf)) return [conf]
    return conf.registries.flatMap((entry) => [...judgeEntry(entry), ...judgeBeside(entry, there)])
  })
}

/** What is there already is judged elsewhere: one that does not parse says nothing here. */
function confOf(file: File): RegistriesConf | undefined {
  const text = inlineText(file)
  if (text === undefined) return undefined
  const conf = parsed(text, file.path, isDropIn(file.path))
  return 'registries' in conf ? conf : undefined
}

function isDropIn(path: string): boolean {
  return path.startsWith(`${registriesDropInDirectory}/`) && path.endsWith('.conf')
}

function parsed(text: string, path: string, isDropIn: boolean): RegistriesConf | Finding {
  try {
    return parseRegistriesConf(text, path, { isDropIn })
  } catch (error) {
    if (!(error instanceof KnownError)) throw error
    const remedy =
      'Correct it: podman and CRI-O refuse all of their configuration for one broken file. Nothing was written.'
    return told('invalid', 'error', { summary: error.message, remedy })
  }
}

function judgeEntry({ prefix, insecure, mirrors }: RegistryEntry): readonly Finding[] {
  const unsafe = [
    ...(insecure ? [prefix] : []),
    ...mirrors.filter((mirror) => mirror.insecure).map(({ location }) => location),
  ]
  const local = mirrors.filter(({ location }) => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$)/.test(location))
  return [
    ...unsafe.map((location) =>
      told('insecure', 'warning', {
        summary: `insecure = true for ${location}: whoever is on the way can give it other images`,
        remedy: 'Trust the CA of the mirror instead: trust in the patch, additionalTrustBundle in install-config.yaml.',
      }),
    ),
    ...local.map(({ location }) =>
      told('localhost', 'warning', {
        summary: `the mirror ${location} of ${prefix} is at localhost, which on every host is that host itself`,
        remedy: 'Name the mirror as the hosts reach it.',
      }),
    ),
  ]
}

function judgeBeside(entry: RegistryEntry, there: readonly RegistriesConf[]): readonly Finding[] {
  const entries = there.flatMap(({ registries }) => registries)
  const same = entries.filter(({ prefix }) => prefix === entry.prefix)
  const wide = entries.filter(({ prefix, mirrors }) => mirrors.length > 0 && isWithin(entry.prefix, prefix))
  return [
    ...same.flatMap((other) => judgeSame(entry, other)),
    ...(entry.mirrors.length > 0 || entry.blocked || same.length > 0 ? [] : wide.map((other) => hides(entry, other))),
  ]
}

/** The file whose name comes later has the last word, and a drop-in comes after the main file. */
function judgeSame(entry: RegistryEntry, other: RegistryEntry): readonly Finding[] {
  const isLater = other.origin !== mainPath && other.origin > entry.origin
  if (isLater)
    return [
      told('overridden', 'warning', {
        summary: `${entry.origin}: the entry for ${entry.prefix} has no effect: ${other.origin} comes after it and has one too`,
        remedy: 'Give the drop-in a name that sorts after it: 99-NAME.conf.',
      }),
    ]
  const kept = new Set(entry.mirrors.map(({ location }) => location))
  const lost = other.mirrors.filter(({ location }) => !kept.has(location)).map(({ location }) => location)
  const unblocked = other.blocked && !entry.blocked
  if (lost.length === 0 && !unblocked) return []
  const what = [
    ...(lost.length > 0 ? [`its mirrors ${lost.join(', ')} are no longer asked`] : []),
    ...(unblocked ? ['it is no longer blocked'] : []),
  ]
  return [
    told('replaced', 'warning', {
      summary: `${entry.origin} replaces the entry for ${entry.prefix} in ${other.origin}: ${what.join('; ')}`,
      remedy: 'Mirrors of two files are never put together: write all of them into the drop-in.',
    }),
  ]
}

function hides(entry: RegistryEntry, other: RegistryEntry): Finding {
  const mirrors = other.mirrors.map(({ location }) => location).join(', ')
  return told('hides', 'warning', {
    summary: `${entry.origin}: images of ${entry.prefix} would no longer be asked for at ${mirrors}: the longest prefix decides alone, and this entry has no mirrors`,
    remedy: 'Write the mirrors into this entry too, or leave it out.',
  })
}

function isWithin(inner: string, outer: string): boolean {
  return inner.startsWith(outer) && ['/', ':', '@'].includes(inner.charAt(outer.length))
}

function told(id: string, severity: Finding['severity'], said: Pick<Finding, 'summary' | 'remedy'>): Finding {
  return finding({ id: `ignition.patch-registries-${id}`, severity, ...said })
}
