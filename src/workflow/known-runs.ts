import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { RunState } from '../journal/run-state.ts'
import { ifThere } from '../store/presence.ts'
import { readJournal } from './journal-file.ts'
import { type RunDirectory, runDirectory } from './run-directory.ts'

/** A run as it lies in the directory of runs. */
export interface KnownRun {
  readonly directory: RunDirectory
  readonly state: RunState
}

/** Names of the runs that are in `runs`, oldest first. */
export async function runIds(runs: string): Promise<readonly string[]> {
  const entries = (await ifThere(readdir(runs, { withFileTypes: true }))) ?? []
  return entries
    .filter((entry) => entry.isDirectory() && /^\d{8}T\d{6}-/.test(entry.name))
    .map(({ name }) => name)
    .sort()
}

/**
 * The run of this name, or whose name begins so; without a name the last one that was begun.
 *
 * @throws KnownError RUN_UNKNOWN
 */
export async function findRun(runs: string, wanted: string | undefined): Promise<RunDirectory> {
  const ids = await runIds(runs)
  const isBegun = (id: string) => existsSync(runDirectory(runs, id).journal)
  const found = wanted === undefined ? [ids.findLast(isBegun)] : ids.filter((id) => id.startsWith(wanted))
  const [only] = found
  if (only !== undefined && found.length === 1) return runDirectory(runs, only)
  const what = wanted === undefined ? `There is no run in ${runs}` : `${found.length || 'No'} runs are called ${wanted}`
  throw new KnownError('RUN_UNKNOWN', what, { details: { runs, ...(wanted !== undefined && { run: wanted }) } })
}

/** @throws KnownError RUN_UNKNOWN, JOURNAL_CORRUPT, JOURNAL_NEWER, FILE_UNREADABLE for the run of another user */
export async function readRun(directory: RunDirectory): Promise<KnownRun> {
  try {
    return { directory, state: await readJournal(directory.journal) }
  } catch (error) {
    if (hasSystemCode(error, 'EACCES')) {
      const file = directory.journal
      throw new KnownError('FILE_UNREADABLE', `${file} cannot be read`, { details: { file }, cause: error })
    }
    if (!hasSystemCode(error, 'ENOENT')) throw error
    throw new KnownError('RUN_UNKNOWN', `${directory.root} has no journal: the run was never begun`, { cause: error })
  }
}
