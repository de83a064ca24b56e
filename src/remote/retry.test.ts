import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { KnownError } from '../errors/known-error.ts'
import { silentLog } from '../host/log.ts'
import { defaultRetryPolicy, parseRetryAfter, withRetries } from './retry.ts'

function context() {
  const clock = new FakeClock({ isImpatient: true })
  return { clock, log: silentLog, random: () => 1, policy: { ...defaultRetryPolicy, attempts: 4 } }
}

const failing = (error: unknown) => async (): Promise<never> => {
  throw error
}

test('waits double from attempt to attempt, and the last error is thrown', async () => {
  const retries = context()
  const error = new KnownError('REGISTRY_FAILED', 'no')
  await assert.rejects(withRetries(retries, failing(error)), error)
  assert.deepEqual(retries.clock.sleeps, [500, 1000, 2000])
})

test('a constant delay is waited before every attempt', async () => {
  const retries = context()
  const constant = { ...retries, policy: { ...retries.policy, constantDelayMs: 7000 } }
  await assert.rejects(withRetries(constant, failing(new KnownError('REGISTRY_FAILED', 'no'))))
  assert.deepEqual(retries.clock.sleeps, [7000, 7000, 7000])
})

test('an error that will not go away is not tried again', async () => {
  const retries = context()
  await assert.rejects(withRetries(retries, failing(new KnownError('REGISTRY_DENIED', 'no'))), {
    code: 'REGISTRY_DENIED',
  })
  assert.deepEqual(retries.clock.sleeps, [])
})

test('a registry that names a time is left alone that long', async () => {
  const retries = context()
  const error = new KnownError('REGISTRY_RATE_LIMITED', 'no', { details: { retryAfterSeconds: 20 } })
  let calls = 0
  await withRetries(retries, async () => {
    calls += 1
    if (calls === 1) throw error
  })
  assert.deepEqual(retries.clock.sleeps, [20_000])
})

test('a Retry-After beyond the limit ends at once', async () => {
  const retries = context()
  const error = new KnownError('REGISTRY_RATE_LIMITED', 'no', { details: { retryAfterSeconds: 3600 } })
  await assert.rejects(withRetries(retries, failing(error)), error)
  assert.deepEqual(retries.clock.sleeps, [])
})

test('a port nobody listens on is tried less often', async () => {
  const retries = context()
  const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
  await assert.rejects(withRetries(retries, failing(new KnownError('REGISTRY_UNREACHABLE', 'no', { cause }))))
  assert.equal(retries.clock.sleeps.length, 2)
})

test('Retry-After is read as seconds and as a date', () => {
  const now = Date.UTC(2026, 10, 21, 12, 0, 0)
  assert.equal(parseRetryAfter('120', now), 120_000)
  assert.equal(parseRetryAfter('Sat, 21 Nov 2026 12:00:30 GMT', now), 30_000)
  assert.equal(parseRetryAfter('Sat, 21 Nov 2026 11:00:00 GMT', now), 0)
  assert.equal(parseRetryAfter('soon', now), undefined)
  assert.equal(parseRetryAfter(undefined, now), undefined)
})
