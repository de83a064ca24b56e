import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readYaml } from './registry-yaml.ts'

function faultsOf(text: string): readonly string[] {
  const read = readYaml(text)
  return 'faults' in read ? read.faults.map(({ message, column }) => `${message} (${column})`) : []
}

test('what go-yaml refuses is refused, with its place', () => {
  const refused: readonly (readonly [text: string, message: string])[] = [
    ['a: x\u0007\n', 'line 1: control characters are not allowed (5)'],
    ['a: x # \u007f\n', 'line 1: control characters are not allowed (8)'],
    ['a:\n  b: c\n\t\n', 'line 3: found a tab character that violates indentation (1)'],
    ['a:\n  b: c\n  \t# d\n', 'line 3: found a tab character that violates indentation (1)'],
    ['a: |\n  \techo\n', 'line 1: found a tab character where an indentation space is expected (4)'],
    ['a: &x\n  b: c\nd:\n  <<: *x\n  b: e\n', 'line 5: key "b" already set in map (3)'],
    ['d:\n  b: e\n  <<: [{b: c}]\n', 'line 3: key "b" already set in map (3)'],
    ['a:\n  ~: b\n', 'line 2: unsupported map key of type: <nil> (3)'],
    ['a:\n  ? [b]\n  : c\n', 'line 2: invalid map key (5)'],
  ]
  for (const [text, message] of refused) assert.deepEqual(faultsOf(text), [`yaml: ${message}`], JSON.stringify(text))
})

test('tabs that set no line in are taken', () => {
  const text = 'a: |\n  if x; then\n  \techo\n  fi\nb: [c,\n  \td]\ne: f\t# g\nh: "i\n  \tj"\n'
  assert.deepEqual(readYaml(text), {
    value: { a: 'if x; then\n\techo\nfi\n', b: ['c', 'd'], e: 'f', h: 'i j' },
  })
})

test('a merge without a key twice is taken, and what follows the first document is left', () => {
  assert.deepEqual(readYaml('a: &x {b: c}\nd:\n  <<: *x\n  e: f\n---\nno: [more\n'), {
    value: { a: { b: 'c' }, d: { b: 'c', e: 'f' } },
  })
})

test('a space that does not break stays where it is', () => {
  assert.deepEqual(readYaml('a: 1\u00a0\n'), { value: { a: '1\u00a0' } })
})
