import type { Phase } from '../../journal/events.ts'
import type { RunState, StepState } from '../../journal/run-state.ts'

interface TestCase {
  readonly name: string
  readonly seconds: number
  readonly failure?: string
  readonly isSkipped?: boolean
  readonly output?: string
}

/**
 * `junit_operator.xml` of a run, with the names that ci-operator gives its cases: one for each step, and one for each phase
 * (openshift/ci-tools: pkg/steps/multi_stage/run.go, pkg/junit).
 */
export function junitOf(state: RunState): string {
  const steps = [...state.steps.values()]
  const test = state.workflow
  const cases: TestCase[] = [
    ...phaseCases(steps, state.isTearingDown),
    ...steps
      .filter(({ attempts, status }) => attempts.length > 0 || status === 'skipped')
      .map((step) => stepCase(step, test)),
    ...[...state.observers.values()].map(({ name, problem }) => ({
      name: `Run multi-stage test ${test} - ${test}-${name} container test`,
      seconds: 0,
      ...(problem && { failure: problem.message }),
    })),
  ].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const failures = cases.filter(({ failure }) => failure !== undefined).length
  const skipped = cases.filter(({ isSkipped }) => isSkipped).length
  const seconds = (state.lastAt - state.createdAt) / 1000
  const suite = `name="step graph" tests="${cases.length}" skipped="${skipped}" failures="${failures}" time="${seconds}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite ${suite}>`,
    ...cases.flatMap(caseLines),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

const phases: readonly Phase[] = ['pre', 'test', 'post']

/** A phase that was not entered has no case; one that has no steps is entered, too. */
function phaseCases(steps: readonly StepState[], isTearingDown: boolean): readonly TestCase[] {
  const cases: TestCase[] = []
  for (const phase of phases) {
    const own = steps.filter(({ outline }) => outline.phase === phase)
    const failures = own
      .filter(({ outline }) => outline.ignoresFailure !== true)
      .map(failureOf)
      .filter((text) => text !== undefined)
    const isBegun = own.some(({ attempts, status }) => attempts.length > 0 || status === 'skipped')
    const isDue =
      phase === 'post' ? isTearingDown : steps.every((step) => step.outline.phase !== 'pre' || isDone(step.status))
    if (!isBegun && !(own.length === 0 && isDue)) continue
    cases.push({
      name: `Run multi-stage test ${phase} phase`,
      seconds: own.reduce((sum, step) => sum + secondsOf(step), 0),
      output: `The collected steps of multi-stage phase ${phase}.`,
      ...(failures.length > 0 && { failure: failures.join('\n') }),
    })
  }
  return cases
}

function stepCase(step: StepState, test: string): TestCase {
  const failure = failureOf(step)
  return {
    name: `Run multi-stage test ${test} - ${test}-${step.outline.title} container test`,
    seconds: secondsOf(step),
    ...(step.status === 'skipped' && { isSkipped: true }),
    ...(failure !== undefined && { failure }),
  }
}

function failureOf({ status, attempts, outline }: StepState): string | undefined {
  if (status === 'succeeded' || status === 'skipped' || status === 'marked-done' || status === 'pending')
    return undefined
  const problem = attempts.at(-1)?.problem?.message ?? status
  const what = status === 'timed-out' ? `exceeded the configured timeout: ${problem}` : `failed: ${problem}`
  return `${outline.title} ${what}`
}

function isDone(status: StepState['status']): boolean {
  return status === 'succeeded' || status === 'skipped' || status === 'marked-done'
}

/** Of all attempts, also of those before a crash that ended without an end. */
function secondsOf({ attempts }: StepState): number {
  return attempts.reduce((sum, { startedAt, endedAt }) => sum + ((endedAt ?? startedAt) - startedAt), 0) / 1000
}

function caseLines({ name, seconds, failure, isSkipped, output }: TestCase): readonly string[] {
  return [
    `    <testcase name="${escaped(name)}" time="${seconds}">`,
    ...(failure === undefined ? [] : [`      <failure message="">${escaped(failure)}</failure>`]),
    ...(isSkipped ? ['      <skipped message=""></skipped>'] : []),
    ...(output === undefined ? [] : [`      <system-out>${escaped(output)}</system-out>`]),
    '    </testcase>',
  ]
}

/** XML 1.0 has no place for most control characters. */
function escaped(text: string): string {
  return text
    .replace(/(?![\t\n\r])\p{Cc}|[\uFFFE\uFFFF]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
