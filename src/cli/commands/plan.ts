import type { Command } from 'commander'
import { readTextFile } from '../../config/yaml-document.ts'
import { compareWithTarget } from '../../mirror/compare-with-target.ts'
import { formatMirrorTarget, parseMirrorTarget } from '../../mirror/destination.ts'
import type { MirrorPlan } from '../../mirror/plan.ts'
import { diffPlans } from '../../mirror/plan-diff.ts'
import { parsePlan } from '../../mirror/plan-file.ts'
import { summarisePlan } from '../../mirror/plan-summary.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { readCount } from '../flag-values.ts'
import { type AccessOptions, addAccessOptions, openRegistries } from '../registry-access.ts'
import { renderPlanDiff, renderPlanSummary, renderTargetComparison } from '../render/plan.ts'
import { definePlanWorkflow } from './plan-workflow.ts'

interface DiffOptions extends AccessOptions {
  exitCode?: boolean
}

const showExamples = `
Examples:
  sallyport mirror -c isc.yaml --plan-only plan.json docker://registry.lab:8443/ocp
  sallyport plan show plan.json
  sallyport plan show plan.json --largest 50 --json`

const diffExamples = `
Images are compared by their names below the target, so that plans for different targets, or for an archive, compare.
Exit status: 0; with --exit-code 1 where something differs. 78 where a plan does not load.

Examples:
  sallyport plan diff last-month.json plan.json
  sallyport plan diff plan.json docker://registry.lab:8443/ocp`

export function define(command: Command, host: CommandHost): void {
  command.description(
    'What a workflow would do; or, with show and diff, what is in plans that sallyport mirror --plan-only wrote.',
  )
  definePlanWorkflow(command, host)
  defineShow(command.command('show'), host)
  defineDiff(command.command('diff'), host)
}

function defineShow(command: Command, host: CommandHost): void {
  command
    .summary('what a plan comes to: totals, largest blobs, and why they are wanted')
    .description('Checks a plan, and tells what it comes to: totals, largest blobs, and why they are wanted.')
    .argument('<plan>', 'file written by mirror --plan-only')
    .option('--largest <count>', 'how many of the largest blobs to name', readCount(0), 10)
    .addHelpText('after', showExamples)
    .action(async (file: string, { largest }: { largest: number }) => {
      const context = host.context()
      const summary = summarisePlan(await loadPlan(file), largest)
      context.stdout(context.json ? `${JSON.stringify(summary)}\n` : renderPlanSummary(summary))
      host.done(0)
    })
}

function defineDiff(command: Command, host: CommandHost): void {
  command
    .summary('what differs between two plans, or between a plan and a target')
    .description('What differs between two plans: images, blobs, bytes; or what of a plan a target holds.')
    .argument('<plan>', 'file written by mirror --plan-only')
    .argument('<other>', 'a later plan, or docker://HOST[:PORT]/PATH')
    .option('--exit-code', 'end with 1 where something differs')
  addAccessOptions(command)
    .addHelpText('after', diffExamples)
    .action(async (file: string, other: string, options: DiffOptions) => {
      const context = host.context()
      const plan = await loadPlan(file)
      const isSame = other.startsWith('docker://')
        ? await diffWithTarget(plan, other, { options, context })
        : await diffWithPlan(plan, other, context)
      host.done(options.exitCode && !isSame ? 1 : 0)
    })
}

async function loadPlan(file: string): Promise<MirrorPlan> {
  return parsePlan(await readTextFile(file), file)
}

async function diffWithPlan(plan: MirrorPlan, other: string, { json, stdout }: CliContext): Promise<boolean> {
  const diff = diffPlans(plan, await loadPlan(other))
  stdout(json ? `${JSON.stringify(diff)}\n` : renderPlanDiff(diff))
  const { images, blobs } = diff
  return [images.added, images.removed, images.changed, blobs.added, blobs.removed].every((list) => list.length === 0)
}

async function diffWithTarget(
  plan: MirrorPlan,
  destination: string,
  { options, context }: { options: DiffOptions; context: CliContext },
): Promise<boolean> {
  const { json, stdout, signal } = context
  const target = parseMirrorTarget(destination)
  const { target: registry, close } = await openRegistries(options, context)
  try {
    await registry.ping(formatMirrorTarget(target), signal)
    const comparison = await compareWithTarget(plan, { target, registry, signal })
    stdout(json ? `${JSON.stringify(comparison)}\n` : renderTargetComparison(comparison))
    return comparison.images.missing.length + comparison.images.differing.length === 0
  } finally {
    close()
  }
}
