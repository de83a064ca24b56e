import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bundleVersion, catalogRange, rangeOfBounds } from './select-versions.ts'

function isIn(range: ReturnType<typeof catalogRange>, version: string): boolean {
  const parsed = bundleVersion(version)
  assert.ok(parsed, version)
  return range?.includes(parsed) ?? false
}

/** As Masterminds/semver v3.5 answers for `>=MIN <=MAX`. */
const bounded: readonly [min: string | undefined, max: string | undefined, inside: string, outside: string][] = [
  ['1.2.0', undefined, '1.2.0 1.2.1+build 2.0.0', '1.1.9 1.2.0-rc.1 2.0.0-rc.1'],
  ['1.2.0', '2.0.0', '1.2.0 2.0.0', '2.0.1 2.0.0-rc.1'],
  [undefined, '1.2', '1.2.99 1.0.0', '1.3.0 2.0.0'],
  [undefined, '1', '1.9.9 0.1.0', '2.0.0'],
  ['v1.2', undefined, '1.2.0 1.2.1', '1.1.0'],
  ['0.10.0-mas', undefined, '0.10.0-mas 0.11.0-mas 0.11.0', '0.9.0'],
  // A pre-release in one bound opens the range for all of them.
  ['1.0.0', '2.0.0-rc.2', '1.5.0-alpha 2.0.0-rc.1', '2.0.0 0.9.0'],
  [undefined, '0.8.0+0.1634606167.p', '0.8.0 0.8.0+0.1634606167.p 0.8.0+9', '0.8.1'],
]

test('bounds of a configuration take in what oc-mirror takes in', () => {
  for (const [minVersion, maxVersion, inside, outside] of bounded) {
    const range = rangeOfBounds({ minVersion, maxVersion })
    for (const version of inside.split(' ')) assert.ok(isIn(range, version), `${version} in ${range?.text}`)
    for (const version of outside.split(' ')) assert.ok(!isIn(range, version), `${version} not in ${range?.text}`)
  }
  assert.equal(rangeOfBounds({}), undefined)
  assert.equal(rangeOfBounds({ minVersion: 'v1.2', maxVersion: '2.0.0' })?.text, '>=v1.2 <=2.0.0')
})

test('ranges of catalogs are read as OLM reads them', () => {
  const cases: readonly [range: string, inside: string, outside: string][] = [
    ['>=1.0.0 <1.2.0', '1.0.0 1.1.9 1.2.0-rc.1', '1.2.0 1.0.0-rc.1'],
    ['<1.0.0 || >=2.0.0 !=2.1.0', '0.9.0 2.0.0 3.0.0', '1.0.0 2.1.0'],
    ['1.2.3', '1.2.3', '1.2.4'],
    ['1.2.x', '1.2.0 1.2.9', '1.3.0'],
    ['>=1.x', '1.0.0 2.0.0', '0.9.0'],
    ['>1.2.x', '1.3.0', '1.2.9'],
    ['>= 1.0.0 < 2.0.0', '1.5.0', '2.0.0'],
  ]
  for (const [text, inside, outside] of cases) {
    for (const version of inside.split(' ')) assert.ok(isIn(catalogRange(text), version), `${version} in ${text}`)
    for (const version of outside.split(' ')) assert.ok(!isIn(catalogRange(text), version), `${version} not in ${text}`)
  }
  for (const text of ['', 'newest', '>=', '>=1.0.0 ||', '~1.2.3', '>1.0.0,<2.0.0'])
    assert.equal(catalogRange(text), undefined, text)
})

test('a bundle has a strict semantic version or none', () => {
  for (const text of ['1.2', 'v1.2.3', '01.2.3', ' 1.2.3', '', undefined])
    assert.equal(bundleVersion(text), undefined, String(text))
  assert.equal(bundleVersion('1.2.3-5+0.1687199951.p')?.raw, '1.2.3-5+0.1687199951.p')
})
