import type { InputParts, StepStarted } from '../journal/events.ts'

/** Everything that, changed, makes the success of a step stale. */
export interface StepInputs {
  /** Of all of it. */
  readonly digest: string
  /** `step.…` for what the step itself is, fields of its input by their path, files by theirs, secrets by name. */
  readonly parts: InputParts
}

const mostNamed = 3

/** As the journal has them; undefined where a step is not judged by them. */
export function startedInputs(inputs: StepInputs | undefined): Pick<StepStarted, 'inputs' | 'parts'> {
  return inputs === undefined ? { inputs: '' } : { inputs: inputs.digest, parts: inputs.parts }
}

/** @param before undefined where the success is of a version that did not note them */
export function changedInputsText(before: InputParts | undefined, { parts: now }: StepInputs): string {
  const names = before === undefined ? [] : [...new Set([...Object.keys(now), ...Object.keys(before)])]
  const changed = names.filter((name) => before?.[name] !== now[name])
  const more = changed.length > mostNamed ? ` and ${changed.length - mostNamed} more` : ''
  const named = changed.slice(0, mostNamed).join(', ')
  return `its inputs have changed${named === '' ? '' : `: ${named}${more}`}`
}
