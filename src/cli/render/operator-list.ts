/** What `list operators` prints: the columns of oc-mirror, with one more where there is something to note. */
import type { ListedChannel, ListedPackage, ListedVersion } from '../../catalog/list-catalog.ts'
import type { KnownError } from '../../errors/known-error.ts'
import { tableLines } from './table.ts'

/** A catalog of a version of OpenShift, as it was asked for at its registry. */
export interface ListedCatalog {
  readonly catalog: string
  readonly exists: boolean
  /** Why that is not known. */
  readonly failure?: KnownError
}

export function renderCatalogs(version: string, catalogs: readonly ListedCatalog[]): string {
  const lines = catalogs.filter(({ exists }) => exists).map(({ catalog }) => `${catalog}\n`)
  return `Available OpenShift OperatorHub catalogs:\nOpenShift ${version}:\n${lines.join('')}`
}

/** What `--json` prints of them. */
export function catalogsDocument(version: string, catalogs: readonly ListedCatalog[]): object {
  return {
    version,
    catalogs: catalogs.map(({ failure, ...rest }) => ({
      ...rest,
      ...(failure && { error: { code: failure.code, message: failure.message, hint: failure.hint } }),
    })),
  }
}

export function renderPackages(packages: readonly ListedPackage[]): string {
  const rows = packages.map(({ name, displayName, defaultChannel, deprecated }) => [
    name,
    displayName,
    defaultChannel,
    note({ deprecated }),
  ])
  return table(['NAME', 'DISPLAY NAME', 'DEFAULT CHANNEL'], rows)
}

export function renderChannels(packageName: string, channels: readonly ListedChannel[]): string {
  const rows = channels.map(({ name, head, flaw, isDefault, deprecated }) => [
    packageName,
    name,
    head ?? `ERROR: ${flaw}`,
    note({ isDefault, deprecated }),
  ])
  return table(['PACKAGE', 'CHANNEL', 'HEAD'], rows)
}

export function renderVersions(versions: readonly ListedVersion[]): string {
  const rows = versions.map(({ version, bundle, deprecated }) => [version ?? bundle, note({ deprecated })])
  return table(['VERSIONS'], rows)
}

interface Noted {
  readonly isDefault?: boolean
  readonly deprecated: string | undefined
}

function note({ isDefault, deprecated }: Noted): string {
  const parts = [
    ...(isDefault ? ['default channel'] : []),
    ...(deprecated === undefined ? [] : [`deprecated: ${firstLine(deprecated)}`]),
  ]
  return parts.join('; ')
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? ''
}

/** The notes are the last cell of a row; without any there is no column for them. */
function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const hasNotes = rows.some((row) => row.at(-1) !== '')
  const columns = [...titles, ...(hasNotes ? ['NOTE'] : [])].map((title) => ({ title }))
  const shown = hasNotes ? rows : rows.map((row) => row.slice(0, -1))
  return tableLines(columns, shown, '')
    .map((line) => `${line}\n`)
    .join('')
}
