/** What was resolved, as ci-operator-configresolver prints it: the fields of a step in Go's order, nothing where nothing is set. */
import type { LiteralStep, ResolvedWorkflow } from './model.ts'
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
    leases: workflow.leases,
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
  // `resources` is a struct: Go prints it even where nothing is in it.
  return { ...omitEmpty(Object.fromEntries(entries), 'resources') }
}

function printedField(name: string, value: unknown): unknown {
  if (name === 'nested_podman') return value || undefined
  if (name === 'resources') return omitEmpty((value ?? {}) as Printed)
  return (name === 'timeout' || name === 'grace_period') && value !== undefined ? goDuration(value) : value
}

function omitEmpty(fields: Printed, kept?: string): Printed {
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => name === kept || !isEmpty(value)))
}

const nanoseconds: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
}

/** Go's `Duration.String()`: `10m` is printed as `10m0s`, and a number is nanoseconds. */
function goDuration(value: unknown): string {
  const text = String(value)
  const parts = text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)
  const sum = [...parts].reduce(
    (total, [, amount = '0', unit = 's']) => total + Number(amount) * (nanoseconds[unit] ?? 0),
    0,
  )
  const total = typeof value === 'number' ? Math.abs(value) : sum
  const sign = text.startsWith('-') && total > 0 ? '-' : ''
  if (total === 0) return '0s'
  if (total < 1e3) return `${sign}${total}ns`
  if (total < 1e6) return `${sign}${total / 1e3}µs`
  if (total < 1e9) return `${sign}${total / 1e6}ms`
  const [hours, minutes] = [Math.floor(total / 3600e9), Math.floor(total / 60e9) % 60]
  const seconds = `${Number(((total % 60e9) / 1e9).toFixed(9))}s`
  return `${sign}${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}`
}
