/** What was resolved, as ci-operator-configresolver prints it: the fields of a step in Go's order, nothing where nothing is set. */
import { goDurationNs, printedGoDuration } from './go-duration.ts'
import type { LiteralStep, ResolvedWorkflow, StepLease } from './model.ts'
import { printedOrder } from './registry-shapes.ts'
import type { Resolution } from './resolve-test.ts'

type Printed = Readonly<Record<string, unknown>>

/** `literal_steps` (openshift/ci-tools: pkg/api/types.go `MultiStageTestConfigurationLiteral`). */
export function printedConfiguration({
  workflow,
  configuration,
}: Pick<Resolution, 'workflow' | 'configuration'>): Printed {
  const { clusterProfile, clusterProfileLiteral } = workflow
  return omitEmpty({
    cluster_profile_literal: clusterProfileLiteral ?? (clusterProfile && { name: clusterProfile }),
    ...printedPhases(workflow),
    leases: workflow.leases.map(printedLease),
    allow_skip_on_success: configuration.allow_skip_on_success,
    allow_best_effort_post_steps: configuration.allow_best_effort_post_steps,
    observers: workflow.observers.map(printedObserver),
    dependency_overrides: workflow.dependencyOverrides,
  })
}

function printedPhases({ pre, test, post }: ResolvedWorkflow): Printed {
  const print = (steps: ResolvedWorkflow['pre']) => steps.map(({ literal }) => printedStep(literal))
  return { pre: print(pre), test: print(test), post: print(post) }
}

export function printedStep(step: LiteralStep): Printed {
  return inOrder(printedOrder.step, step)
}

function printedObserver({ as, ...observer }: LiteralStep): Printed {
  return inOrder(printedOrder.observer, { name: as, ...observer })
}

function inOrder(order: readonly string[], fields: Printed): Printed {
  const entries = order.map((name) => [name, printedField(name, fields[name])] as const)
  // `resources` is a struct, `dnsConfig` a pointer to one: Go prints them even where nothing is in them.
  return { ...omitEmpty(Object.fromEntries(entries), ['resources', 'dnsConfig']) }
}

/** Of lists of structs: the fields that Go prints also where they are empty. */
const keptInItems: Readonly<Record<string, readonly string[]>> = {
  env: ['name', 'default'],
  credentials: ['mount_path'],
}

function printedField(name: string, value: unknown): unknown {
  if (name === 'nested_podman') return value || undefined
  if (name === 'resources') return omitEmpty((value ?? {}) as Printed)
  const kept = keptInItems[name]
  if (kept !== undefined) return (value as readonly Printed[] | undefined)?.map((item) => omitEmpty(item, kept))
  if (name === 'leases') return (value as LiteralStep['leases'])?.map(printedLease)
  if (name === 'dnsConfig' && value !== undefined) return omitEmpty(value as Printed)
  return (name === 'timeout' || name === 'grace_period') && value !== undefined ? printedDuration(value) : value
}

function printedLease({ count, ...lease }: StepLease): Printed {
  return { ...lease, ...(count ? { count } : {}) }
}

function omitEmpty(fields: Printed, kept: readonly string[] = []): Printed {
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !isEmpty(value) || (value !== undefined && kept.includes(name))),
  )
}

function printedDuration(value: unknown): unknown {
  const ns = typeof value === 'string' || typeof value === 'number' ? goDurationNs(value) : undefined
  return ns === undefined ? value : printedGoDuration(ns)
}
