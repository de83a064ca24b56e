/** Whether there is room for what the steps of a run expect to keep, told before it is begun. */
import type { Finding } from '../errors/finding.ts'
import { freeSpaceAt } from '../host/free-space.ts'
import { aimedSteps, type SessionAim } from '../workflow/aimed-steps.ts'
import type { Workflow } from '../workflow/workflow.ts'
import { formatBytes } from './render/quantities.ts'

/** A warning: what is expected is no more than that, and what a run finds there already is not written again. */
export async function diskShortage(runs: string, neededBytes: number): Promise<readonly Finding[]> {
  const { availableBytes } = await freeSpaceAt(runs)
  if (availableBytes === undefined || neededBytes <= availableBytes) return []
  const [needed, available] = [formatBytes(neededBytes), formatBytes(availableBytes)]
  return [
    {
      id: 'run.disk-short',
      severity: 'warning',
      summary: `The steps are expected to keep ${needed} in ${runs}, and its disk has ${available} free`,
      remedy: `Free at least ${formatBytes(neededBytes - availableBytes)} of that disk, or name a directory with ${needed} to spare with --runs DIR.`,
    },
  ]
}

/** What the steps of a new run expect to keep, as far as they can tell. */
export async function expectedDiskBytes(workflow: Workflow, aim: SessionAim): Promise<number> {
  const steps = aimedSteps(workflow, aim).filter(({ skipWhy }) => skipWhy === undefined)
  const expected = await Promise.all(steps.map((step) => step.expect?.(undefined)))
  return expected.reduce((sum, each) => sum + (each?.diskBytes ?? 0), 0)
}
