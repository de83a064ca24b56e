import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JournalEvent, RunEvent, SessionOutcome } from '../journal/events.ts'
import { fold } from '../journal/fold.ts'
import { isTakenDown, runStatus } from './run-status.ts'

const steps = [
  { id: 'a', title: 'a', phase: 'pre' as const, groups: [] },
  { id: 'z', title: 'z', phase: 'post' as const, groups: [] },
]

function stateOf(...events: readonly RunEvent[]) {
  const created: RunEvent = { type: 'run.created', format: 1, run: 'r', workflow: 'w', version: '1', steps }
  return fold([created, ...events].map((event, index): JournalEvent => ({ n: index + 1, at: index, ...event })))
}

const begun = (...asked: string[]): RunEvent => ({ type: 'session.started', host: 'h', pid: 1, user: 'u', asked })
const ended = (outcome: SessionOutcome): RunEvent => ({ type: 'session.ended', outcome })
const succeeded = (step: string): readonly RunEvent[] => [
  { type: 'step.started', step, attempt: 1, inputs: '', log: '', why: '' },
  { type: 'step.succeeded', step, attempt: 1, output: null },
]

test('a run is as its last session says, unless its process is there, or gone without a word', () => {
  assert.equal(runStatus(stateOf(), false), 'new')
  assert.equal(runStatus(stateOf(begun()), true), 'running')
  assert.equal(runStatus(stateOf(begun()), false), 'interrupted')
  assert.equal(runStatus(stateOf(begun(), ended('gap')), false), 'gap')
  assert.equal(runStatus(stateOf(begun(), ended('failed')), false), 'failed')
})

test('a teardown that left nothing takes a run down; of a part of it, it does not', () => {
  const run = [begun(), ...succeeded('a'), ended('succeeded')]
  const teardown: readonly RunEvent[] = [begun('teardown'), { type: 'teardown.started', why: '' }, ...succeeded('z')]
  const whole = stateOf(...run, ...teardown, { type: 'teardown.ended', remaining: 0 }, ended('succeeded'))
  assert.equal(runStatus(whole, false), 'taken-down')
  assert.ok(isTakenDown(whole))
  const left = stateOf(...run, ...teardown, { type: 'teardown.ended', remaining: 1 }, ended('failed'))
  assert.equal(runStatus(left, false), 'failed')
  assert.ok(!isTakenDown(left))
  assert.equal(runStatus(stateOf(...run, begun('teardown', '--scope x'), ended('succeeded')), false), 'succeeded')
})

test('a run that was exported is elsewhere, until it is imported again', () => {
  const away = [begun(), ended('gap'), { type: 'run.exported', file: '/f' } as const]
  assert.equal(runStatus(stateOf(...away), false), 'exported')
  assert.equal(runStatus(stateOf(...away, { type: 'run.imported', host: 'h', digest: 'd' }), false), 'gap')
  const cutOff = [begun(), { type: 'run.exported', file: '/f' } as const]
  assert.equal(runStatus(stateOf(...cutOff), false), 'exported')
  assert.equal(runStatus(stateOf(...cutOff, begun('teardown')), false), 'exported')
  assert.equal(runStatus(stateOf(...cutOff, begun()), false), 'interrupted')
})
