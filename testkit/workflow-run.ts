/** Workflows for tests of the engine, and what it needs of the world. */
import { join } from 'node:path'
import { z } from 'zod'
import { KnownError } from '../src/errors/known-error.ts'
import { systemClock } from '../src/host/clock.ts'
import type { Phase, Site } from '../src/journal/events.ts'
import type { RunSettings, SessionRequest } from '../src/workflow/engine.ts'
import type { StepContext, StepPolicy } from '../src/workflow/step.ts'
import { type OutputReader, placeStep, type Workflow, type WorkflowStep } from '../src/workflow/workflow.ts'

interface PlacedParts<Input> {
  readonly phase?: Phase
  readonly where?: Site
  readonly policy?: Partial<StepPolicy>
  readonly input?: z.ZodType<Input>
  readonly from?: (outputs: OutputReader) => Input
  readonly output?: z.ZodType<Record<string, unknown>>
  readonly secretOutput?: readonly string[]
  readonly holds?: () => Promise<boolean>
  readonly apply: (input: Input, context: StepContext) => Promise<Record<string, unknown>>
}

/** A step of a test in its place. */
export function placed<Input>(id: string, parts: PlacedParts<Input>): WorkflowStep {
  const { phase = 'pre', where, policy, input, from, output, secretOutput, holds, apply } = parts
  return placeStep<Input, Record<string, unknown>>(
    {
      title: id,
      version: 1,
      input: input ?? (z.any() as z.ZodType<Input>),
      output: output ?? z.record(z.string(), z.unknown()),
      ...(secretOutput && { secretOutput }),
      ...(where !== undefined && { where }),
      ...(holds && { holds }),
      apply,
    },
    { id, phase, ...(policy && { policy }), input: from ?? (() => ({}) as Input) },
  )
}

/**
 * Steps named `a`, `b!` (which fails), `c@post`: each adds its name and that of the one before it to `done`.
 *
 * @param marks in the input of the step of that name
 */
export function recordingWorkflow(
  done: string[],
  names: readonly string[],
  marks: Readonly<Record<string, string>> = {},
): Workflow {
  const steps = names.map((name, index) => {
    const id = name.replace(/[!@].*/, '')
    const isPost = name.includes('@post')
    const before = isPost ? undefined : names[index - 1]?.replace(/[!@].*/, '')
    const input = z.object({ mark: z.string(), before: z.object({ name: z.string(), mark: z.string() }).optional() })
    return placed(id, {
      phase: isPost ? 'post' : 'pre',
      input,
      from: (outputs) => ({
        mark: marks[id] ?? '',
        ...(before !== undefined && { before: outputs(before, z.object({ name: z.string(), mark: z.string() })) }),
      }),
      apply: async ({ mark, before: given }) => {
        done.push(given ? `${id}<-${given.name}` : id)
        if (name.includes('!')) throw new KnownError('STEP_FAILED', `${id} was made to fail`)
        return { name: id, mark }
      },
    })
  })
  return { name: 'recording', steps, observers: [], undo: {}, teardown: 'never', leases: [] }
}

/** The engine on this machine, for steps that start no programs. */
export function openRunSettings(runs: string, request: Partial<SessionRequest>): RunSettings {
  return {
    host: {
      clock: systemClock,
      processes: { run: () => Promise.reject(new Error('no programs here')) },
      endOrphans: () => Promise.resolve(0),
      machine: { host: 'here', pid: process.pid, user: 'tester' },
      version: '0.0.0',
      leases: join(runs, 'leases'),
    },
    request: { asked: [], ...request },
    secrets: () => Promise.resolve(undefined),
    signal: new AbortController().signal,
    leaving: new AbortController().signal,
  }
}
