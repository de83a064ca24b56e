import { defaultPolicy, type StepContext, type StepPolicy, type UndoHandler } from '../step.ts'
import { goDurationMs } from '../step-registry/go-duration.ts'
import type { LiteralStep, ResolvedStep, ResolvedWorkflow } from '../step-registry/model.ts'
import { undoCommandKind } from '../undo-request.ts'
import type { Workflow, WorkflowObserver, WorkflowStep } from '../workflow.ts'
import { imageOf } from './container-image.ts'
import type { RegistryRunOptions } from './run-options.ts'
import { givenVariables, type RegistryRun, wantedLeases } from './script-environment.ts'
import { ScriptRunner } from './script-run.ts'
import { scriptUndo } from './script-undo.ts'

/**
 * A workflow of a step registry as the engine runs it: scripts one after another, SHARED_DIR between them, and a teardown that
 * always runs (openshift/ci-tools: pkg/steps/multi_stage).
 */
export function registryWorkflow(resolved: ResolvedWorkflow, options: RegistryRunOptions): Workflow {
  const run: RegistryRun = { resolved, options }
  const runner = new ScriptRunner(run)
  const used = new Map<string, number>()
  const all = [...resolved.pre, ...resolved.test, ...resolved.post]
  const undo: Readonly<Record<string, UndoHandler>> = { [undoCommandKind]: scriptUndo(runner) }
  return {
    name: resolved.name,
    steps: all.map((step) => workflowStep(step, { id: nextId(step, used), run, runner })),
    observers: resolved.observers.map((observer) => workflowObserver(observer, runner)),
    undo,
    teardown: 'always',
    leases: leaseNames(run),
  }
}

/** Each once: a step may want the same one more than once. */
function leaseNames({ resolved, options }: RegistryRun): readonly string[] {
  const names = wantedLeases(resolved).flatMap(({ resource_type: type, env }) =>
    (options.leases?.[env] ?? '').split(/\s+/).flatMap((name) => (name === '' ? [] : [`${type}=${name}`])),
  )
  return [...new Set(names)]
}

/** The same step may stand in `pre` and in `post`. */
function nextId({ literal, phase }: ResolvedStep, used: Map<string, number>): string {
  const id = `${phase}/${literal.as}`
  const count = (used.get(id) ?? 0) + 1
  used.set(id, count)
  return count === 1 ? id : `${id}.${count}`
}

interface Placed {
  readonly id: string
  readonly run: RegistryRun
  readonly runner: ScriptRunner
}

function workflowStep({ literal, phase, chainPath }: ResolvedStep, { id, run, runner }: Placed): WorkflowStep {
  const { container } = run.options
  const policy = policyOf({ literal, phase }, run.resolved)
  return {
    outline: {
      id,
      title: literal.as,
      phase,
      groups: chainPath,
      ...(policy.ignoresFailure && { ignoresFailure: true }),
    },
    policy,
    identity: {
      script: literal.commands,
      isProgram: literal.run_as_script === true,
      variables: givenVariables(literal, run),
      image: container === undefined ? null : (imageOf(literal, container) ?? null),
    },
    readsEverything: true,
    secretOutput: [],
    input: () => null,
    async apply(_input, context: StepContext) {
      const use = literal.no_kubeconfig === true ? 'discarded' : 'kept'
      await runner.run({ literal, use, first: 'INT', attempt: String(context.attempt) }, context)
      return null
    },
  }
}

/**
 * Defaults are those of ci-operator, and of the engine: two hours, and 15 seconds of grace; also for a zero
 * (kubernetes/test-infra:prow/entrypoint/run.go `optionOrDefault`).
 */
function policyOf({ literal, phase }: Pick<ResolvedStep, 'literal' | 'phase'>, resolved: ResolvedWorkflow): StepPolicy {
  return {
    ...defaultPolicy,
    timeoutMs: goDurationMs(literal.timeout) || defaultPolicy.timeoutMs,
    graceMs: goDurationMs(literal.grace_period) || defaultPolicy.graceMs,
    ignoresFailure: literal.best_effort === true && resolved.allowBestEffortPostSteps,
    skipOnSuccess: phase === 'post' && literal.optional_on_success === true && resolved.allowSkipOnSuccess,
  }
}

function workflowObserver(literal: LiteralStep, runner: ScriptRunner): WorkflowObserver {
  const graceMs = goDurationMs(literal.grace_period) || defaultPolicy.graceMs
  return {
    name: literal.as,
    graceMs,
    run: (context) =>
      runner.run({ literal, use: 'discarded', first: 'TERM', attempt: `observing-${context.attempt}` }, context),
  }
}
