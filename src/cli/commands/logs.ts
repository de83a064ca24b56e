/** `logs`: what steps printed; with -f as they print it, also while another process runs them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import type { RunState } from '../../journal/run-state.ts'
import { findRun, readRun } from '../../workflow/known-runs.ts'
import { type RunDirectory, runDirectory } from '../../workflow/run-directory.ts'
import type { Workflow, WorkflowStep } from '../../workflow/workflow.ts'
import { besideLog, isBesideStep } from '../beside-log.ts'
import type { CommandHost } from '../command-host.ts'
import type { CliContext } from '../context.ts'
import { readCount } from '../flag-values.ts'
import { followLogs } from '../follow-logs.ts'
import { LogReader } from '../log-reader.ts'
import { findNamedStep } from '../run-options.ts'
import { addRunsOption, type RunsOption, runsDirectory } from '../runs-option.ts'
import { allLogs, currentStep, logTitle, type ShownLog } from '../shown-logs.ts'

interface Options extends RunsOption {
  readonly follow?: boolean
  readonly attempt?: number
  readonly raw?: boolean
  readonly all?: boolean
}

const details = `
Without STEP: of the step that runs, or else of the one that failed, or else of the last one. Secrets are not in any log.

Examples:
  sallyport logs                              the last run, where it is
  sallyport logs -f                           follow it to its end
  sallyport logs 20261121T1600 mirror-images --attempt 1
  sallyport logs 20261121T1600 undo/3         what taking it away has printed; observers/NAME likewise
  sallyport logs --all --raw | grep -i error`

export function define(command: Command, host: CommandHost): void {
  command
    .description('Prints what the steps of a run have printed.')
    .argument('[run]', 'its name, or the beginning of it (default: the last one); of the last run, a step does, too')
    .argument('[step]', 'only of this step')
    .option('-f, --follow', 'go on until the step, or the run, has ended')
    .option('--attempt <n>', 'of this attempt (default: the last one)', readCount(1))
    .option('--all', 'of all steps and attempts, in their order')
    .option('--raw', 'as it was printed, without the time before each line')
  addRunsOption(command)
    .addHelpText('after', details)
    .action(async (run: string | undefined, step: string | undefined, options: Options) => {
      host.done(await logs({ run, step }, options, host.context()))
    })
}

interface Named {
  readonly run: string | undefined
  readonly step: string | undefined
}

async function logs(named: Named, options: Options, context: CliContext): Promise<number> {
  const { follow = false, raw = false, all = false, attempt } = options
  if (follow && context.json) throw new KnownError('USAGE', '--json prints one document: it does not go with --follow')
  if (all && named.step !== undefined) throw new KnownError('USAGE', '--all is of all steps: leave out the step')
  const { directory, step: wanted } = await place(named, runsDirectory(options, context))
  const { state } = await readRun(directory)
  if (wanted !== undefined && isBesideStep(wanted)) {
    const shown = await besideLog(directory, { name: wanted, attempt })
    if (context.json) context.stdout(`${JSON.stringify(await documentOf(directory, [shown]))}\n`)
    else await print(shown, { directory, raw, isOnly: true, context })
    return 0
  }
  const step = wanted === undefined ? undefined : findNamedStep(stepsOf(state), wanted)
  if (follow) {
    const from = all ? undefined : (step ?? currentStep(state))
    return followLogs({ directory, isBare: raw, from, only: step }, context)
  }
  const shown = all ? allLogs(state) : [oneLog(state, { step: step ?? currentStep(state), attempt })]
  if (context.json) context.stdout(`${JSON.stringify(await documentOf(directory, shown))}\n`)
  for (const log of context.json ? [] : shown) await print(log, { directory, raw, isOnly: shown.length === 1, context })
  return 0
}

/** `logs STEP` is what people try: where there is no such run, the word is a step of the last one. */
async function place(
  { run, step }: Named,
  runs: string,
): Promise<{ directory: RunDirectory; step: string | undefined }> {
  try {
    return { directory: await findRun(runs, run), step }
  } catch (error) {
    if (run === undefined || step !== undefined || !(error instanceof KnownError)) throw error
    const last = await findRun(runs, undefined).catch(() => undefined)
    if (last === undefined || /^\d{8}T/.test(run)) throw error
    return { directory: runDirectory(runs, last.id), step: run }
  }
}

function stepsOf({ steps }: RunState): Pick<Workflow, 'steps'> {
  return { steps: [...steps.values()].map(({ outline }) => ({ outline })) as unknown as readonly WorkflowStep[] }
}

/** @throws KnownError STEP_UNKNOWN where there is nothing to show */
function oneLog(
  state: RunState,
  { step, attempt: number }: { readonly step: string | undefined; readonly attempt: number | undefined },
): ShownLog {
  if (step === undefined) throw new KnownError('STEP_UNKNOWN', `No step of run ${state.run} has begun`)
  const attempts = state.steps.get(step)?.attempts ?? []
  const attempt = number === undefined ? attempts.at(-1) : attempts.find((each) => each.number === number)
  if (attempt !== undefined) return { step, attempt }
  const what = number === undefined ? `${step} has not begun` : `${step} has no attempt ${number}`
  throw new KnownError('STEP_UNKNOWN', what, { hint: `It has ${attempts.length}; --all shows what there is.` })
}

interface Printing {
  readonly directory: RunDirectory
  readonly raw: boolean
  readonly isOnly: boolean
  readonly context: Pick<CliContext, 'stdout'>
}

async function print({ step, attempt }: ShownLog, { directory, raw, isOnly, context }: Printing): Promise<void> {
  if (!isOnly && !raw) context.stdout(logTitle({ step, attempt }))
  const reader = new LogReader(join(directory.root, attempt.log), { isBare: raw })
  await reader.read(context.stdout, { isLast: true })
}

async function documentOf(directory: RunDirectory, shown: readonly ShownLog[]) {
  const logs = shown.map(async ({ step, attempt: { number, status, log } }) => {
    const file = join(directory.root, log)
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      if (hasSystemCode(error, 'ENOENT')) return ''
      throw error
    })
    return { step, attempt: number, status, file, text }
  })
  return { run: directory.id, logs: await Promise.all(logs) }
}
