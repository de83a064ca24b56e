import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JournalEvent } from '../../journal/events.ts'
import { emptyRunState, foldOnto } from '../../journal/fold.ts'
import { RunProgress } from './run-progress.ts'

test('a terminal that does not say how wide it is shows the whole line', () => {
  for (const columns of [0, undefined, 80]) {
    const said: string[] = []
    const clock = { now: () => 0, sleep: () => Promise.resolve(), after: () => () => undefined }
    const output = { stderr: (text: string) => said.push(text), isTerminal: true, clock, json: false }
    const progress = new RunProgress({ ...output, emitEvent: undefined }, { usualMs: new Map(), columns })
    const steps = [{ id: 'pre/make', title: 'make', phase: 'pre', groups: [] }]
    const events = [
      { n: 1, at: 0, type: 'run.created', format: 1, run: 'r', workflow: 'w', version: '1', steps },
      { n: 2, at: 0, type: 'step.started', step: 'pre/make', attempt: 1, inputs: '', log: 'l', why: '' },
    ] as unknown as readonly JournalEvent[]
    const state = emptyRunState()
    progress.onText(Buffer.from('making it\n'))
    for (const event of events) {
      foldOnto(state, event)
      progress.onEvent(event, state)
    }
    assert.match(said.at(-1) ?? '', / 1\/1 pre\/make {2}0\.0 s$/, String(columns))
  }
})
