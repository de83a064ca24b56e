import assert from 'node:assert/strict'
import { test } from 'node:test'
import { componentVersions } from './component-versions.ts'

function versions(...annotations: readonly [versions: string, displayNames?: string][]) {
  return componentVersions(
    annotations.map(([text, names = '']) => ({
      name: 'x',
      reference: { registry: 'quay.io', repository: 'x' },
      annotations: { 'io.openshift.build.versions': text, 'io.openshift.build.version-display-names': names },
    })),
  )
}

test('versions are told by name, with the name that people know them by', () => {
  assert.deepEqual(
    versions(
      ['machine-os=418.94.1-0', 'machine-os=Red Hat Enterprise Linux CoreOS'],
      ['kubernetes=1.31.6,kubectl=1.31.1'],
    ),
    [
      { name: 'kubectl', version: '1.31.1' },
      { name: 'kubernetes', version: '1.31.6' },
      { name: 'machine-os', version: '418.94.1-0', displayName: 'Red Hat Enterprise Linux CoreOS' },
    ],
  )
})

test('two components may report the same version, and different ones', () => {
  assert.deepEqual(
    versions(['kubernetes=1.31.6'], ['kubernetes=1.31.6'], ['kubernetes=1.31.7']).map(({ version }) => version),
    ['1.31.6', '1.31.7'],
  )
})

test('what is no pair is passed over', () => {
  assert.deepEqual(versions([''], ['=1'], ['kubernetes'], ['kubernetes=']), [])
})
