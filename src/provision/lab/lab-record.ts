/** `lab.json` in the directory of a lab: what was chosen for it, so that making it again makes the same. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'

const file = 'lab.json'

const LabRecord = z.strictObject({
  version: z.literal(1),
  id: z.string(),
  subnet: z.int().min(0).max(511),
  mode: z.enum(['namespaces', 'loopback']),
})
export type LabRecord = z.infer<typeof LabRecord>

/** Undefined where no lab was made there. @throws KnownError LAB_FAILED */
export async function readLabRecord(directory: string): Promise<LabRecord | undefined> {
  const path = join(directory, file)
  try {
    return LabRecord.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (cause) {
    if (hasSystemCode(cause, 'ENOENT', 'ENOTDIR')) return undefined
    throw new KnownError('LAB_FAILED', `${path} does not say which lab is there`, {
      cause,
      hint: 'Tear the lab down, and begin anew.',
    })
  }
}

export async function writeLabRecord(directory: string, record: LabRecord): Promise<void> {
  await writeFile(join(directory, file), `${JSON.stringify(record, undefined, 2)}\n`, { mode: 0o600 })
}
