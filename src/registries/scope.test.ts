import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMirrorLocation, isMirrorSource, isNestedScope, isScope } from './scope.ts'

test('a scope holds its paths, never another port; a wildcard holds hosts, never paths that look like them', () => {
  const nested = [
    ['quay.io', 'quay.io'],
    ['quay.io/ns/repo', 'quay.io'],
    ['x.a.lab', '*.a.lab'],
    ['*.x.a.lab', '*.a.lab'],
    ['x.a.lab/ns', '*.a.lab'],
    ['x.a.lab:443/ns', '*.a.lab'],
  ] as const
  const apart = [
    ['quay.io:443', 'quay.io'],
    ['quay.io2', 'quay.io'],
    ['quay.io.lab', 'quay.io'],
    ['a.lab', '*.a.lab'],
    ['b/x.a.lab', '*.a.lab'],
    ['b/x.a.lab:400', '*.a.lab'],
    ['x.a.lab', '*a.lab'],
  ] as const
  for (const [inner, outer] of nested) assert.equal(isNestedScope(inner, outer), true, `${inner} in ${outer}`)
  for (const [inner, outer] of apart) assert.equal(isNestedScope(inner, outer), false, `${inner} in ${outer}`)
})

test('a wildcard stands for whole labels at the beginning, and only there', () => {
  for (const scope of ['a.lab', 'a.lab:5000/ns', '*.a.lab']) assert.equal(isScope(scope), true, scope)
  for (const scope of ['', '**.a.lab', 'a.*.lab', '*.a.lab/ns', '*.a.lab:1', '*a.lab', '*.*a.lab'])
    assert.equal(isScope(scope), false, scope)
})

test('sources and mirrors have the form that the cluster accepts, and a long wrong one is refused at once', () => {
  for (const place of ['a.lab', 'a.lab:5000', 'a.lab/ns/re__po/x-y.z', 'localhost/x']) {
    assert.equal(isMirrorLocation(place), true, place)
    assert.equal(isMirrorSource(place), true, place)
  }
  assert.equal(isMirrorSource('*.a.lab'), true)
  for (const place of ['*.a.lab', 'a.lab/', 'a.lab/NS', 'a.lab/ns:1', 'a_b.lab', `a.lab/${'a'.repeat(5_000)}!`])
    assert.equal(isMirrorLocation(place), false, place)
})
