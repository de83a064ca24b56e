import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAfter, operatorVersionPattern, releaseVersionPattern } from './versions.ts'

test('a version comes after another as semantic versions do, whatever is left out of it', () => {
  const ordered = [
    '4.9',
    '4.10.0-0.nightly-2024-04-02-182836',
    '4.10.0-rc.1',
    'v4.10',
    '4.10.1',
    '4.19.0-202509300824',
    '5',
  ]
  for (const [index, low] of ordered.entries())
    for (const high of ordered.slice(index + 1)) {
      assert.ok(isAfter(high, low), `${high} after ${low}`)
      assert.ok(!isAfter(low, high), `${low} after ${high}`)
    }
  assert.ok(!isAfter('1.2.0+7', '1.2'))
  assert.ok(!isAfter('x', '1'))
})

test('releases have all three numbers; operators may leave some out', () => {
  for (const version of ['4.18.9', '4.18.0-rc.1', '4.12.0-0.okd-2023-03-18-084815'])
    assert.match(version, releaseVersionPattern)
  for (const version of ['4.18', 'v4.18.1', '4.16.x', '04.1.1', '']) assert.doesNotMatch(version, releaseVersionPattern)
  for (const version of ['1', '1.2', 'v0.14.0', '2.3.0-1', '1.8.3+0.1684'])
    assert.match(version, operatorVersionPattern)
  for (const version of ['', '1.x', '1.2.3.4', 'latest']) assert.doesNotMatch(version, operatorVersionPattern)
})
