import { basename } from 'node:path'

/**
 * The name of the only run in a directory of runs: another for each, because the processes of a run are found by its name, and a
 * second test at the same time would end those of the first.
 */
export function runNameIn(runs: string): string {
  return `20260101T000000-${basename(runs)}`
}
