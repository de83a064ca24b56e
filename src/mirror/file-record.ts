/**
 * The files that were selected in a workspace, with where their bytes are: an archive that is gone on with, and a plan that
 * is carried out, name only digests.
 */
import { join } from 'node:path'
import * as z from 'zod'
import { digestText } from '../oci/digest-text.ts'
import type { FileInArtifact } from '../oci/file-artifact.ts'
import { formatReference, parseReference, type Reference } from '../oci/reference.ts'
import { readIfPresent, type Workspace, writeIfChanged } from './workspace.ts'

export interface RecordedFile extends Omit<FileInArtifact, 'url'> {
  /** At the registry of made images. */
  readonly reference: Reference
  /** Where it is: `http:`, `https:`, or `file:`. */
  readonly url: URL
}

const FileRecord = z.object({
  version: z.literal(1),
  files: z.array(
    z.object({
      reference: z.string(),
      name: z.string(),
      digest: digestText(),
      size: z.number().int().nonnegative(),
      url: z.url(),
    }),
  ),
})

/** Enough for the plans that people keep; what is older is only described again. */
const most = 1000

function recordPath({ state }: Workspace): string {
  return join(state, 'files.json')
}

/** The latest first. */
export async function readRecordedFiles(workspace: Workspace): Promise<readonly RecordedFile[]> {
  const text = await readIfPresent(recordPath(workspace))
  if (text === undefined) return []
  try {
    const { files } = FileRecord.parse(JSON.parse(text))
    return files.map(({ reference, url, ...file }) => ({
      ...file,
      reference: parseReference(reference),
      url: new URL(url),
    }))
  } catch (error) {
    // Written anew by the next run.
    if (error instanceof SyntaxError || error instanceof z.ZodError) return []
    throw error
  }
}

export async function recordFiles(workspace: Workspace, files: readonly RecordedFile[]): Promise<void> {
  const all = [...files, ...(await readRecordedFiles(workspace))]
  const distinct = new Map<string, object>()
  for (const { reference, name, digest, size, url } of all) {
    const key = `${formatReference(reference)} ${digest}`
    const entry = { reference: formatReference(reference), name, digest, size, url: url.href }
    if (!distinct.has(key) && distinct.size < most) distinct.set(key, entry)
  }
  const record = { version: 1, files: [...distinct.values()] }
  await writeIfChanged(recordPath(workspace), `${JSON.stringify(record)}\n`)
}
