import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkStep } from './check-step.ts'
import type { LiteralStep } from './model.ts'

function faults(step: Partial<LiteralStep>): readonly string[] {
  const sound = { as: 's', from: 'cli', commands: 'true', resources: { requests: { cpu: '1' } } }
  return checkStep({ ...sound, ...step }, { field: 's', hasScript: true })
}

test('where credentials are mounted is compared as Go compares paths', () => {
  const mounted = (...paths: readonly string[]) =>
    faults({ credentials: paths.map((mount_path, index) => ({ namespace: 'ns', name: `s${index}`, mount_path })) })
  assert.deepEqual(mounted('/a', '/ab'), [])
  assert.deepEqual(mounted('/a', '/a/b..c'), [])
  assert.deepEqual(mounted('/a/b', '/a/.'), ['s.credentials[0] mounts at /a/b, which is under credentials[1] (/a/.)'])
  assert.deepEqual(mounted('/a', '/c/../a/b'), [
    's.credentials[1] mounts at /c/../a/b, which is under credentials[0] (/a)',
  ])
  assert.deepEqual(mounted('/a', 'b'), [
    "s.credentials[0] could not check relative path to credentials[1] (Rel: can't make /a relative to b)",
    's.credentials[1].mountPath is not absolute: b',
  ])
})

test('names in a secret manager are held against its rules', () => {
  const named = (more: object) =>
    faults({ credentials: [{ collection: 'team', group: 'aws', mount_path: '/a', ...more }] })
  for (const more of [{}, { collection: 'a_b-9', group: '--dot--x/y' }, { field: '--dot--docker', as: 'a--uu--b' }]) {
    assert.deepEqual(named(more), [])
  }
  const at = 's.credentials[0]'
  const characters = 'decoded names must only contain letters, numbers, dashes (-), dots (.), and underscores (_)'
  assert.deepEqual(named({ collection: 'A', group: 'x__y' }), [
    `${at}.collection: "A" is not a valid collection name`,
    `${at}.group: "x__y" is not a valid group name`,
  ])
  assert.deepEqual(named({ field: '/x', as: '--dot----dot--' }), [
    `${at}.field: mount file name "/x" decodes to "/x" which is an absolute path`,
    `${at}.as: mount file name "--dot----dot--" decodes to ".." which contains a path traversal segment`,
  ])
  assert.deepEqual(named({ field: 'a b' }), [
    `${at}.field: mount file name "a b" decodes to "a b" which contains forbidden characters ( ); ${characters}`,
  ])
})

test('quantities are those of Kubernetes', () => {
  const fault = (cpu: string) => faults({ resources: { requests: { cpu } } }).map((text) => text.split(': ')[1])
  for (const sound of ['1', '1.5', '.5', '5.', '100m', '1e3', '1E', '1Ei', '+1', '1e-3'])
    assert.deepEqual(fault(sound), [])
  for (const zero of ['0', '+', '0.0', 'e3']) assert.deepEqual(fault(zero), ['quantity cannot be zero'], zero)
  const said = (cpu: string) => faults({ resources: { requests: { cpu } } }).join()
  assert.match(said('1 '), /invalid quantity: quantities must match the regular expression/)
  assert.match(said(''), /invalid quantity: quantities must match/)
  assert.match(said('1K'), /invalid quantity: unable to parse quantity's suffix/)
})
