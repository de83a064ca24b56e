import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileBlockedVersions } from './blocked-versions.ts'

const matches: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['.*', ['4.1.0+amd64', ''], []],
  ['4[.](11[.].*|12[.]([0-9]|[1-3][0-9]|40)[+].*)', ['4.11.3+amd64', '4.12.40+arm64'], ['4.12.41+amd64', '4.12.40']],
  ['4\\.8\\..*', ['4.8.0-rc.1+s390x', '14.8.0'], ['4.80.1']],
  ['^4[.]5[.]41', ['4.5.41+amd64'], ['14.5.41']],
  ['4[.](12[.]([0-9]|50])|11[.].*)[+].*', ['4.12.50]+amd64', '4.11.9+amd64'], ['4.12.50+amd64']],
  ['(?i)RC', ['4.1.0-rc.1'], ['4.1.0']],
  ['4\\.(?P<minor>1)\\.(?:2|3)$', ['4.1.2'], ['4.1.20']],
  ['(?i:RC)[.]1', ['4.1.0-rc.1'], ['4.1.0-rc.2']],
  ['\\A4[.]1\\z', ['4.1'], ['4.1\n', 'x4.1']],
  ['4[.][[:digit:]]+$', ['4.123'], ['4.x']],
  ['x[]a]', ['x]', 'xa'], ['xb']],
]

for (const [pattern, matching, others] of matches) {
  test(`versions are matched as the update service matches them: ${pattern}`, () => {
    const compiled = compileBlockedVersions(pattern)
    for (const version of matching) assert.ok(compiled.test(version), `${version} is matched`)
    for (const version of others) assert.ok(!compiled.test(version), `${version} is not matched`)
  })
}

const refused = [
  '4.(?=1)',
  '4.(?!1)',
  '(?<=4).1',
  '(?<!4).1',
  '(4).\\1',
  '4.\\q',
  '[a[b]]',
  '[a-z&&[^b]]',
  '[[:^digit:]]',
  '4.(',
  '4[',
]

for (const pattern of refused) {
  test(`what the update service does not understand, or nobody, is refused: ${pattern}`, () => {
    assert.throws(() => compileBlockedVersions(pattern), SyntaxError)
  })
}
