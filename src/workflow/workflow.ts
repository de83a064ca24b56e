import { z } from 'zod'
import type { Finding } from '../errors/finding.ts'
import { KnownError } from '../errors/known-error.ts'
import type { Json, Phase, StepOutline } from '../journal/events.ts'
import {
  defaultPolicy,
  type Outputs,
  type StepContext,
  type StepDefinition,
  type StepExpectation,
  type StepPolicy,
  type UndoHandler,
} from './step.ts'

/** A step with its place in a workflow, its types erased: what the engine runs. */
export interface WorkflowStep {
  readonly outline: StepOutline
  readonly policy: StepPolicy
  /** In the digest of the inputs: definition and version, or the text of a script. */
  readonly identity: Json
  /** True where what it reads is not declared (SHARED_DIR): a step before it that ran again makes its success stale. */
  readonly readsEverything: boolean
  /**
   * What it is given. Pure.
   *
   * @throws KnownError STEP_INPUT where a step before has not given what this one needs
   */
  input(outputs: Outputs): Json
  /** Files whose bytes belong to the input. */
  files?(input: Json): readonly string[]
  check?(input: Json, context: StepContext): Promise<Json | undefined>
  apply(input: Json, context: StepContext): Promise<Json>
  verify?(input: Json, output: Json, context: StepContext): Promise<readonly Finding[]>
  holds?(input: Json, output: Json, context: StepContext): Promise<boolean>
  /** @param input undefined where a step before has yet to give it */
  expect?(input: Json | undefined): Promise<StepExpectation>
  readonly secretOutput: readonly string[]
  /** Of what it may record to be taken away. Default: nobody can tell. */
  readonly undoKinds?: readonly string[]
  /** Why it is no part of this run. */
  readonly skipWhy?: string
}

/** Runs beside `pre` and `test`; what comes of it fails nothing. */
export interface WorkflowObserver {
  readonly name: string
  /** Between the request to end and the end. Default: as of steps. */
  readonly graceMs?: number
  run(context: StepContext): Promise<void>
}

export type TeardownPolicy = 'never' | 'on-success' | 'always'

export interface Workflow {
  readonly name: string
  /** In the order in which they run: all of `pre`, of `test`, of `post`. */
  readonly steps: readonly WorkflowStep[]
  readonly observers: readonly WorkflowObserver[]
  readonly undo: Readonly<Record<string, UndoHandler>>
  /** Where nothing else is asked for. */
  readonly teardown: TeardownPolicy
  /** Names of what no two runs may use at a time. */
  readonly leases: readonly string[]
}

export interface StepPlace<Input> {
  readonly id: string
  readonly phase: Phase
  readonly groups?: readonly string[]
  readonly policy?: Partial<StepPolicy>
  /** From what the steps before gave. */
  readonly input: (outputs: OutputReader) => Input
  readonly files?: (input: Input) => readonly string[]
}

/** The output of a step before, as its schema has it. */
export type OutputReader = <Output>(step: string, schema: z.ZodType<Output>) => Output

/** A typed step in its place. */
export function placeStep<Input, Output>(
  definition: StepDefinition<Input, Output>,
  place: StepPlace<Input>,
): WorkflowStep {
  const { check, verify, holds, expect, where, secretOutput = [] } = definition
  const { id, phase, groups = [], files } = place
  const readInput = (input: Json) =>
    parseWith(definition.input, input, { code: 'STEP_INPUT', what: `the input of ${id}` })
  const readOutput = (output: unknown) =>
    parseWith(definition.output, output, { code: 'STEP_OUTPUT', what: `the output of ${id}` })
  return {
    outline: { id, title: definition.title, phase, groups, ...(where !== undefined && { where }) },
    policy: { ...defaultPolicy, ...definition.policy, ...place.policy },
    identity: { id, version: definition.version },
    readsEverything: false,
    secretOutput,
    undoKinds: Object.keys(definition.undo ?? {}),
    ...(expect && {
      expect: (input: Json | undefined) => expect(input === undefined ? undefined : readInput(input)),
    }),
    input: (outputs) => toJson(readInput(toJson(place.input(readerOf(outputs, id))))),
    ...(files && { files: (input: Json) => files(readInput(input)) }),
    ...(check && {
      check: async (input: Json, context: StepContext) => {
        const output = await check(readInput(input), context)
        return output === undefined ? undefined : toJson(readOutput(output))
      },
    }),
    apply: async (input, context) => toJson(readOutput(await definition.apply(readInput(input), context))),
    ...(verify && {
      verify: (input: Json, output: Json, context: StepContext) =>
        verify(readInput(input), readOutput(output), context),
    }),
    ...(holds && {
      holds: (input: Json, output: Json, context: StepContext) => holds(readInput(input), output, context),
    }),
  }
}

function readerOf(outputs: Outputs, reader: string): OutputReader {
  return (step, schema) => {
    const output = outputs(step)
    if (output === undefined) {
      throw new KnownError('STEP_INPUT', `${reader} needs what ${step} gives, and ${step} has not succeeded`, {
        hint: `Run it: sallyport resume --rerun ${step}. What is skipped, or done by hand, gives nothing to others.`,
        details: { step: reader, needs: step },
      })
    }
    return parseWith(schema, output, { code: 'STEP_INPUT', what: `what ${step} gave to ${reader}` })
  }
}

function parseWith<Value>(
  schema: z.ZodType<Value>,
  value: unknown,
  { code, what }: { readonly code: 'STEP_INPUT' | 'STEP_OUTPUT'; readonly what: string },
): Value {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new KnownError(code, `${what} is not as declared: ${z.prettifyError(parsed.error)}`)
}

/** Without `undefined`, which JSON does not know. */
function toJson(value: unknown): Json {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as Json)
}

/**
 * The step with this id, or the only one whose id ends with it.
 *
 * @throws KnownError STEP_UNKNOWN
 */
export function findStep(workflow: Workflow, wanted: string): WorkflowStep {
  const ids = workflow.steps.map(({ outline }) => outline.id)
  const exact = workflow.steps.find(({ outline }) => outline.id === wanted)
  if (exact) return exact
  const close = workflow.steps.filter(({ outline }) => outline.id.endsWith(`/${wanted}`))
  const [only] = close
  if (only && close.length === 1) return only
  const why = close.length > 1 ? `${wanted} is the name of ${close.length} steps` : `There is no step ${wanted}`
  throw new KnownError('STEP_UNKNOWN', why, {
    details: { step: wanted },
    hint: `The steps are ${(close.length > 1 ? close.map(({ outline }) => outline.id) : ids).join(', ')}.`,
  })
}
