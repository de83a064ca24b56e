import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { KnownError } from '../errors/known-error.ts'
import { compileGoRegExp } from './go-regexp.ts'

const vllm = 'registry.redhat.io/rhaiis/vllm-cuda-rhel9@sha256:0123'

/** What go1.26 says: pattern, a text that it finds, a text that it does not find. */
const found: readonly (readonly [pattern: string, yes: string, no: string])[] = [
  ['.*aws.*', 'quay.io/openshift/aws-pod-identity:1', 'quay.io/openshift/azure:1'],
  ['(aws|gcp|azure|ibm|openstack)', 'quay.io/a/gcp:1', 'quay.io/a/b:1'],
  ['^registry\\.redhat\\.io/', vllm, `x${vllm}`],
  ['(?i)VLLM-cuda', vllm, 'quay.io/a/b'],
  ['redhat(?i).IO/RH', vllm, 'REDHAT.io/rh'],
  ['(?i:RHEL)\\d@', vllm, 'RHELx@'],
  ['(?P<host>quay)\\.io', 'quay.io/a', 'quayxio/a'],
  ['(?U)a+b', 'caab', 'ab'.slice(1)],
  ['\\Aquay.*:\\d+\\z', 'quay.io/a:12', 'quay.io/a:12-x'],
  ['[[:alpha:]]{3}/[[:^digit:]]', 'abc/d', 'abc/1'],
  ['[^\\S]x', '\tx', '\vx'],
  ['[\\d-z]', '-', 'a'],
  ['\\Qa.b*\\E$', 'xa.b*', 'xaxb*'],
  ['\\x41\\x{42}\\103', 'ABC', 'abc'],
  ['\\p{Greek}|\\pN', 'α', 'a'],
  ['a{,2}', 'a{,2}', 'aa'],
  ['a(?i)b|c', 'C', 'A'],
  ['x*', '', ''],
]

test('a pattern finds what Go finds', () => {
  for (const [pattern, yes, no] of found) {
    assert.ok(compileGoRegExp(pattern).test(yes), `${pattern} in ${yes}`)
    if (no !== '') assert.ok(!compileGoRegExp(pattern).test(no), `${pattern} in ${no}`)
  }
})

/** What go1.26 refuses, and what is said about it. */
const refused: readonly (readonly [pattern: string, why: RegExp])[] = [
  ['*aws*', /nothing before \* that it could repeat/],
  ['a**', /behind another repetition/],
  ['a{1001}', /repeats more than 1000 times/],
  ['a{2,1}', /wrong order/],
  ['(a', /closing \) is missing/],
  ['a)', /without its \(/],
  ['[a', /closing \] is missing/],
  ['[[:alfa:]]', /no class \[:alfa:\]/],
  ['[z-a]', /not a regular expression of Go/],
  ['[a-\\d]', /from one character to another/],
  ['(?!aws)', /looks ahead or behind/],
  ['(?<=a)b', /looks ahead or behind/],
  ['(a)\\1', /refers back to a group/],
  ['a\\y', /no escape \\y/],
  ['a\\', /ends with a backslash/],
  ['(?x)a', /does not know this kind of group/],
]

test('what Go would not compile is refused, with the reason', () => {
  for (const [pattern, message] of refused)
    assert.throws(() => compileGoRegExp(pattern), { code: 'CONFIG_INVALID', message }, pattern)
})

test('every text is a pattern, or is refused', () => {
  const piece = fc.constantFrom(
    'a',
    '(',
    ')',
    '[',
    ']',
    '*',
    '?',
    '(?i)',
    '\\',
    '{2}',
    '|',
    '[:',
    '^',
    '-',
    '\\p',
    '\\x',
  )
  const text = fc.oneof(
    fc.string(),
    fc.array(piece).map((pieces) => pieces.join('')),
  )
  fc.assert(
    fc.property(text, (pattern) => {
      try {
        compileGoRegExp(pattern)
      } catch (error) {
        assert.ok(error instanceof KnownError && error.code === 'CONFIG_INVALID')
      }
    }),
    { numRuns: 2000 },
  )
})

test('a quoted text finds itself', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes('\\E') && !text.endsWith('\\'))
      assert.ok(compileGoRegExp(`\\Q${text}\\E`).test(`x${text}y`))
    }),
  )
})
