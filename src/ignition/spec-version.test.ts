import assert from 'node:assert/strict'
import { test } from 'node:test'
import { specVersion } from './spec-version.ts'

test('3.0.0 to 3.6.0 are known, and 3.7.0 as an experiment', () => {
  for (const minor of [0, 1, 2, 3, 4, 5, 6])
    assert.deepEqual(specVersion(`3.${minor}.0`), { kind: 'known', minor }, `3.${minor}.0`)
  assert.deepEqual(specVersion('3.7.0-experimental'), { kind: 'known', minor: 7 })
  for (const text of ['2.2.0', '3.7.0', '3.6.0-experimental', '3.2.1', '3.2.0+1', '3.8.0', '4.0.0'])
    assert.equal(specVersion(text).kind, 'unknown', text)
})

test('what Ignition reads as the same version is the same', () => {
  for (const text of ['03.02.0', '3.2.0-', '3.2.0+', '3.2.00'])
    assert.deepEqual(specVersion(text), { kind: 'known', minor: 2 }, text)
})

test('what has not three numbers is no version', () => {
  for (const text of ['', '3', '3.2', '3.2.0.0', '3.x.0', 'v3.2.0', '3.2.0-é', ' 3.2.0', '3.2.99999999999999999999'])
    assert.equal(specVersion(text).kind, 'invalid', text)
})
