import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownError } from '../errors/known-error.ts'
import { parseReference } from '../oci/reference.ts'
import { exitStatusOf, failurePolicyOf, parseOnFailure, skippedClasses } from './failure-policy.ts'
import type { FailedImage } from './failures.ts'
import type { ContentClass, SelectedImage } from './selection.ts'

function image(of: ContentClass): SelectedImage {
  const source = parseReference(`quay.io/${of}/app:1`)
  return { source, class: of, destination: parseReference(`mirror.lab/${of}/app:1`), why: 'a test' }
}

function failed(...classes: readonly ContentClass[]): FailedImage[] {
  return classes.map((of) => ({ image: image(of), error: new KnownError('REGISTRY_FAILED', 'a test') }))
}

test('where nothing is said, every class fails with its own bit, and bits combine', () => {
  const policy = failurePolicyOf()
  assert.equal(exitStatusOf([], policy), 0)
  assert.equal(exitStatusOf(failed('release'), policy), 2)
  assert.equal(exitStatusOf(failed('operator', 'helm', 'operator'), policy), 20)
})

test('the failure of a class that may fail is no part of the exit status', () => {
  const policy = failurePolicyOf({ operator: 'warn' })
  assert.equal(exitStatusOf(failed('operator'), policy), 0)
  assert.equal(exitStatusOf(failed('operator', 'additional'), policy), 8)
})

test('the flag wins over the configuration, class by class', () => {
  const policy = failurePolicyOf({ operator: 'warn', helm: 'skip' }, parseOnFailure('operator=fail, additional=warn'))
  assert.deepEqual(policy, { release: 'fail', operator: 'fail', additional: 'warn', helm: 'skip' })
})

test('the classes to skip are named, to be left out as a whole', () => {
  assert.deepEqual([...skippedClasses(failurePolicyOf())], [])
  assert.deepEqual([...skippedClasses(failurePolicyOf({ operator: 'skip', helm: 'warn', release: 'skip' }))].sort(), [
    'operator',
    'release',
  ])
})

test('a policy that cannot be read is refused with the part that is wrong and an example', () => {
  for (const text of [
    '',
    'operators=warn',
    'operator',
    'operator=ignore',
    'operator=warn=skip',
    'helm=warn,helm=skip',
  ]) {
    assert.throws(
      () => parseOnFailure(text),
      (error: KnownError) => error.code === 'USAGE' && error.hint.includes('--on-failure operator=warn'),
      text,
    )
  }
})
