import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayReceiveCredentials } from './realm-trust.ts'

const cases: readonly [realm: string, origin: string, isTrusted: boolean][] = [
  ['https://quay.io/v2/auth', 'https://quay.io', true],
  ['https://auth.docker.io/token', 'https://registry-1.docker.io', true],
  ['https://gitlab.com/jwt/auth', 'https://registry.gitlab.com', true],
  ['https://sso.redhat.com/auth', 'https://registry.redhat.io', false],
  ['http://quay.io/v2/auth', 'https://quay.io', false],
  ['https://evil.example/token', 'https://quay.io', false],
  ['https://quay.io.evil.example/token', 'https://quay.io', false],
  ['https://evil.co.uk/token', 'https://registry.co.uk', false],
  ['https://auth.good.co.uk/token', 'https://registry.good.co.uk', true],
  ['https://evil.github.io/token', 'https://good.github.io', false],
  ['https://10.0.0.2/token', 'https://10.0.0.1', false],
  ['https://registry.lab:5001/token', 'https://registry.lab:5000', true],
  ['http://127.0.0.1:5001/token', 'http://127.0.0.1:5000', false],
  ['http://127.0.0.1:5000/token', 'http://127.0.0.1:5000', true],
  ['https://auth/token', 'https://registry', false],
]

for (const [realm, origin, isTrusted] of cases) {
  test(`credentials of ${origin} ${isTrusted ? 'may' : 'may not'} go to ${realm}`, () => {
    assert.equal(mayReceiveCredentials(new URL(realm), new URL(origin), []), isTrusted)
  })
}

test('a token service that was allowed by name receives them, but not over plain HTTP', () => {
  const origin = new URL('https://quay.io')
  assert.equal(mayReceiveCredentials(new URL('https://sso.corp:8443/t'), origin, ['sso.corp:8443']), true)
  assert.equal(mayReceiveCredentials(new URL('http://sso.corp:8443/t'), origin, ['sso.corp:8443']), false)
})
