import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { HostPace } from './pace.ts'

test('a host gets no more requests at once than its limit, and the next when one ends', async () => {
  const pace = new HostPace(new FakeClock())
  const held = await Promise.all(Array.from({ length: 6 }, () => pace.enter('download')))
  let isIn = false
  const next = pace.enter('download').then((release) => {
    isIn = true
    return release
  })
  await Promise.resolve()
  assert.equal(isIn, false)
  held[0]?.()
  held[0]?.()
  await next
  assert.equal(isIn, true)
})

test('an upload is not kept waiting by downloads', async () => {
  const pace = new HostPace(new FakeClock())
  await Promise.all(Array.from({ length: 6 }, () => pace.enter('download')))
  await pace.enter('upload')
})

test('a host that asks for less gets half, nothing until its time is over, and then more again', async () => {
  const clock = new FakeClock()
  const pace = new HostPace(clock)
  pace.slowDown(5_000)
  assert.equal(pace.limit('download'), 3)
  let isIn = false
  const entered = pace.enter('request').then(() => {
    isIn = true
  })
  await Promise.resolve()
  clock.advance(4_999)
  await Promise.resolve()
  assert.equal(isIn, false)
  clock.advance(1)
  await entered
  for (let round = 0; round < 100; round += 1) pace.speedUp('download')
  assert.ok(pace.limit('download') > 6 && pace.limit('download') <= 16)
})

test('who gives up while waiting takes no place', async () => {
  const pace = new HostPace(new FakeClock())
  const held = await Promise.all(Array.from({ length: 6 }, () => pace.enter('upload')))
  const abort = new AbortController()
  const waiting = pace.enter('upload', abort.signal)
  abort.abort(new Error('enough'))
  await assert.rejects(waiting, /enough/)
  for (const release of held) release()
  await Promise.all(Array.from({ length: 6 }, () => pace.enter('upload')))
})
