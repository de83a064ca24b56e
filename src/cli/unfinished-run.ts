import { KnownError } from '../errors/known-error.ts'
import { isSameDefinition, type RunDefinition, readDefinition } from '../flows/run-definition.ts'
import type { RunState } from '../journal/run-state.ts'
import { readRun, runIds } from '../workflow/known-runs.ts'
import { type RunDirectory, runDirectory } from '../workflow/run-directory.ts'
import { hasSucceeded, isTakenDown } from '../workflow/run-status.ts'

/** The last run of the same, where it is not over: one that succeeded is gone on with as long as what it made stands. */
export async function unfinishedRun(runs: string, definition: RunDefinition): Promise<RunDirectory | undefined> {
  for (const id of [...(await runIds(runs))].reverse()) {
    const directory = runDirectory(runs, id)
    const known = await readSame(directory, definition)
    if (known === undefined) continue
    const { state } = known
    // One that was exported is not over: whoever goes on here has to say so, or to begin another.
    if (state.exportedTo !== undefined) return directory
    return isTakenDown(state) || isFinished(state) ? undefined : directory
  }
  return undefined
}

function isFinished(state: RunState): boolean {
  const stands = [...state.undo.values()].some(({ status }) => status !== 'done')
  return state.session?.outcome === 'succeeded' && hasSucceeded(state) && !stands
}

/** undefined for a run of something else, and for one that cannot be read: it is in nobody's way. */
async function readSame(directory: RunDirectory, definition: RunDefinition) {
  try {
    const same = isSameDefinition(await readDefinition(directory), definition)
    return same ? await readRun(directory) : undefined
  } catch (error) {
    if (error instanceof KnownError) return undefined
    throw error
  }
}
