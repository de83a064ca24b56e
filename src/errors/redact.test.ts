import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KnownError } from './known-error.ts'
import { redact } from './redact.ts'

test('user and password of a URL are taken out, also with a control character or an @ in them', () => {
  assert.equal(redact('GET https://user:pass@registry.lab/v2/'), 'GET https://registry.lab/v2/')
  assert.equal(redact('https://user:pa\r\u0000ss@registry.lab/v2/'), 'https://registry.lab/v2/')
  assert.equal(redact('https://user:p@ss@registry.lab/v2/'), 'https://registry.lab/v2/')
})

test('authorization headers, signed URLs and JSON fields lose their secrets', () => {
  assert.equal(redact('authorization: Basic dXNlcjpwYXNz'), 'authorization: Basic ***')
  assert.equal(redact('Bearer abc.def-ghi_jkl'), 'Bearer ***')
  assert.equal(redact('https://s3/x?X-Amz-Signature=abcdef&a=1'), 'https://s3/x?X-Amz-Signature=***&a=1')
  assert.equal(redact('{"auths":{"r":{"auth":"dXNlcg=="}}}'), '{"auths":{"r":{"auth":"***"}}}')
  assert.equal(redact('password: hunter2, user: me'), 'password: ***, user: me')
})

test('what is no secret stays as it is', () => {
  for (const text of [
    'reg/app:sha256-0123.sig: not there',
    'token realm is on another host',
    'quay.io/a/b@sha256:0123',
    'auth.docker.io: 401',
  ]) {
    assert.equal(redact(text), text)
  }
})

const word = fc.stringMatching(/^[A-Za-z0-9._~!$*+-]{6,20}$/)

test('no password of a URL survives in message, hint or details of an error', () => {
  fc.assert(
    fc.property(word, word, fc.boolean(), (user, password, isBasic) => {
      const secret = `secret-${password}`
      const url = `https://${user}:${secret}@registry.lab:5000/v2/`
      const header = `${isBasic ? 'Basic' : 'Bearer'} ${Buffer.from(secret).toString('base64')}`
      const error = new KnownError('REGISTRY_FAILED', `GET ${url} with ${header}`, { hint: url, details: { url } })
      const all = `${error.message} ${error.hint} ${JSON.stringify(error.details)}`
      assert.ok(!all.includes(secret) && !all.includes(Buffer.from(secret).toString('base64')), all)
      assert.equal(redact(redact(url)), redact(url))
    }),
  )
})
