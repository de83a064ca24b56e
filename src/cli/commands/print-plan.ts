import { writeFile } from 'node:fs/promises'
import type { MirrorPlan } from '../../mirror/plan.ts'
import { planLines } from '../../mirror/plan-file.ts'
import type { CliContext } from '../context.ts'

/** @param place a file, or true for standard output */
export async function printPlan(plan: MirrorPlan, place: string | true, { stdout }: CliContext): Promise<void> {
  if (typeof place === 'string') await writeFile(place, planLines(plan))
  else for (const piece of planLines(plan)) stdout(piece)
}
