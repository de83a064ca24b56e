import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { randomId } from '../host/random.ts'
import { diskError } from '../store/disk.ts'

/** Where the things of one run lie. */
export interface RunDirectory {
  readonly id: string
  readonly root: string
  readonly journal: string
  /** What the run is made from, so that it can be gone on with, and taken down, from this directory alone. */
  readonly definition: string
  readonly lock: string
  readonly shared: string
  readonly secrets: string
  /** Where scripts leave undo records, until the journal has them. */
  readonly undoInbox: string
}

export function runDirectory(runs: string, id: string): RunDirectory {
  const root = join(runs, id)
  return {
    id,
    root,
    journal: join(root, 'journal.jsonl'),
    definition: join(root, 'definition.json'),
    lock: join(root, 'lock'),
    shared: join(root, 'shared'),
    secrets: join(root, 'secrets'),
    undoInbox: join(root, 'undo'),
  }
}

/** Of this step alone. Ids are made of what names of files may be made of. */
export function stepPaths(
  { root }: RunDirectory,
  step: string,
): { readonly state: string; readonly artifacts: string } {
  return { state: join(root, 'state', step), artifacts: join(root, 'artifacts', step) }
}

/** In the directory of the run. */
export function logPath(step: string, attempt: number): string {
  return `logs/${step}/${attempt}.log`
}

/** Sorted by name they are sorted by time. */
export function newRunId(at: number): string {
  const time = new Date(at).toISOString().replace(/[-:]/g, '').replace(/\..*/, '')
  const milliseconds = (at % 1000).toString(16).padStart(3, '0')
  return `${time}-${milliseconds}${randomId().slice(0, 2)}`
}

/** @throws KnownError DISK_FULL */
export async function makeRunDirectory(directory: RunDirectory): Promise<void> {
  for (const path of [directory.root, directory.shared, directory.undoInbox]) {
    await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
      throw diskError(error, path)
    })
  }
}
