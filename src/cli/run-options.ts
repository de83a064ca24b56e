/** Which steps of a run are asked for, and what of its teardown. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { nearest } from '../config/nearest.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Site } from '../journal/events.ts'
import type { SessionRequest } from '../workflow/engine.ts'
import { findStep, type TeardownPolicy, type Workflow } from '../workflow/workflow.ts'
import { collect } from './repeated-values.ts'

export interface StepOptions {
  readonly from?: string
  readonly until?: string
  readonly only?: string
  readonly skip?: readonly string[]
  readonly rerun?: readonly string[]
  readonly withDownstream?: boolean
  readonly markDone?: readonly string[]
  readonly reason?: string
  readonly teardown?: TeardownPolicy | 'ask'
  readonly where?: readonly Site[]
}

/** Which steps, and what of the teardown. */
export function addStepOptions(command: Command): Command {
  return addWhereOption(command)
    .option('--from <step>', 'run this step and all after it again, whatever came of them before')
    .option('--until <step>', 'stop after this step')
    .option('--only <step>', 'run this step alone')
    .option('--skip <step>', 'count this step as done without running it; needs --reason; again for another', collect)
    .option('--rerun <step>', 'run this step again; again for another', collect)
    .option('--with-downstream', 'with --rerun: everything after it, too')
    .option('--mark-done <step>', 'you have done it by hand; needs --reason; again for another', collect)
    .option('--reason <why>', 'for the record, with your name')
    .addOption(
      new Option('--teardown <when>', 'whether what was made is taken down at the end').choices([
        'never',
        'on-success',
        'always',
        'ask',
      ]),
    )
}

export function addWhereOption(command: Command): Command {
  return command.option(
    '--where <site,...>',
    'sides of the gap that this machine is on: connected, bastion, closed (default: all)',
    readSites,
  )
}

/**
 * What the engine is asked for.
 *
 * @throws KnownError USAGE, STEP_UNKNOWN
 */
export function readSessionRequest(options: StepOptions, workflow: Workflow): Omit<SessionRequest, 'teardown'> {
  const { from, until, only, where, withDownstream } = options
  if (only !== undefined && (from ?? until) !== undefined) {
    throw new KnownError('USAGE', '--only is one step: it does not go with --from or --until')
  }
  if (withDownstream && options.rerun === undefined)
    throw new KnownError('USAGE', '--with-downstream goes with --rerun')
  const id = (wanted: string) => findNamedStep(workflow, wanted)
  const forward = (flag: string) => (wanted: string) => requireForward(workflow, { flag, step: id(wanted) })
  const rerun = (options.rerun ?? []).map(forward('--rerun'))
  const all = withDownstream ? downstream(workflow, rerun) : rerun
  const range = {
    ...(from !== undefined && { from: forward('--from')(from) }),
    ...(until !== undefined && { until: forward('--until')(until) }),
  }
  requireOrder(workflow, range)
  return {
    ...range,
    ...(only !== undefined && { only: forward('--only')(only) }),
    ...(where && { sites: new Set(where) }),
    rerun: all.map((step) => ({ step, why: options.reason ?? 'asked for with --rerun' })),
    skip: (options.skip ?? []).map((step) => ({ step: id(step), why: reasonFor('--skip', options) })),
    markDone: (options.markDone ?? []).map((step) => ({ step: id(step), why: reasonFor('--mark-done', options) })),
    asked: askedWords(options),
  }
}

/** Those of the teardown run when there is one, all of them. */
function requireForward({ steps }: Workflow, { flag, step }: { readonly flag: string; readonly step: string }): string {
  if (steps.find(({ outline }) => outline.id === step)?.outline.phase !== 'post') return step
  throw new KnownError('USAGE', `${flag} ${step}: it belongs to the teardown, which is run as a whole`, {
    hint: 'sallyport run teardown runs it; --skip leaves one of its steps out.',
    details: { step },
  })
}

function requireOrder({ steps }: Workflow, { from, until }: Pick<StepOptions, 'from' | 'until'>): void {
  const at = (step: string) => steps.findIndex(({ outline }) => outline.id === step)
  if (from === undefined || until === undefined || at(from) <= at(until)) return
  throw new KnownError('USAGE', `${from} comes after ${until}: there is nothing from the one until the other`)
}

function reasonFor(flag: string, { reason }: StepOptions): string {
  if (reason !== undefined && reason.trim() !== '') return reason
  throw new KnownError('USAGE', `${flag} needs --reason WHY: it stands in the record of the run, with your name`)
}

/** In the order of the workflow. */
function downstream(workflow: Workflow, steps: readonly string[]): readonly string[] {
  const ids = workflow.steps.filter(({ outline }) => outline.phase !== 'post').map(({ outline }) => outline.id)
  const first = Math.min(...steps.map((step) => ids.indexOf(step)).filter((index) => index >= 0), ids.length)
  return ids.slice(first)
}

/**
 * Its id.
 *
 * @throws KnownError STEP_UNKNOWN, with the name that was probably meant
 */
export function findNamedStep(workflow: Pick<Workflow, 'steps'>, wanted: string): string {
  try {
    return findStep(workflow as Workflow, wanted).outline.id
  } catch (error) {
    const ids = workflow.steps.map(({ outline }) => outline.id)
    const close = nearest(wanted, [...ids, ...ids.map((id) => id.slice(id.lastIndexOf('/') + 1))])
    if (!(error instanceof KnownError) || close === undefined) throw error
    throw new KnownError(error.code, error.message, { hint: `Did you mean ${close}?`, details: { ...error.details } })
  }
}

/** As the user wrote them, for the journal; of values with a name, which may be anything, the names alone. */
export function askedWords(options: Readonly<Record<string, unknown>> | StepOptions): readonly string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    if (value === undefined || value === false) return []
    if (value === true) return [flag]
    if (Array.isArray(value))
      return name === 'where' ? [`${flag} ${value.join(',')}`] : value.map((each) => `${flag} ${each}`)
    return typeof value === 'object' && value !== null
      ? Object.keys(value).map((each) => `${flag} ${each}`)
      : [`${flag} ${String(value)}`]
  })
}

const sites: readonly Site[] = ['connected', 'bastion', 'closed']

function readSites(text: string): readonly Site[] {
  return text.split(',').map((word) => {
    const site = sites.find((each) => each === word.trim())
    if (site === undefined) throw new InvalidArgumentError(`It has to be of ${sites.join(', ')}.`)
    return site
  })
}
