import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HelmContent } from './image-set-content.ts'

function complaints(helm: object): string[] {
  const read = HelmContent.safeParse(helm)
  return (read.error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)
}

const repository = { name: 'lab', url: 'https://charts.lab/stable' }

test('values files, whether the own values count too, and charts of a registry load', () => {
  const helm = {
    repositories: [
      { ...repository, charts: [{ name: 'app', version: '^1.0', values: ['a.yaml'], includeDefaults: false }] },
      { name: 'registry', url: 'oci://registry.lab/charts', charts: [{ name: 'app' }] },
      { name: 'here', url: 'file:///srv/charts' },
    ],
    local: [{ name: 'own', path: './own', imagePaths: ['{.spec.image}'] }],
  }
  assert.deepEqual(HelmContent.parse(helm), helm)
})

test('what cannot be carried out is told at its field', () => {
  const cases: [object, RegExp][] = [
    [
      { repositories: [{ ...repository, url: 'oci://registry.lab/charts' }] },
      /^repositories\.0\.url: .*name them with charts/,
    ],
    [
      { repositories: [{ ...repository, url: 'ftp://charts.lab' }] },
      /^repositories\.0\.url: "ftp:.*is not a URL of charts/,
    ],
    [
      { repositories: [{ ...repository, charts: [{ name: 'a', includeDefaults: false }] }] },
      /^repositories\.0\.charts\.0\.includeDefaults: .*nothing to render/,
    ],
    [{ local: [{ name: 'own' }] }, /^local\.0\.name: chart "own" has no path/],
    [{ local: [{ name: 'own', path: 'x', imagePaths: ['{.a'] }] }, /^local\.0\.imagePaths\.0: "\{\.a" is no JSONPath/],
  ]
  for (const [helm, message] of cases) {
    const [first, ...more] = complaints(helm)
    assert.match(first ?? '', message)
    assert.deepEqual(more, [])
  }
})
