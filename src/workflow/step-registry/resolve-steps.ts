/** Lists of steps made flat, with the value of every parameter (openshift/ci-tools: pkg/registry/resolver.go). */
import type { Phase } from '../../journal/events.ts'
import type { LiteralStep, ParameterOrigin, ResolvedStep, StepParameter } from './model.ts'
import {
  chainRecord,
  decideDependency,
  decideParameter,
  type ParameterStack,
  recordNames,
  type StackRecord,
} from './parameter-stack.ts'
import type { Registry, TestStep } from './registry.ts'
import type { StepError } from './step-error.ts'
import { unusedErrors } from './unused-parameters.ts'

export interface StepResolver {
  readonly registry: Registry
  readonly stack: ParameterStack
  readonly errors: StepError[]
}

/** Keeps an error with what it stands in just now. */
function tellError({ stack, errors }: StepResolver, error: Omit<StepError, 'above'>): void {
  errors.push({ ...error, above: recordNames(stack) })
}

interface PhaseWalk {
  readonly resolver: StepResolver
  readonly phase: Phase
  readonly seen: Set<string>
  readonly chainPath: readonly string[]
}

export function resolvePhase(steps: readonly TestStep[], phase: Phase, resolver: StepResolver): ResolvedStep[] {
  return resolveList(steps, { resolver, phase, seen: new Set(), chainPath: [] })
}

/** A chain alone, as `pre` would have it: what `Validate` does with each. */
export function resolveChain(
  registry: Registry,
  name: string,
): { steps: ResolvedStep[]; errors: readonly StepError[] } {
  const stack = { records: [], isPartial: true, nodeArchitectureOverrides: {} }
  const resolver: StepResolver = { registry, stack, errors: [] }
  return { steps: resolvePhase([{ chain: name }], 'pre', resolver), errors: resolver.errors }
}

function resolveList(steps: readonly TestStep[], walk: PhaseWalk): ResolvedStep[] {
  return steps.flatMap((step) => {
    if (step.chain !== undefined) return resolveChainStep(step.chain, walk)
    const resolved = resolveStep(step, walk)
    return resolved === undefined ? [] : [resolved]
  })
}

function resolveChainStep(name: string, walk: PhaseWalk): ResolvedStep[] {
  const { resolver, chainPath } = walk
  const { registry, stack, errors } = resolver
  const chain = registry.chains.get(name)
  if (chain === undefined) {
    tellError(resolver, { kind: 'dangling', message: `unknown step chain: ${name}`, subject: name })
    return []
  }
  const path = [...chainPath, name]
  if (chainPath.includes(name)) {
    const message = `Cycle detected: ${name} is an ancestor of itself; traversedPath: [${path.join(' ')}]`
    tellError(resolver, { kind: 'cycle', message, subject: name })
    return []
  }
  const record = chainRecord(name, chain.env)
  stack.records.push(record)
  const steps = resolveList(chain.steps, { ...walk, chainPath: path })
  errors.push(...unusedErrors(resolver, record))
  stack.records.pop()
  return steps
}

function resolveStep({ ref, literal: written }: TestStep, walk: PhaseWalk): ResolvedStep | undefined {
  const { resolver, phase, seen, chainPath } = walk
  const { registry, stack } = resolver
  const step = ref === undefined ? written : registry.references.get(ref)?.step
  if (step === undefined) {
    const message =
      ref === undefined
        ? 'encountered TestStep where both `Reference` and `LiteralTestStep` are nil'
        : `invalid step reference: ${ref}`
    tellError(resolver, { kind: ref === undefined ? 'step' : 'dangling', message, subject: ref ?? '' })
    return undefined
  }
  if (seen.has(step.as)) {
    tellError(resolver, { kind: 'duplicate', message: `duplicate name: ${step.as}`, subject: step.as })
    return undefined
  }
  seen.add(step.as)
  const parameters = decideParameters(step.env ?? [], `step/${step.as}`, resolver)
  // Also of a step with an open parameter: what it takes is not unused.
  const literal = decidedStep(step, parameters ?? [], stack)
  return parameters && { literal, phase, chainPath, parameters }
}

/** undefined where one is open that may not be. */
export function decideParameters(
  parameters: readonly StepParameter[],
  who: string,
  resolver: StepResolver,
): readonly ParameterOrigin[] | undefined {
  const { stack } = resolver
  let isOpen = false
  const decided = parameters.map((parameter) => {
    const origin = decideParameter(stack, parameter, who.slice(who.indexOf('/') + 1))
    if (origin.value === undefined && !stack.isPartial) {
      const message = `${who}: unresolved parameter: ${parameter.name}`
      tellError(resolver, { kind: 'unresolved', message, subject: parameter.name })
      isOpen = true
    }
    return origin
  })
  return isOpen ? undefined : decided
}

function decidedStep(step: LiteralStep, decided: readonly ParameterOrigin[], stack: ParameterStack): LiteralStep {
  const outer = <Value>(pick: (record: StackRecord) => Value | undefined) =>
    stack.records.map(pick).find((value) => value !== undefined)
  const dnsConfig = outer((record) => record.dnsConfig) ?? step.dnsConfig
  const architecture =
    stack.nodeArchitectureOverrides[step.as] ?? outer((record) => record.nodeArchitecture) ?? step.node_architecture
  const env = step.env?.map((parameter, index) => withValue(parameter, decided[index]?.value))
  const dependencies = step.dependencies?.map((dependency) => ({
    ...dependency,
    name: decideDependency(stack, dependency.env) ?? dependency.name,
  }))
  return {
    ...step,
    ...(env && { env }),
    ...(dependencies && { dependencies }),
    ...(dnsConfig && { dnsConfig }),
    ...(architecture !== undefined && { node_architecture: architecture }),
  }
}

export function withValue(parameter: StepParameter, value: string | undefined): StepParameter {
  return value === undefined || value === parameter.default ? parameter : { ...parameter, default: value }
}
