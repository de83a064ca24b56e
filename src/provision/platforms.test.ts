import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownError } from '../errors/known-error.ts'
import { systemClock } from '../host/clock.ts'
import { openUndoing } from './platforms.ts'

test('a platform that is not there yet is named, and those that are', () => {
  for (const platform of ['aws', '', 'constructor']) {
    assert.throws(
      () => openUndoing(platform, { env: {}, clock: systemClock }),
      (error) => error instanceof KnownError && error.code === 'PLATFORM_UNKNOWN' && error.message.includes('lab'),
    )
  }
})
