import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from './clock.ts'

const dayMs = 24 * 60 * 60_000

test('what is due in 30 days is not done at once', async () => {
  let isDone = false
  const cancel = systemClock.after(30 * dayMs, () => {
    isDone = true
  })
  const sleep = new AbortController()
  const slept = systemClock.sleep(30 * dayMs, sleep.signal).then(() => 'slept')
  assert.equal(await Promise.race([slept, systemClock.sleep(20).then(() => 'awake')]), 'awake')
  assert.equal(isDone, false)
  cancel()
  sleep.abort(new Error('enough'))
  await assert.rejects(slept, /enough/)
})

test('what is due in 60 days is done then, unless somebody cancels it meanwhile', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const longestMs = 2 ** 31 - 1
  const done: string[] = []
  systemClock.after(60 * dayMs, () => done.push('due'))
  const cancel = systemClock.after(60 * dayMs, () => done.push('cancelled'))
  for (let timer = 0; timer < 2; timer += 1) t.mock.timers.tick(longestMs)
  cancel()
  t.mock.timers.tick(60 * dayMs - 2 * longestMs - 1)
  assert.deepEqual(done, [])
  t.mock.timers.tick(1)
  assert.deepEqual(done, ['due'])
})
