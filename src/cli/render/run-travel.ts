/** What is printed on both sides of the gap: the lines of a transfer checklist. */
import type { ExportedRun } from '../../flows/run-travel/export-run.ts'
import type { ImportedRun } from '../../flows/run-travel/import-run.ts'
import { count, formatBytes } from './quantities.ts'

export function renderExport(exported: ExportedRun & { readonly run: string }): string {
  const { run, file, sizeBytes, digest, files, missingSecrets, sealedSecrets, leftOut, hasShared } = exported
  return `${[
    `exported: run ${run} to ${file}: ${count(files, 'file')}, ${formatBytes(sizeBytes)}`,
    `  digest: ${digest}`,
    ...(sealedSecrets.length > 0 ? [`  sealed in it: ${sealedSecrets.join(', ')}`] : []),
    ...(missingSecrets.length > 0 ? [`  secrets that stay here: ${missingSecrets.join(', ')}`] : []),
    ...(hasShared ? ['  scripts left files for each other in it, perhaps secrets: carry it as one'] : []),
    ...(leftOut.length > 0 ? [`  not in it, because they are no files: ${leftOut.join(', ')}`] : []),
    '  it does not go on here any more',
    `  next: carry the file across; there: sallyport run import FILE --digest ${digest}`,
  ].join('\n')}\n`
}

export function renderImport(
  imported: Omit<ImportedRun, 'directory'> & { readonly run: string; readonly directory: string },
): string {
  const { run, workflow, from, digest, files, directory, missingSecrets, hasSides } = imported
  return `${[
    `imported: run ${run} of ${workflow}, from ${from}: ${count(files, 'file')}, every byte as it was exported`,
    `  digest: ${digest}`,
    `  in ${directory}`,
    ...(missingSecrets.length > 0
      ? [
          `  secrets that did not travel: ${missingSecrets.join(', ')}`,
          '  a step that needs one will say so; put it, without a newline, into the file of its name in secrets/ of the run',
        ]
      : []),
    `  next: sallyport resume ${run}${hasSides ? ' --where bastion,closed' : ''}`,
  ].join('\n')}\n`
}
