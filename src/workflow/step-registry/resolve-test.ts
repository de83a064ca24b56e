/** A test or a workflow, resolved as ci-operator does, with what its resolver throws away. */
import { KnownError } from '../../errors/known-error.ts'
import { faultsOfName } from './faulty-files.ts'
import {
  emptyWorkflow,
  type LiteralStep,
  type ParameterOrigin,
  phases,
  type ResolvedWorkflow,
  type StepLease,
} from './model.ts'
import { type ParameterStack, type StackRecord, testRecord } from './parameter-stack.ts'
import type { Registry, TestConfiguration, TestStep } from './registry.ts'
import { decideParameters, resolvePhase, type StepResolver, withValue } from './resolve-steps.ts'
import { type StepError, stepErrorText } from './step-error.ts'
import { unusedErrors } from './unused-parameters.ts'

export interface Resolution {
  /** Without what could not be resolved. */
  readonly workflow: ResolvedWorkflow
  /** What was resolved: the test over its workflow. */
  readonly configuration: TestConfiguration
  /** None where all is well. */
  readonly errors: readonly StepError[]
}

/** A test of a ci-operator config. */
export interface NamedTest {
  readonly name: string
  readonly steps: TestConfiguration
}

export interface WorkflowOptions {
  /** Values from outside, above everything else. */
  readonly env?: Readonly<Record<string, string>>
  /** As a registry is checked: what only an observer takes is taken by no step (ci-tools: pkg/registry `Validate`). */
  readonly ofSteps?: boolean
}

/**
 * A workflow alone. Parameters may stay open: its tests give them.
 *
 * @throws KnownError STEPS_UNRESOLVED whose message has every error, a line each
 */
export function resolveWorkflow(registry: Registry, name: string, options: WorkflowOptions = {}): ResolvedWorkflow {
  return sound(registry, `workflow/${name}`, examineWorkflow(registry, name, options))
}

/** @throws KnownError STEPS_UNRESOLVED whose message has every error, a line each */
export function resolveTest(registry: Registry, test: NamedTest): ResolvedWorkflow {
  return sound(registry, `test/${test.name}`, examineTest(registry, test))
}

function sound(registry: Registry, name: string, { workflow, errors }: Resolution): ResolvedWorkflow {
  if (errors.length === 0) return workflow
  const missing = new Set(errors.flatMap(({ kind, subject }) => (kind === 'dangling' ? [subject] : [])))
  const faults = [...missing].flatMap((subject) => faultsOfName(registry, subject))
  const lines = [...errors.map(stepErrorText), ...faults]
  throw new KnownError('STEPS_UNRESOLVED', lines.join('\n'), { details: { name, errors: errors.length } })
}

/** Like {@link resolveWorkflow}, for those who want the errors as values. */
export function examineWorkflow(registry: Registry, name: string, { env, ofSteps }: WorkflowOptions = {}): Resolution {
  const steps = registry.workflows.get(name)?.steps
  if (steps === undefined) return unknownWorkflow(name, name)
  const origin = (parameter: string) =>
    env?.[parameter] === undefined ? { from: 'workflow' as const, by: name } : { from: 'test' as const, by: '--env' }
  const given = { ...steps, ...(env && { env: { ...steps.env, ...env } }) }
  const record = recordOf(given, { from: 'workflow', name, origin })
  return resolveConfiguration(registry, { name, steps, ofSteps }, { records: [record], isPartial: true })
}

/** Like {@link resolveTest}, for those who want the errors as values. */
export function examineTest(registry: Registry, { name, steps }: NamedTest): Resolution {
  const base = steps.workflow === undefined ? {} : registry.workflows.get(steps.workflow)?.steps
  if (base === undefined) return unknownWorkflow(name, steps.workflow ?? '')
  const merged = steps.workflow === undefined ? { configuration: steps, conflicts: [] } : mergeWorkflow(base, steps)
  if (merged.conflicts.length > 0) {
    const subject = merged.conflicts.join(' ')
    const message = `cannot override workflow environment variable for lease(s): [${subject}]`
    return { ...unknownWorkflow(name, ''), errors: [{ kind: 'lease', above: [], message, subject }] }
  }
  const origin = (parameter: string): Pick<ParameterOrigin, 'from' | 'by'> =>
    steps.workflow === undefined || Object.hasOwn(steps.env ?? {}, parameter)
      ? { from: 'test', by: name }
      : { from: 'workflow', by: steps.workflow }
  const records = [recordOf(merged.configuration, { from: 'test', name, origin })]
  if (steps.workflow !== undefined) records.push(testRecord('workflow', steps.workflow, {}))
  const replaced =
    steps.workflow === undefined ? [] : phases.flatMap((phase) => (steps[phase] ? [base[phase] ?? []] : []))
  return resolveConfiguration(registry, { name, steps: merged.configuration, replaced }, { records, isPartial: false })
}

interface RecordSource {
  readonly from: 'test' | 'workflow'
  readonly name: string
  readonly origin: StackRecord['origin']
}

function recordOf(steps: TestConfiguration, { from, name, origin }: RecordSource): StackRecord {
  const { env, dependencies, dnsConfig, node_architecture: nodeArchitecture } = steps
  return testRecord(from, name, { env, dependencies, dnsConfig, nodeArchitecture, ...(origin && { origin }) })
}

/** The test over the workflow: lists of steps are replaced, maps are merged, the rest is taken where the test has nothing. */
function mergeWorkflow(
  base: TestConfiguration,
  test: TestConfiguration,
): { readonly configuration: TestConfiguration; readonly conflicts: readonly string[] } {
  const leases = base.leases || test.leases ? mergeLeases(base.leases, test.leases) : undefined
  const maps = ['env', 'dependencies', 'dependency_overrides'] as const
  const merged = maps.flatMap((name) =>
    base[name] || test[name] ? [[name, { ...base[name], ...test[name] }] as const] : [],
  )
  const { node_architecture_overrides: _, ...inherited } = base
  const configuration = {
    ...inherited,
    ...test,
    ...(!test.cluster_profile && base.cluster_profile && { cluster_profile: base.cluster_profile }),
    ...Object.fromEntries(merged),
    ...(leases && { leases: leases.all }),
  }
  return { configuration, conflicts: leases?.conflicts ?? [] }
}

function mergeLeases(base: readonly StepLease[] = [], test: readonly StepLease[] = []) {
  const seen = new Map(base.map((lease) => [lease.env, lease]))
  const conflicts: string[] = []
  const all = [...base]
  for (const lease of test) {
    const known = seen.get(lease.env)
    if (known === undefined) all.push(lease)
    else if (known.resource_type !== lease.resource_type || (known.count ?? 0) !== (lease.count ?? 0)) {
      conflicts.push(lease.env)
    }
    seen.set(lease.env, known ?? lease)
  }
  return { all, conflicts }
}

interface ToResolve extends NamedTest {
  readonly ofSteps?: boolean | undefined
  readonly replaced?: readonly (readonly TestStep[])[]
}

function resolveConfiguration(
  registry: Registry,
  { name, steps, ofSteps, replaced = [] }: ToResolve,
  { records, isPartial }: Pick<ParameterStack, 'records' | 'isPartial'>,
): Resolution {
  const stack = { records, isPartial, nodeArchitectureOverrides: steps.node_architecture_overrides ?? {} }
  const resolver: StepResolver = { registry, stack, errors: [] }
  const { cluster_profile: clusterProfile, leases = [], dependency_overrides: dependencyOverrides = {} } = steps
  const profile = clusterProfile === undefined ? undefined : registry.clusterProfiles?.get(clusterProfile)
  if (clusterProfile && registry.clusterProfiles && profile === undefined) {
    const message = `cluster profile ${clusterProfile} is not defined`
    resolver.errors.push({ kind: 'profile', above: [], message, subject: clusterProfile })
  }
  const [pre, test, post] = phases.map((phase) => resolvePhase(steps[phase] ?? [], phase, resolver))
  const flow = { pre: pre ?? [], test: test ?? [], post: post ?? [] }
  const enabled = [...flow.pre, ...flow.test, ...flow.post].flatMap(({ literal }) => literal.observers ?? [])
  const disabled = new Set(steps.observers?.disable)
  const names = [...new Set([...enabled, ...(steps.observers?.enable ?? [])])].filter((one) => !disabled.has(one))
  const [first] = records
  const tellUnused = () => first && resolver.errors.push(...unusedErrors(resolver, first, replaced))
  if (ofSteps) tellUnused()
  const observers = names.sort().flatMap((observer) => resolveObserver(observer, resolver))
  if (!ofSteps) tellUnused()
  const workflow: ResolvedWorkflow = {
    name,
    ...flow,
    observers,
    ...(clusterProfile && { clusterProfile }),
    ...(profile && { clusterProfileLiteral: profile }),
    leases,
    allowSkipOnSuccess: steps.allow_skip_on_success ?? false,
    allowBestEffortPostSteps: steps.allow_best_effort_post_steps ?? false,
    dependencyOverrides,
  }
  return { workflow, configuration: steps, errors: resolver.errors }
}

function resolveObserver(name: string, resolver: StepResolver): readonly LiteralStep[] {
  const observer = resolver.registry.observers.get(name)?.observer
  if (observer === undefined) {
    const message = `observer "${name}" is referenced but no such observer is configured`
    resolver.errors.push({ kind: 'observer', above: [], message, subject: name })
    return []
  }
  const { name: as, env: parameters, ...rest } = observer
  const decided = decideParameters(parameters ?? [], `observer/${name}`, resolver)
  const env = parameters?.map((parameter, index) => withValue(parameter, decided?.[index]?.value))
  return [{ as, ...rest, ...(env && { env }) }]
}

function unknownWorkflow(name: string, wanted: string): Resolution {
  const workflow = emptyWorkflow(name)
  const message = `no workflow named ${wanted}`
  return { workflow, configuration: {}, errors: [{ kind: 'dangling', above: [], message, subject: wanted }] }
}
