/**
 * Who decides a value: the test or workflow first, then each chain, outermost first; the first that names it wins
 * (openshift/ci-tools: pkg/registry/stack.go).
 */
import type { DnsConfig, ParameterOrigin, StepParameter } from './model.ts'

type OriginKind = ParameterOrigin['from']

export interface StackRecord {
  readonly from: OriginKind
  readonly name: string
  /** undefined as a value: the name is listed without a default. It stops the search and gives nothing. */
  readonly env: ReadonlyMap<string, string | undefined>
  readonly dependencies: ReadonlyMap<string, string>
  /** Of each parameter, who gave it: a test inherits from its workflow. */
  readonly origin?: (name: string) => Pick<ParameterOrigin, 'from' | 'by'>
  readonly unusedEnv: Set<string>
  readonly unusedDependencies: Set<string>
  readonly dnsConfig?: DnsConfig | undefined
  readonly nodeArchitecture?: string | undefined
}

interface RecordParts {
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly dependencies?: Readonly<Record<string, string>> | undefined
  readonly dnsConfig?: DnsConfig | undefined
  readonly nodeArchitecture?: string | undefined
  readonly origin?: (name: string) => Pick<ParameterOrigin, 'from' | 'by'>
}

/** Of a test, or of a workflow that is looked at alone. */
export function testRecord(from: OriginKind, name: string, parts: RecordParts): StackRecord {
  const env = new Map(Object.entries(parts.env ?? {}))
  const dependencies = new Map(Object.entries(parts.dependencies ?? {}))
  return {
    from,
    name,
    env,
    dependencies,
    unusedEnv: new Set(env.keys()),
    unusedDependencies: new Set(dependencies.keys()),
    ...(parts.origin && { origin: parts.origin }),
    dnsConfig: parts.dnsConfig,
    nodeArchitecture: parts.nodeArchitecture,
  }
}

export function chainRecord(name: string, parameters: readonly StepParameter[] = []): StackRecord {
  const env = new Map<string, string | undefined>()
  for (const parameter of parameters) if (!env.has(parameter.name)) env.set(parameter.name, parameter.default)
  return {
    from: 'chain',
    name,
    env,
    dependencies: new Map(),
    unusedEnv: new Set(env.keys()),
    unusedDependencies: new Set(),
  }
}

export interface ParameterStack {
  readonly records: StackRecord[]
  /** True where values may stay open: a workflow alone gets the rest from its tests. */
  readonly isPartial: boolean
  readonly nodeArchitectureOverrides: Readonly<Record<string, string>>
}

export function recordNames({ records }: Pick<ParameterStack, 'records'>): readonly string[] {
  return records.map(({ from, name }) => `${from}/${name}`)
}

/** What `parameter` of the step `step` is worth, and who says so. */
export function decideParameter(
  { records }: ParameterStack,
  { name, default: fallback }: StepParameter,
  step: string,
): ParameterOrigin {
  const record = records.find(({ env }) => env.has(name))
  if (record === undefined) return { name, value: fallback, from: 'step', by: step }
  for (const { unusedEnv } of records) unusedEnv.delete(name)
  const value = record.env.get(name)
  if (value === undefined) return { name, value: fallback, from: 'step', by: step }
  return { name, value, ...(record.origin?.(name) ?? { from: record.from, by: record.name }) }
}

/** The image that a test or workflow puts in the place of a dependency; undefined: it stays. An empty name stops the search. */
export function decideDependency({ records }: ParameterStack, env: string): string | undefined {
  const record = records.find(({ dependencies }) => dependencies.has(env))
  if (record === undefined) return undefined
  for (const { unusedDependencies } of records) unusedDependencies.delete(env)
  return record.dependencies.get(env) || undefined
}
