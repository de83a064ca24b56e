/**
 * The file in which a run travels: a tar whose first entry lists the others with size and SHA-256, and whose second proves the first.
 *
 * The same run gives the same bytes; only sealed secrets differ each time. Readable with tar, jq and sha256sum.
 */
import { createHash } from 'node:crypto'
import * as z from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { parsedJson } from '../../errors/parsed-json.ts'

/** Names of entries that are no files of the run. */
export const runFileNames = {
  manifest: 'sallyport-run.json',
  /** SHA-256 of the manifest, as sha256sum reads it. */
  manifestSum: 'sallyport-run.json.sha256',
  /** Where secrets travel. */
  sealed: 'secrets.sealed',
} as const

const RunFileEntry = z.object({
  name: z.string(),
  size: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Permission bits. */
  mode: z.number().int().min(0).max(0o777),
})
export type RunFileEntry = z.infer<typeof RunFileEntry>

/** Shown before anything proves it. */
const Shown = z.string().regex(/^\P{Cc}*$/u, 'it has control characters')

const RunManifest = z.object({
  format: z.literal(1),
  run: z.string().regex(/^\d{8}T\d{6}-[0-9a-f]+$/),
  workflow: Shown,
  /** The machine that it comes from. */
  host: Shown,
  entries: z.array(RunFileEntry),
  /** Names of all that the run made so far, whether they travel or not. */
  secrets: z.array(z.string()),
})
export type RunManifest = z.infer<typeof RunManifest>

const Newer = z.object({ format: z.int().min(2) })

export function manifestSum(manifest: Uint8Array | string): string {
  return `${createHash('sha256').update(manifest).digest('hex')}  ${runFileNames.manifest}\n`
}

/** @throws KnownError RUN_FILE_INVALID, JOURNAL_NEWER */
export function parseManifest(text: string, file: string): RunManifest {
  const json = parsedJson(text)
  const newer = Newer.safeParse(json)
  if (newer.success) {
    const { format } = newer.data
    throw new KnownError('JOURNAL_NEWER', `${file} has format ${format}; this version knows 1`, { details: { format } })
  }
  const parsed = RunManifest.safeParse(json)
  if (!parsed.success)
    throw invalidRunFile(file, `its list of contents is not as it should be: ${z.prettifyError(parsed.error)}`)
  const wrong = parsed.data.entries.find(({ name }) => !isPlainPath(name))
  if (wrong) throw invalidRunFile(file, `it lists ${JSON.stringify(wrong.name)}, which is no path within a run`)
  return parsed.data
}

export function invalidRunFile(file: string, why: string): KnownError {
  return new KnownError('RUN_FILE_INVALID', `${file} is no run that can be imported: ${why}`, { details: { file } })
}

/** False for everything that could lead out of the directory of the run, or to what belongs to this machine. */
function isPlainPath(name: string): boolean {
  const parts = name.split('/')
  const isOrdinary = parts.every((part) => part !== '' && part !== '.' && part !== '..') && !name.includes('\0')
  return isOrdinary && !isLeftBehind(name)
}

/**
 * What stays where it is: the lock, secrets (they travel sealed), content that travels in archives, a lab with its passwords, the
 * home of scripts with their logins.
 */
export function isLeftBehind(name: string): boolean {
  const [top = ''] = name.split('/')
  return /^(?:lock(?:\..*)?|secrets|work|lab|home|.*\.reserve|.*\.new)$/.test(top)
}
