/** A step of a list, told apart: `ref`, `chain`, or the fields of a step that is written out. */
import type { LiteralStep } from './model.ts'
import type { TestConfiguration, TestStep } from './registry.ts'

/** As it stands in the YAML, held against the fields. */
export type RawSteps = Readonly<Record<string, unknown>>

export function splitStep({ ref, chain, ...literal }: RawSteps): TestStep {
  return {
    ...(typeof ref === 'string' && { ref }),
    ...(typeof chain === 'string' && { chain }),
    ...(Object.keys(literal).length > 0 && { literal: { as: '', commands: '', ...literal } as LiteralStep }),
  }
}

/** `steps` of a test or a workflow. A list that is there but empty stays: it takes the place of the workflow's. */
export function splitConfiguration(raw: RawSteps): TestConfiguration {
  const split: Record<string, unknown> = { ...raw }
  for (const phase of ['pre', 'test', 'post']) {
    const list = raw[phase] as readonly RawSteps[] | undefined
    if (list !== undefined) split[phase] = list.map(splitStep)
  }
  return split as TestConfiguration
}
