/** What is allowed in a step registry, and goes wrong sooner or later. */
import type { FieldPath } from '../field-shape.ts'
import { type PlaceOf, placesInFiles } from '../file-places.ts'
import { phases, type ResolvedWorkflow } from '../model.ts'
import type { Registry, TestConfiguration, TestStep } from '../registry.ts'
import { examineWorkflow } from '../resolve-test.ts'
import { createPairs, lintCreated } from './create-destroy.ts'
import { type LintFinding, lintFinding } from './lint-finding.ts'
import { lintDefaults, lintWorkflowValues } from './parameter-conflict.ts'
import { type LintedStep, lintStep } from './step-rules.ts'

/** Everything of a registry, and every workflow of it as far as it resolves. One finding for one cause. */
export function lintRegistry(registry: Registry): readonly LintFinding[] {
  const workflows = [...registry.workflows.keys()].map((name) => examineWorkflow(registry, name).workflow)
  const pairs = createPairs(registry.references.keys())
  const placeOf = placesInFiles()
  return [
    ...lintedSteps(registry).flatMap((step) => lintStep(step, placeOf)),
    ...lintDefaults(registry, workflows),
    ...workflows.flatMap((workflow) => lintCreated(workflow, pairs, registry.workflows.get(workflow.name)?.file)),
    ...emptiedPosts(registry, placeOf),
  ]
}

/**
 * One workflow or test with the steps in it, such as one that is about to run.
 *
 * @param configuration what was resolved: with it, a `post` that a test has emptied is seen
 */
export function lintWorkflow(
  workflow: ResolvedWorkflow,
  registry: Registry,
  configuration?: TestConfiguration,
): readonly LintFinding[] {
  const file = registry.workflows.get(workflow.name)?.file
  const steps = [...workflow.pre, ...workflow.test, ...workflow.post]
  const chains = new Set(steps.flatMap(({ chainPath }) => chainPath))
  const files = new Set([file, ...[...chains].map((name) => registry.chains.get(name)?.file)])
  const names = new Set(steps.map(({ literal }) => literal.as))
  const placeOf = placesInFiles()
  const isMeant = (step: LintedStep) => names.has(step.name) && (step.path.length === 1 || files.has(step.file))
  return [
    ...lintedSteps(registry)
      .filter(isMeant)
      .flatMap((step) => lintStep(step, placeOf)),
    ...lintWorkflowValues(workflow, file),
    ...lintCreated(workflow, createPairs(registry.references.keys()), file),
    ...(configuration?.post?.length === 0 ? [emptiedPost(workflow.name)] : []),
  ]
}

function lintedSteps(registry: Registry): readonly LintedStep[] {
  const { references, chains, workflows, observers, hasScripts } = registry
  const written = (file: string, path: FieldPath, steps: readonly TestStep[] = []) =>
    steps.flatMap(({ literal, ref, chain }, index) =>
      // Fields beside `ref` and `chain` are a fault of their own.
      literal === undefined || ref !== undefined || chain !== undefined
        ? []
        : [{ name: literal.as, step: literal, file, path: [...path, index], hasScript: true }],
    )
  return [
    ...[...references.values()].map((one) => ({ ...one, path: ['ref'], hasScript: hasScripts })),
    ...[...observers.values()].map((one) => ({
      ...one,
      step: one.observer,
      path: ['observer'],
      hasScript: hasScripts,
    })),
    ...[...chains.values()].flatMap(({ file, steps }) => written(file, ['chain', 'steps'], steps)),
    ...[...workflows.values()].flatMap(({ file, steps }) =>
      phases.flatMap((phase) => written(file, ['workflow', 'steps', phase], steps[phase])),
    ),
  ]
}

/** A list that is there and empty. One that is left out says the same of a workflow, and nothing else of a test. */
function emptiedPosts({ workflows }: Registry, placeOf: PlaceOf): readonly LintFinding[] {
  const emptied = [...workflows.values()].filter(({ steps }) => steps.post?.length === 0)
  return emptied.map(({ name, file }) => emptiedPost(name, placeOf(file, ['workflow', 'steps', 'post'])))
}

function emptiedPost(name: string, where?: LintFinding['where']): LintFinding {
  return lintFinding('steps.post-emptied', {
    summary: `${name}: post is an empty list`,
    evidence: 'post: []',
    remedy: 'Leave it out. In a test, post: [] takes the whole teardown of its workflow away.',
    ...(where !== undefined && { where }),
  })
}
