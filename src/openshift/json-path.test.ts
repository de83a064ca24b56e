import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KnownError } from '../errors/known-error.ts'
import { evaluateJsonPath, formatKeys, parseJsonPath } from './json-path.ts'

const pod = {
  metadata: { annotations: { 'example.com/image': 'quay.io/a/annotated:1' } },
  spec: {
    containers: [
      {
        name: 'main',
        image: 'quay.io/a/main:1',
        env: [{ name: 'HELPER', value: 'quay.io/a/helper:1' }, { name: 'DEBUG' }],
      },
      { name: 'side', image: 'quay.io/a/side:1' },
      { name: 'last', image: 'quay.io/a/last:1' },
    ],
  },
}

function found(path: string, document: unknown = pod): unknown[] {
  return evaluateJsonPath(parseJsonPath(path), document).map(({ value }) => value)
}

test('every form that kubectl takes leads to what it leads to there', () => {
  const cases: [string, unknown[]][] = [
    ['{.spec.containers[*].name}', ['main', 'side', 'last']],
    ['.spec.containers[0].name', ['main']],
    ['spec.containers[-1].name', ['last']],
    ['$.spec.containers[1:].name', ['side', 'last']],
    ['{.spec.containers[:2].name}', ['main', 'side']],
    ['{.spec.containers[-2:].name}', ['side', 'last']],
    ['{.spec.containers[0:3:2].name}', ['main', 'last']],
    ["{.metadata.annotations['example.com/image']}", ['quay.io/a/annotated:1']],
    ['{.metadata.annotations["example.com/image"]}', ['quay.io/a/annotated:1']],
    ['{.metadata.annotations.example\\.com/image}', ['quay.io/a/annotated:1']],
    ['{..image}', ['quay.io/a/main:1', 'quay.io/a/side:1', 'quay.io/a/last:1']],
    ['{.metadata.annotations.*}', ['quay.io/a/annotated:1']],
    ['{.spec.containers[?(@.name=="side")].image}', ['quay.io/a/side:1']],
    ["{.spec.containers[?(@.name!='side')].name}", ['main', 'last']],
    ['{.spec.containers[?(@.env)].name}', ['main']],
    ['{.spec.containers[*].env[?(@.name=="HELPER")].value}', ['quay.io/a/helper:1']],
  ]
  for (const [path, values] of cases) assert.deepEqual(found(path), values, path)
})

test('what is not there is left out, and nothing of the prototype is there', () => {
  for (const path of [
    '.spec.template.spec.containers[*].image',
    '.spec.containers[7]',
    '.spec.containers.name',
    '.spec[0]',
  ])
    assert.deepEqual(found(path), [], path)
  assert.deepEqual(found('.spec.constructor'), [])
  assert.deepEqual(found('.spec.containers.length'), [])
  assert.deepEqual(found('.a', null), [])
})

test('what is no path is refused with the place and the way out', () => {
  const cases: [string, RegExp][] = [
    ['{.spec', /one of its braces is missing/],
    ['{.a} and {.b}', /only one pair of braces/],
    ['', /names no field/],
    ['{}', /names no field/],
    ["{.a['b','c']}", /one name in quotes/],
    ['{.a[b]}', /at "\[b\]"/],
    ['{.a[?(@.b>1)]}', /filter/],
    ['{.a..}', /the name of a field must stand/],
    ['{.a b}', /at " b"/],
    ['{.a[0:2:0]}', /cannot go on by 0/],
  ]
  for (const [path, why] of cases) {
    assert.throws(
      () => parseJsonPath(path),
      (error) => error instanceof KnownError && error.code === 'CONFIG_INVALID' && why.test(error.message),
      path,
    )
  }
})

test('whatever text comes, it is a path or is refused', () => {
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...'{}[].*?@()\'"=-:0aé\\ ')).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, fc.jsonValue(), (path, document) => {
      try {
        evaluateJsonPath(parseJsonPath(path), document)
      } catch (error) {
        assert.ok(error instanceof KnownError && error.code === 'CONFIG_INVALID', String(error))
      }
    }),
    { numRuns: 500 },
  )
})

test('the place of what was found, read as a path, leads back to it and to nothing else', () => {
  const key = fc
    .oneof(fc.stringMatching(/^[\w/ .'"\\[\]*-]{1,6}$/), fc.string({ minLength: 1 }))
    .filter((name) => !/[{}]/.test(name))
  const document = fc.dictionary(
    key,
    fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: 'small' },
        fc.string(),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(key, tie('node'), { maxKeys: 3 }),
      ),
    })).node,
    { minKeys: 1 },
  )
  fc.assert(
    fc.property(document, (root) => {
      const everything = evaluateJsonPath(parseJsonPath('..*'), root)
      for (const { path, value } of everything)
        assert.deepEqual(evaluateJsonPath(parseJsonPath(path), root), [{ path, value }])
    }),
    { numRuns: 200 },
  )
})

test('a place is written as people write it', () => {
  assert.equal(formatKeys(['spec', 'containers', 0, 'image']), 'spec.containers[0].image')
  assert.equal(formatKeys(['metadata', 'annotations', 'a.b/c']), "metadata.annotations['a.b/c']")
})
