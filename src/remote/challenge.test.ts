import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseChallenges } from './challenge.ts'

test('a bearer challenge is read with its quoted values', () => {
  const header =
    'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull,push"'
  assert.deepEqual(parseChallenges(header), [
    {
      scheme: 'bearer',
      parameters: {
        realm: 'https://auth.docker.io/token',
        service: 'registry.docker.io',
        scope: 'repository:a/b:pull,push',
      },
    },
  ])
})

test('several challenges in one header are told apart', () => {
  const header = 'Negotiate YWJj==, Basic realm="a \\"b\\", c" , BEARER Realm = token-realm, service=s'
  assert.deepEqual(parseChallenges(header), [
    { scheme: 'negotiate', parameters: {} },
    { scheme: 'basic', parameters: { realm: 'a "b", c' } },
    { scheme: 'bearer', parameters: { realm: 'token-realm', service: 's' } },
  ])
})

test('whatever stands in the header, reading it ends and does not throw', () => {
  const noise = fc.array(fc.constantFrom('Basic', 'Bearer', ' ', ',', '=', '"', '\\', 'realm', 'x', '@', '\t'))
  fc.assert(fc.property(noise, (parts) => void parseChallenges(parts.join(''))))
  fc.assert(fc.property(fc.string(), (text) => void parseChallenges(text)))
})
