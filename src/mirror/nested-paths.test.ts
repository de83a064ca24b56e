import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isRepositoryPath } from '../oci/reference.ts'
import { parseMirrorTarget, targetRepository } from './destination.ts'
import { foldPath, withMaxNestedPaths } from './nested-paths.ts'

test('components beyond the limit are joined to the last one, as oc-mirror names them', () => {
  assert.equal(foldPath('ocp/openshift4/ose-cli/amd64', 0), 'ocp/openshift4/ose-cli/amd64')
  assert.equal(foldPath('ocp/openshift4/ose-cli/amd64', 4), 'ocp/openshift4/ose-cli/amd64')
  assert.equal(foldPath('ocp/openshift4/ose-cli/amd64', 3), 'ocp/openshift4/ose-cli-amd64')
  assert.equal(foldPath('ocp/openshift4/ose-cli/amd64', 2), 'ocp/openshift4-ose-cli-amd64')
  assert.equal(foldPath('ocp/openshift4/ose-cli/amd64', 1), 'ocp-openshift4-ose-cli-amd64')
})

const anyComponent = fc.stringMatching(/^[a-z0-9]{1,4}(?:(?:\.|_|__|-{1,3})[a-z0-9]{1,4}){0,2}$/)
const anyPath = fc.array(anyComponent, { minLength: 1, maxLength: 7 }).map((components) => components.join('/'))

test('a folded path is a path no deeper than the limit, with every word of the whole in its place', () => {
  fc.assert(
    fc.property(anyPath, fc.integer({ min: 1, max: 8 }), (path, max) => {
      const folded = foldPath(path, max)
      assert.ok(isRepositoryPath(folded), folded)
      assert.ok(folded.split('/').length <= max, folded)
      assert.equal(folded.replaceAll('/', '-'), path.replaceAll('/', '-'))
      assert.equal(foldPath(folded, max), folded)
    }),
  )
})

test('the path of the target counts, and one that fills the limit by itself is refused', () => {
  const target = parseMirrorTarget('docker://lab:5000/ocp/mirror')
  assert.equal(targetRepository(withMaxNestedPaths(target, 3), 'a/b/c').repository, 'ocp/mirror/a-b-c')
  assert.equal(targetRepository(withMaxNestedPaths(target, 0), 'a/b/c').repository, 'ocp/mirror/a/b/c')
  assert.equal(targetRepository(withMaxNestedPaths(parseMirrorTarget('docker://lab:5000'), 1), 'a/b').repository, 'a-b')
  assert.throws(() => withMaxNestedPaths(target, 2), { code: 'USAGE', hint: /^Allow at least 3/ })
})
