/** Logs of what is no step of a run, and prints all the same: undo records that were carried out, and observers. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { KnownError } from '../errors/known-error.ts'
import { ifThere } from '../store/presence.ts'
import type { RunDirectory } from '../workflow/run-directory.ts'
import type { ShownLog } from './shown-logs.ts'

/** `undo/3`, `observers/NAME`: as the directory of logs has them. */
export function isBesideStep(name: string): boolean {
  return /^(?:undo|observers)\/[^/]+$/.test(name)
}

/** @throws KnownError STEP_UNKNOWN */
export async function besideLog(
  { root, id }: RunDirectory,
  { name, attempt }: { readonly name: string; readonly attempt: number | undefined },
): Promise<ShownLog> {
  const numbers = ((await ifThere(readdir(join(root, 'logs', name)))) ?? [])
    .flatMap((file) => /^(\d+)\.log$/.exec(file)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
  const number = attempt === undefined ? numbers.at(-1) : numbers.find((each) => each === attempt)
  if (number === undefined) {
    throw new KnownError('STEP_UNKNOWN', `Run ${id} has no log of ${name}`, {
      hint: 'sallyport run show names what there is to take away, and what was observed; what was never tried has no log.',
    })
  }
  return { step: name, attempt: { number, log: `logs/${name}/${number}.log` } }
}
