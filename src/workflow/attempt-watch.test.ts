import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { AttemptWatch } from './attempt-watch.ts'
import { defaultPolicy } from './step.ts'

/** One that somebody sets; timers do not care. */
class SetClock extends FakeClock {
  offsetMs = 0

  override now(): number {
    return super.now() + this.offsetMs
  }
}

test('silence is told also after the clock was set back', () => {
  const clock = new SetClock()
  const told: number[] = []
  const policy = { ...defaultPolicy, silenceMs: 1_000 }
  const { signal } = new AbortController()
  const watch = new AttemptWatch({ policy, signal }, { clock, onSilent: (forMs) => told.push(forMs) })
  clock.offsetMs = -3_600_000
  clock.advance(1_000)
  assert.deepEqual(told, [])
  clock.advance(1_000)
  assert.deepEqual(told, [1_000])
  watch.close()
})
