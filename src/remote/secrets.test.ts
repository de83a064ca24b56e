import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { testClient } from '../../testkit/test-client.ts'
import { parseAuthFile } from './auth-file-format.ts'

/** Passwords as people and programs make them; long enough not to occur by chance. */
const password = fc
  .array(fc.constantFrom(...'abcXYZ019-._~!$%&*+=:@/ "\'{}'), { minLength: 12, maxLength: 30 })
  .map((letters) => `pw-${letters.join('')}`)

test('no password appears in an error, its details, its causes or the log, whatever the registry does with it', async (t) => {
  const registry = await startScriptedRegistry(t, { auth: { kind: 'basic', username: 'u', password: 'never given' } })
  const at = { registry: registry.address, repository: 'x/y', tag: 'z' }
  await fc.assert(
    fc.asyncProperty(password, fc.constantFrom(401, 403, 500, 307), async (secret, status) => {
      const inUrl = encodeURIComponent(secret)
      registry.fault({
        path: /manifests/,
        times: 8,
        status,
        body: JSON.stringify({ errors: [{ code: 'X', message: `no: http://u:${inUrl}@host/ token=${inUrl}` }] }),
        headers: { location: `http://u:${inUrl}@127.0.0.1:1/elsewhere`, 'www-authenticate': 'Basic realm="x"' },
      })
      const credentials = {
        find: async () => ({ kind: 'password', username: 'u', password: secret, key: 'k' }) as const,
      }
      const { client, lines } = testClient(t, { credentials, limits: { retries: { attempts: 2, connectAttempts: 1 } } })
      const error: unknown = await client.fetchManifest(at).then(
        () => undefined,
        (caught: unknown) => caught,
      )
      assert.ok(error instanceof Error)
      const output = inspect(error, { depth: 10, showHidden: false }) + lines.join('\n')
      const encoded = Buffer.from(`u:${secret}`).toString('base64')
      for (const form of [secret, inUrl, encoded]) assert.ok(!output.includes(form), `${form} in ${output}`)
    }),
    { numRuns: 40 },
  )
})

test('no part of an auth file appears in the error that it is malformed', () => {
  fc.assert(
    fc.property(password, fc.nat(60), (secret, cut) => {
      const text = JSON.stringify({ auths: { 'r.example': { auth: Buffer.from(secret).toString('base64url') } } })
      try {
        parseAuthFile(text.slice(0, text.length - cut), 'auth.json')
      } catch (error) {
        const output = inspect(error, { depth: 10 })
        assert.ok(!output.includes(Buffer.from(secret).toString('base64url').slice(0, 8)), output)
      }
    }),
  )
})
