import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { KnownError } from '../errors/known-error.ts'
import { chooseChart, parseRepositoryIndex } from './repository-index.ts'

const origin = 'https://charts.lab/stable'
const real = new URL(
  '../../../shared/data/mirror/oc-mirror/helm/indexes/redhat-developer.github.io/service-binding-operator-helm-chart/index.yaml',
  import.meta.url,
)

function indexOf(charts: Readonly<Record<string, readonly string[]>>) {
  const entries = Object.fromEntries(
    Object.entries(charts).map(([name, versions]) => [
      name,
      versions.map((version) => ({ name, version, urls: [`${name}-${version}.tgz`], description: 'a\n  b:\n c: d' })),
    ]),
  )
  return { apiVersion: 'v1', entries, generated: '2026-01-01T00:00:00Z' }
}

const sample = {
  podinfo: ['6.0.0', '5.2.1', '5.2.0', '7.0.0-rc.1', '5.0.0+build', 'v4.0.0'],
  'ingress-nginx': ['4.12.1'],
}

function unknown(message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof KnownError && error.code === 'CHART_UNKNOWN' && message.test(error.message)
}

test('the version that is meant is found: by itself, in a range, or as the newest', () => {
  const index = parseRepositoryIndex(stringify(indexOf(sample)), origin)
  const cases: [string | undefined, string][] = [
    [undefined, '6.0.0'],
    ['', '6.0.0'],
    ['5.2.0', '5.2.0'],
    ['v5.2.0', '5.2.0'],
    ['4.0.0', 'v4.0.0'],
    ['7.0.0-rc.1', '7.0.0-rc.1'],
    ['5.0.0+build', '5.0.0+build'],
    ['^5.0.0', '5.2.1'],
    ['>= 5.0.0, < 5.2.1', '5.2.0'],
    ['5', '5.2.1'],
  ]
  for (const [asked, version] of cases)
    assert.equal(chooseChart(index, 'podinfo', asked).version, version, asked ?? 'the newest')
})

test('where there are only prereleases, the newest of them is the newest', () => {
  const index = parseRepositoryIndex(stringify(indexOf({ new: ['0.1.0-alpha', '0.1.0-beta'] })), origin)
  assert.equal(chooseChart(index, 'new', undefined).version, '0.1.0-beta')
})

test('an unknown chart or version is told with the nearest', () => {
  const index = parseRepositoryIndex(stringify(indexOf(sample)), origin)
  assert.throws(() => chooseChart(index, 'podinof', undefined), unknown(/has no chart podinof; did you mean podinfo\?/))
  assert.throws(() => chooseChart(index, 'redis', '1'), unknown(/it has 2 charts: podinfo, ingress-nginx$/))
  assert.throws(() => chooseChart(index, 'podinfo', '5.2.2'), unknown(/no version 5\.2\.2 .* 6\.0\.0, 5\.2\.1/))
  assert.throws(() => chooseChart(index, 'podinfo', '^9'), unknown(/no version \^9/))
})

test('a long index gives, by its sections, what the whole of it gives', () => {
  const versions = Array.from({ length: 40 }, (_, index) => `1.${index}.0`)
  const many = Object.fromEntries(Array.from({ length: 260 }, (_, index) => [`chart-${index}`, versions]))
  const document = indexOf({ ...sample, ...many })
  for (const text of [stringify(document, { indentSeq: false }), JSON.stringify(document)]) {
    assert.ok(text.length > 1024 * 1024)
    const index = parseRepositoryIndex(text, origin)
    assert.deepEqual(index.names, ['podinfo', 'ingress-nginx', ...Object.keys(many)])
    assert.equal(chooseChart(index, 'chart-259', undefined).version, '1.39.0')
    assert.deepEqual(
      index.versions('podinfo').map(({ version }) => version),
      sample.podinfo,
    )
  }
})

test('an entry without files, or without a version, is as good as none', () => {
  const entries = {
    a: [{ version: '1.0.0' }, { urls: ['x'] }, { version: '2.0.0', urls: ['a.tgz'], digest: 'no' }],
    b: 'text',
  }
  const index = parseRepositoryIndex(JSON.stringify({ entries }), origin)
  assert.deepEqual(index.versions('a'), [{ name: 'a', version: '2.0.0', urls: ['a.tgz'], isLibrary: false }])
  assert.deepEqual(index.versions('b'), [])
  assert.deepEqual(index.versions('constructor'), [])
})

test('what is no index is refused', () => {
  for (const text of ['<html><body>Log in</body></html>', '[1]', 'a: [', '{"entries": 1}', 'just text'])
    assert.throws(
      () => parseRepositoryIndex(text, origin),
      (error) => error instanceof KnownError && error.code === 'CHART_INVALID',
      text,
    )
})

test('a real index is read', { skip: existsSync(real) ? false : 'the data is not here' }, () => {
  const index = parseRepositoryIndex(readFileSync(real, 'utf8'), origin)
  const newest = chooseChart(index, 'service-binding-operator', undefined)
  assert.equal(newest.version, '1.4.1')
  assert.equal(newest.digest, 'sha256:be95db3858e6a26644f7f127a2c1c30a184abd84a15df22f4d0cbbbac5b2012c')
})
