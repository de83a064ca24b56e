import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JournalEvent, RunEvent } from '../../journal/events.ts'
import { emptyRunState, foldOnto } from '../../journal/fold.ts'
import type { RunState } from '../../journal/run-state.ts'
import { junitOf } from './junit.ts'

function stateOf(events: readonly RunEvent[]): RunState {
  const state = emptyRunState()
  events.forEach((event, index) => {
    foldOnto(state, { n: index + 1, at: 1000 * index, ...event } as JournalEvent)
  })
  return state
}

const outline = (phase: 'pre' | 'test' | 'post', title: string) => ({
  id: `${phase}/${title}`,
  title,
  phase,
  groups: [],
})
const started = (step: string): RunEvent => ({ type: 'step.started', step, attempt: 1, inputs: '', log: 'l', why: '' })

const begun: RunEvent[] = [
  {
    type: 'run.created',
    format: 1,
    run: 'r',
    workflow: 'site',
    version: '1',
    steps: [
      outline('pre', 'make-it'),
      outline('test', 'try-it'),
      outline('post', 'gather-it'),
      outline('post', 'remove-it'),
    ],
  },
  { type: 'session.started', host: 'h', pid: 1, user: 'u', asked: [] },
]

test('cases have the names that ci-operator gives them, one for each step and phase that was entered', () => {
  const state = stateOf([
    ...begun,
    started('pre/make-it'),
    {
      type: 'step.failed',
      step: 'pre/make-it',
      attempt: 1,
      cause: 'exit',
      exit: 3,
      problem: { message: 'a <b> & "c"\u0001' },
    },
    { type: 'teardown.started', why: 'failed' },
    { type: 'step.skipped', step: 'post/gather-it', why: 'everything before it has succeeded' },
    started('post/remove-it'),
    { type: 'step.succeeded', step: 'post/remove-it', attempt: 1, output: null },
    { type: 'observer.started', observer: 'watch-it', log: 'l' },
    { type: 'observer.ended', observer: 'watch-it', problem: { message: 'gone' } },
  ])
  const xml = junitOf(state)
  assert.deepEqual(
    [...xml.matchAll(/<testcase name="([^"]*)"/g)].map(([, name]) => name),
    [
      'Run multi-stage test post phase',
      'Run multi-stage test pre phase',
      'Run multi-stage test site - site-gather-it container test',
      'Run multi-stage test site - site-make-it container test',
      'Run multi-stage test site - site-remove-it container test',
      'Run multi-stage test site - site-watch-it container test',
    ],
  )
  assert.match(xml, /tests="6" skipped="1" failures="3"/)
  assert.match(xml, /make-it failed: a &lt;b&gt; &amp; &quot;c&quot;<\/failure>/)
  assert.match(xml, /site-make-it container test" time="1">/)
})

test('a step that took too long is said to have exceeded the configured timeout', () => {
  const problem = { message: 'It did not end within 1 s' }
  const failed: RunEvent = { type: 'step.failed', step: 'pre/make-it', attempt: 1, cause: 'timeout', problem }
  assert.match(junitOf(stateOf([...begun, started('pre/make-it'), failed])), /make-it exceeded the configured timeout/)
})

test('a failure that changes nothing fails its own case, and not that of its phase', () => {
  const outlines = [{ ...outline('post', 'try-it'), ignoresFailure: true as const }]
  const created: RunEvent = {
    type: 'run.created',
    format: 1,
    run: 'r',
    workflow: 'site',
    version: '1',
    steps: outlines,
  }
  const problem = { message: 'gone' }
  const failed: RunEvent = { type: 'step.failed', step: 'post/try-it', attempt: 1, cause: 'exit', problem }
  assert.match(junitOf(stateOf([created, ...begun.slice(1), started('post/try-it'), failed])), /failures="1"/)
})

test('a run that was begun and not gone on with has no cases', () => {
  assert.match(junitOf(stateOf(begun)), /tests="0" skipped="0" failures="0"/)
})
