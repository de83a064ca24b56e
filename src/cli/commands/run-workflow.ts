/** `run WORKFLOW`: begins a run, or goes on with the last one of the same that is not over. */
import type { Command } from 'commander'
import { type OpenedDefinition, openDefinition } from '../../flows/run-definition.ts'
import type { SessionAim } from '../../workflow/aimed-steps.ts'
import { newRunId, runDirectory } from '../../workflow/run-directory.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { diskShortage, expectedDiskBytes } from '../disk-shortage.ts'
import { renderFindings } from '../render/findings.ts'
import { count } from '../render/quantities.ts'
import { addStepOptions, readSessionRequest, type StepOptions } from '../run-options.ts'
import { runSession } from '../run-session.ts'
import { addSourceOptions, defineRun, type SourceOptions } from '../run-source.ts'
import { addRunsOption, type RunsOption, runsDirectory, runsFlag } from '../runs-option.ts'
import { unfinishedRun } from '../unfinished-run.ts'
import { planWorkflow } from './plan-workflow.ts'

interface Options extends RunsOption, StepOptions, SourceOptions {
  readonly new?: boolean
  readonly dryRun?: boolean
}

const details = `
Run the same command again after a failure, an interruption or a crash: it goes on where it stopped. What has succeeded, and has the
same inputs as before, is not run again. First Ctrl-C: the step is asked to end, and the teardown runs; second: everything ends at once.
Exit status: 0 where it succeeded, or has to go on at the other side of the gap; 1; 64; 78; 130 where it was interrupted.
Where things of a run lie, and how it travels: docs/runs.md.

Examples:
  sallyport run ipi-aws --registry ci-operator/step-registry --cluster-profile ~/aws --env COMPUTE_NODE_REPLICAS=2
  sallyport run ipi-aws --registry ci-operator/step-registry --until ipi-conf --teardown never
  sallyport run ipi-aws --registry ci-operator/step-registry --skip ipi-conf --reason 'done by hand'
  sallyport run disconnected -f sallyport.yaml --where connected`

export function define(command: Command, host: CommandHost): void {
  command
    .description('Runs a workflow: the built-in one (disconnected), or one of a step registry of openshift/release.')
    .argument('<workflow>', 'disconnected, or the name of a workflow of the registry')
  addRunsOption(addStepOptions(addSourceOptions(command)))
    .option('--new', 'begin anew, although an earlier run of the same could go on')
    .option('--dry-run', 'only say what would be done: the same as sallyport plan')
    .addHelpText('after', details)
    .action(async (workflow: string, options: Options) => {
      host.done(await run(workflow, options, host.context()))
    })
}

async function run(workflow: string, options: Options, context: CliContext): Promise<number> {
  if (options.dryRun) return planWorkflow(workflow, options, context)
  const runs = runsDirectory(options, context)
  const definition = await defineRun(workflow, options, context)
  const opened = await openDefinition(definition, context)
  const request = readSessionRequest(options, opened.workflow)
  const earlier = options.new ? undefined : await unfinishedRun(runs, definition)
  const directory = earlier ?? runDirectory(runs, newRunId(context.clock.now()))
  if (earlier === undefined && !(await isFit({ opened, aim: request, runs }, context))) return 1
  const what = earlier ? 'going on with run' : 'run'
  context.stderr(`${what} ${directory.id} of ${opened.workflow.name}, in ${directory.root}\n`)
  return runSession(
    { runs, runsFlag: runsFlag(options), directory, opened, request, teardown: options.teardown, isForced: false },
    context,
  )
}

interface NewRun {
  readonly opened: OpenedDefinition
  readonly aim: SessionAim
  readonly runs: string
}

/** Before anything is begun: what is missing now would fail a step in hours. */
async function isFit(
  { opened: { preflight, workflow }, aim, runs }: NewRun,
  { json, stdout, stderr }: CliContext,
): Promise<boolean> {
  const shortage = await diskShortage(runs, await expectedDiskBytes(workflow, aim))
  const findings = [...(await preflight(aim)), ...shortage]
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) {
    if (findings.length > 0) stderr(`${renderFindings(findings)}\n`)
    return true
  }
  const words = `not begun: ${count(errors.length, 'thing')} missing; nothing was run`
  stdout(json ? `${JSON.stringify({ status: 'not-begun', findings })}\n` : `${words}\n\n${renderFindings(findings)}`)
  return false
}
