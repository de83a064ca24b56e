/** Whether Ignition would start from the config, and put every file of it on the disk. */
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import type { IgnitionConfig, Resource } from '../../ignition/config.ts'
import { inlineContents } from '../../ignition/contents.ts'
import type { IgnitionReportEntry } from '../../ignition/report.ts'
import { validateIgnition } from '../../ignition/validate.ts'

/** More of a kind are counted. */
const shown = 10

/** The verdict of `ignition-validate`, and what it does not look at: hashes, and files that are somewhere else. */
export function checkConfig(text: string, config: IgnitionConfig, fileName: string): readonly Finding[] {
  const verdict = checkIgnition(text, fileName)
  const isToldOfFiles = verdict.some(({ severity, summary }) => severity === 'error' && summary.includes(filesPath))
  const contents = checkContents(config, fileName)
  return [...verdict, ...contents.filter(({ id }) => !isToldOfFiles || id !== invalidId)]
}

const filesPath = '$.storage.files.'
const invalidId = 'ignition.invalid'

/** The verdict of `ignition-validate`. A config of specification 2.x is for hosts of 4.5 and before, whose rules are not known here. */
export function checkIgnition(text: string, fileName: string): readonly Finding[] {
  const { entries } = validateIgnition(text)
  const isOld = entries.some(({ path, severity }) => severity === 'info' && path === '$.ignition.version')
  if (isOld && /"version"\s*:\s*"2\./.test(text)) return []
  const told = entries.filter(({ severity }) => severity !== 'info')
  return told.slice(0, shown).map((entry) => entryFinding(entry, fileName, told.length))
}

function entryFinding(
  { severity, path, line, column, message }: IgnitionReportEntry,
  file: string,
  count: number,
): Finding {
  const isError = severity === 'error'
  const place = [file, line, column].filter((part) => part !== undefined).join(':')
  const more = count > shown ? `; ${count} entries in all` : ''
  return finding({
    id: isError ? invalidId : 'ignition.warning',
    severity,
    summary: isError
      ? `Ignition refuses the config, and the host stops at its first boot: ${message} at ${path}`
      : `Ignition goes on, with a warning: ${message} at ${path}`,
    evidence: `${place}${more}`,
    remedy: `sallyport ignition validate ${file} lists every entry with its place. Correct the patch that brought it, or make the config anew.`,
    where: { file, ...(line !== undefined && { line }), ...(column !== undefined && { column }) },
  })
}

/** Files whose bytes are not what the config says, and files whose bytes are somewhere else. */
function checkContents({ storage }: IgnitionConfig, fileName: string): readonly Finding[] {
  const resources = (storage?.files ?? []).flatMap((file) =>
    [file.contents, ...(file.append ?? [])].flatMap((resource) => (resource ? [{ path: file.path, resource }] : [])),
  )
  const elsewhere = resources.filter(({ resource }) => isElsewhere(resource))
  return [
    ...resources.flatMap(({ path, resource }) => brokenContents(path, resource, fileName)),
    ...(elsewhere.length === 0 ? [] : [remoteContents(elsewhere)]),
  ]
}

function brokenContents(path: string, resource: Resource, fileName: string): readonly Finding[] {
  const flaw = flawOf(resource, path)
  if (flaw === undefined) return []
  const { verification: _, ...unproven } = resource
  const isHash = flawOf(unproven, path) === undefined
  return [
    finding({
      id: isHash ? 'ignition.hash-mismatch' : invalidId,
      severity: 'error',
      summary: `Ignition stops the boot at ${path}: ${flaw.replace(`${path}: `, '')}`,
      evidence: `${fileName}: storage.files, ${path}`,
      remedy: isHash
        ? 'Somebody changed the contents, and not the hash: change both, or take verification out. The hash is of the bytes after decompression.'
        : 'Write the contents as a data URL of RFC 2397, with compression: gzip where it is: sallyport ignition patch FILE --file PATH=FILE.',
      where: { file: path },
    }),
  ]
}

function flawOf(resource: Resource, name: string): string | undefined {
  try {
    inlineContents(resource, name)
    return undefined
  } catch (error) {
    if (error instanceof KnownError) return error.message
    throw error
  }
}

function isElsewhere({ source }: Resource): boolean {
  return typeof source === 'string' && /^(?:https?|s3|gs|arn|tftp):/.test(source)
}

function remoteContents(files: readonly { readonly path: string; readonly resource: Resource }[]): Finding {
  const named = files.slice(0, 3).map(({ path, resource }) => `${path} from ${resource.source}`)
  return finding({
    id: 'rehearse.contents-elsewhere',
    severity: 'warning',
    summary: `${files.length} of the files are not in the config: Ignition fetches them at the first boot, and tries without end`,
    evidence: named.join('; '),
    remedy:
      'Put them into the config, or make sure that the host reaches their server: nothing of them is proven here.',
  })
}
