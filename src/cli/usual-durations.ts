import { KnownError } from '../errors/known-error.ts'
import { readRun, runIds } from '../workflow/known-runs.ts'
import { runDirectory } from '../workflow/run-directory.ts'

/** So many runs say what is usual; more would only cost time. */
const lookedAt = 10

/** Milliseconds that each step of a workflow took in earlier runs here: the median of its successes. */
export async function usualDurations(runs: string, workflow: string): Promise<ReadonlyMap<string, number>> {
  const durations = new Map<string, number[]>()
  for (const id of (await runIds(runs)).slice(-lookedAt)) {
    const state = await readRun(runDirectory(runs, id)).then(
      (run) => run.state,
      (error: unknown) => {
        // What cannot be read has nothing to say here; whoever asks for that run hears of it.
        if (error instanceof KnownError) return undefined
        throw error
      },
    )
    if (state?.workflow !== workflow) continue
    for (const [step, { attempts }] of state.steps) {
      for (const { status, startedAt, endedAt, note } of attempts) {
        if (status !== 'succeeded' || endedAt === undefined || note !== undefined) continue
        durations.set(step, [...(durations.get(step) ?? []), endedAt - startedAt])
      }
    }
  }
  return new Map([...durations].map(([step, each]) => [step, median(each)]))
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor((sorted.length - 1) / 2)
  return ((sorted[middle] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2
}
