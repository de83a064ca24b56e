/** The files of a config, grouped by what they are for. */
import type { BootstrapFile } from '../../openshift/bootstrap/bootstrap-file.ts'
import {
  explainFile,
  type FileExplanation,
  type FileGroup,
  fileGroups,
} from '../../openshift/bootstrap/explain-files.ts'
import type { Inspection } from '../../openshift/bootstrap/inspection.ts'
import { count, formatBytes } from './quantities.ts'
import { tableLines } from './table.ts'

export interface ExplainedFile {
  readonly file: BootstrapFile
  readonly explanation: FileExplanation
}

export function explainedFiles({ bootstrap }: Inspection): ReadonlyMap<FileGroup, readonly ExplainedFile[]> {
  const { files, manifests } = bootstrap
  const held = Map.groupBy(manifests, ({ path }) => path)
  const explain = ({ path }: BootstrapFile) => explainFile(path, held.get(path) ?? [])
  const all = [...files.values()].map((file) => ({ file, explanation: explain(file) }))
  const sorted = all.toSorted((one, other) => (one.file.path < other.file.path ? -1 : 1))
  const groups = Map.groupBy(sorted, ({ explanation }) => explanation.group)
  return new Map(
    fileGroups.flatMap((group) => [[group, groups.get(group) ?? []] as const]).filter(([, own]) => own.length > 0),
  )
}

/** Every file with mode, size and purpose. */
export function renderFiles(inspection: Inspection): string {
  const groups = [...explainedFiles(inspection)]
  if (groups.length === 0) return 'no files\n'
  return groups.map(([group, files]) => `${headOf(group, files)}\n${rowsOf(files)}`).join('\n')
}

/** The same, but of keys and certificates how many there are. */
export function renderFileOverview(inspection: Inspection): string {
  const groups = [...explainedFiles(inspection)]
  if (groups.length === 0) return ''
  const parts = groups.map(([group, files]) => {
    const own = group === 'tls' ? files.filter(({ explanation }) => explanation.isAdded) : files
    const note = group === 'tls' ? ' (--files and --certificates list them)' : ''
    return `${headOf(group, files)}${note}\n${rowsOf(own)}`
  })
  return parts.join('\n')
}

function headOf(group: FileGroup, files: readonly ExplainedFile[]): string {
  const bytes = files.reduce((sum, { file }) => sum + file.sizeBytes, 0)
  return `${group}: ${count(files.length, 'file')}, ${formatBytes(bytes)}`
}

/** From so many files on, their folder is named once, above them. */
const manyInAFolder = 3

function rowsOf(files: readonly ExplainedFile[]): string {
  const folders = [...Map.groupBy(files, ({ file }) => file.path.slice(0, file.path.lastIndexOf('/') + 1))]
  const few = folders.filter(([, own]) => own.length < manyInAFolder).flatMap(([, own]) => own)
  const many = folders.filter(([, own]) => own.length >= manyInAFolder)
  return `${linesOf('', few)}${many.map(([folder, own]) => `  ${folder}\n${linesOf(folder, own)}`).join('')}`
}

function linesOf(folder: string, files: readonly ExplainedFile[]): string {
  const rows = files.map(({ file, explanation }) => [
    file.mode.toString(8).padStart(4, '0'),
    formatBytes(file.sizeBytes),
    file.path.slice(folder.length),
    `${file.flaw ?? explanation.text}${file.isAppended ? '; added to the one of the system' : ''}`,
  ])
  const columns = [{ title: '' }, { title: '', isRight: true }, { title: '' }, { title: '' }]
  const lines = tableLines(columns, rows, folder === '' ? '  ' : '    ').slice(1)
  return lines.map((line) => `${line}\n`).join('')
}
