/** Whole ci-operator configs, as ci-operator-configresolver resolves them (openshift/ci-tools: pkg/registry `ResolveConfig`). */
import { type Finding, finding } from '../../errors/finding.ts'
import { KnownError } from '../../errors/known-error.ts'
import { type FieldFault, readShape } from './field-shape.ts'
import { printedConfiguration } from './printed-literal.ts'
import type { Registry } from './registry.ts'
import { testConfigurationShape } from './registry-shapes.ts'
import { readYaml, yamlPlaces } from './registry-yaml.ts'
import { examineTest, type NamedTest } from './resolve-test.ts'
import { stepErrorText } from './step-error.ts'
import { type RawSteps, splitConfiguration } from './test-steps.ts'

type Fields = Readonly<Record<string, unknown>>

/** A test of a config. Only those with `steps` have something to resolve. */
export interface ConfigTest {
  readonly name: string
  readonly fields: Fields
  readonly resolvable: NamedTest | undefined
}

export interface CiOperatorConfig {
  readonly file: string
  readonly document: Fields
  readonly tests: readonly ConfigTest[]
}

/**
 * Only what stands in `steps` is held against the fields that there are; the rest of the document is passed on as it is.
 *
 * @throws KnownError CONFIG_INVALID with every fault at its place
 */
export function readCiOperatorConfig(file: string, text: string): CiOperatorConfig {
  const read = readYaml(text)
  if ('faults' in read) {
    throw invalid(read.faults.map(({ message, line, column }) => ({ message, where: { file, line, column } })))
  }
  const document = (read.value ?? {}) as Fields
  const faults: FieldFault[] = []
  const listed = Array.isArray(document['tests']) ? (document['tests'] as readonly unknown[]) : []
  const tests = listed.map((test, index): ConfigTest => {
    const fields = (test ?? {}) as Fields
    const name = String(fields['as'] ?? '')
    const own: FieldFault[] = []
    const shaped = readShape(fields['steps'], testConfigurationShape, own) as RawSteps | undefined
    faults.push(...own.map((fault) => ({ ...fault, path: ['tests', index, 'steps', ...fault.path] })))
    if (shaped === undefined) return { name, fields, resolvable: undefined }
    const steps = splitConfiguration(shaped)
    const architecture = steps.node_architecture ?? fields['node_architecture']
    const nodes = typeof architecture === 'string' && architecture !== '' ? { node_architecture: architecture } : {}
    return { name, fields, resolvable: { name, steps: { ...steps, ...nodes } } }
  })
  if (faults.length > 0) {
    const place = yamlPlaces(text)
    throw invalid(faults.map(({ message, path }) => ({ message, where: { file, ...place(path) } })))
  }
  return { file, document, tests }
}

interface PlacedFault {
  readonly message: string
  readonly where: { readonly file: string; readonly line: number; readonly column: number }
}

function invalid(faults: readonly PlacedFault[]): KnownError {
  const lines = faults.map(({ message, where }) => `${where.file}:${where.line}:${where.column}: ${message}`)
  return new KnownError('CONFIG_INVALID', lines.join('\n'), { details: { file: faults[0]?.where.file } })
}

export interface ResolvedConfig {
  /** With `literal_steps` in the place of `steps`. */
  readonly document: Fields
  readonly findings: readonly Finding[]
}

/** All tests; what keeps one from being resolved is a finding, and that test keeps its `steps`. */
export function resolveConfig(registry: Registry, { file, document, tests }: CiOperatorConfig): ResolvedConfig {
  const findings: Finding[] = []
  const resolved = tests.map(({ fields, resolvable }) => {
    if (resolvable === undefined) return fields
    const resolution = examineTest(registry, resolvable)
    for (const error of resolution.errors) {
      const summary = stepErrorText(error)
      findings.push(finding({ id: `steps.${error.kind}`, severity: 'error', summary, where: { file } }))
    }
    if (resolution.errors.length > 0) return fields
    const { steps: _, ...rest } = fields
    return { ...rest, literal_steps: printedConfiguration(resolution) }
  })
  return { document: { ...document, tests: resolved }, findings }
}
