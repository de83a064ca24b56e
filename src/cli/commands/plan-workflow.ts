/** `plan WORKFLOW`, and `run WORKFLOW --dry-run`: what would be done, why, and with which values. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { type Finding, finding } from '../../errors/finding.ts'
import { type OpenedDefinition, openDefinition } from '../../flows/run-definition.ts'
import { emptyRunState } from '../../journal/fold.ts'
import type { RunState } from '../../journal/run-state.ts'
import { writeStaged } from '../../store/staged-write.ts'
import { InputDigests } from '../../workflow/input-digest.ts'
import { readRun } from '../../workflow/known-runs.ts'
import { planRun } from '../../workflow/plan-run.ts'
import type { RunDirectory } from '../../workflow/run-directory.ts'
import { openSecretStore } from '../../workflow/secret-store.ts'
import { drawSteps } from '../../workflow/step-registry/draw/svg.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { diskShortage } from '../disk-shortage.ts'
import { runElsewhere } from '../exported-run.ts'
import { type PlanView, planDrawing, renderRunPlan, viewPlan } from '../render/run-plan.ts'
import { addStepOptions, readSessionRequest, type StepOptions } from '../run-options.ts'
import { addSourceOptions, defineRun, type SourceOptions } from '../run-source.ts'
import { addRunsOption, type RunsOption, runsDirectory, runsFlag } from '../runs-option.ts'
import { unfinishedRun } from '../unfinished-run.ts'
import { usualDurations } from '../usual-durations.ts'

export interface PlanWorkflowOptions extends RunsOption, StepOptions, SourceOptions {
  readonly new?: boolean
  readonly graph?: string
  readonly verbose?: boolean
}

const details = `
With WORKFLOW: the steps in their order, which of them would be run and why, and each value with who decided it. Nothing is done.

Examples:
  sallyport plan ipi-aws --registry ci-operator/step-registry --env COMPUTE_NODE_REPLICAS=2
  sallyport plan disconnected -f sallyport.yaml --where connected --graph plan.svg`

export function definePlanWorkflow(command: Command, host: CommandHost): void {
  command.argument('<workflow>', 'disconnected, or the name of a workflow of the registry')
  addRunsOption(addStepOptions(addSourceOptions(command)))
    .option('--new', 'as if no earlier run could go on')
    .option('--graph <file>', 'draw it, as SVG')
    .option('--verbose', 'of disconnected: each value under each step that goes by it')
    .addHelpText('after', details)
    .action(async (workflow: string, options: PlanWorkflowOptions) => {
      host.done(await planWorkflow(workflow, options, host.context()))
    })
}

/** @returns the exit status: 1 where something is missing without which it would fail */
export async function planWorkflow(
  workflow: string,
  options: PlanWorkflowOptions,
  context: CliContext,
): Promise<number> {
  const runs = runsDirectory(options, context)
  const definition = await defineRun(workflow, options, context)
  const opened = await openDefinition(definition, context)
  const directory = options.new ? undefined : await unfinishedRun(runs, definition)
  const usualMs = await usualDurations(runs, opened.workflow.name)
  const view = await withShortage(await planOf({ opened, directory, options, usualMs }), runs)
  if (options.graph !== undefined) {
    const svg = drawSteps(planDrawing(view))
    await writeStaged(resolve(context.cwd, options.graph), (file) => file.writeFile(svg))
  }
  const isShort = definition.kind === 'disconnected' && options.verbose !== true
  context.stdout(context.json ? `${JSON.stringify(view)}\n` : renderRunPlan(view, { isShort }))
  return view.findings.some(({ severity }) => severity === 'error') ? 1 : 0
}

async function withShortage(view: PlanView, runs: string): Promise<PlanView> {
  return { ...view, findings: [...view.findings, ...(await diskShortage(runs, view.expected.diskBytes ?? 0))] }
}

/** `run` refuses to go on with one that was exported. */
function exportedFindings(state: RunState, options: RunsOption): readonly Finding[] {
  const refusal = runElsewhere(state, { runsFlag: runsFlag(options) })
  if (refusal === undefined) return []
  const { message: summary, hint: remedy } = refusal
  return [finding({ id: 'run.exported', severity: 'error', summary, remedy })]
}

interface PlanParts {
  readonly opened: OpenedDefinition
  readonly directory: RunDirectory | undefined
  readonly options: PlanWorkflowOptions
  readonly usualMs: ReadonlyMap<string, number>
}

async function planOf({ opened, directory, options, usualMs }: PlanParts): Promise<PlanView> {
  const { workflow } = opened
  const teardown = options.teardown ?? (opened.asksTeardown ? 'ask' : undefined)
  const request = {
    ...readSessionRequest(options, workflow),
    ...(teardown !== undefined && { teardown: teardown === 'ask' ? ('never' as const) : teardown }),
  }
  const state = directory === undefined ? emptyRunState() : (await readRun(directory)).state
  // Before the plan, which goes on with the state in memory.
  const exported = exportedFindings(state, options)
  const temporary = directory === undefined ? await mkdtemp(join(tmpdir(), 'sallyport-plan-')) : undefined
  try {
    const store = await openSecretStore(directory?.secrets ?? join(temporary ?? '', 'secrets'), opened.secrets)
    const leaves = await planRun(workflow, state, { request, digests: new InputDigests(store) })
    const findings = [...exported, ...(await opened.preflight(request))]
    return viewPlan(leaves, { opened, run: directory?.id, usualMs, findings })
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
  }
}
