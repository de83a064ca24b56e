import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createLineFilter } from './line-filter.ts'
import { createLogFilter } from './log-filter.ts'

function shown(text: string | Uint8Array, cuts: readonly number[] = [1_000_000]): Buffer {
  const filter = createLineFilter()
  const bytes = Buffer.from(text)
  const out: Uint8Array[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = cuts[turn % cuts.length] ?? 1
    out.push(Buffer.from(filter.push(bytes.subarray(at, at + length))))
    at += length
  }
  return Buffer.concat([...out, filter.end()])
}

const secretLines = {
  'an access key id': `id ${'AKIA'}IOSFODNN7EXAMPLE of a user`,
  'a secret key beside its name': 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  'a secret key as an argument': 'aws configure set aws_secret_access_key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  'a secret key in JSON': '{"SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "a": 1}',
  'a token of a header': '+ curl -H "X-Auth-Token: wJalrXUtnFEMI" https://lab/',
  authorization: '> Authorization: Basic d0phbHJYVXRuRkVNSQ== wJalr'.replace(' wJalr', ''),
  'user data': '\t"UserData": "d0phbHJYVXRuRkVNSQ==", "x": 1',
  'auth of a pull secret': '{"auths":{"quay.io":{"auth":"d0phbHJYVXRuRkVNSQ=="}}}',
  'auth in JSON in JSON': '{\\"auths\\":{\\"quay.io\\":{\\"auth\\":\\"d0phbHJYVXRuRkVNSQ==\\"}}}',
  'userinfo of a URL': 'http_proxy=http://me:wJalrXUtnFEMI@proxy.lab:3128/',
  'a password in quotes': `export DB_PASSWORD='wJalrXUtnFEMI 7' x`,
  'a password with a quote in JSON': '{"password": "x\\"wJalrXUtnFEMI"}',
  'a password as a flag': 'oc login --password wJalrXUtnFEMI',
  'a signed URL': 'GET https://s3/x?X-Amz-Signature=wJalrXUtnFEMI&a=1',
  'a key in one line': '"key": "-----BEGIN PRIVATE KEY-----\\nwJalrXUtnFEMI\\n-----END PRIVATE KEY-----"',
}

for (const [what, line] of Object.entries(secretLines)) {
  test(`${what} is not seen, and lines around it are, however they are cut`, () => {
    const whole = shown(`before\n${line}\nafter\n`)
    assert.ok(/^before\n.*\*\*\*.*\nafter\n$/.test(whole.toString()), whole.toString())
    assert.ok(!/wJalr|7EXAMPLE|d0pha/.test(whole.toString()), whole.toString())
    for (const cut of [1, 2, 7]) assert.deepEqual(shown(`before\n${line}\nafter\n`, [cut]), whole)
  })
}

test('of a private key only where it begins and ends is seen', () => {
  const key =
    '-----BEGIN RSA PRIVATE KEY-----\r\nMIIEvQIBADAN\r\nQk1JSUV2\r\n-----END RSA PRIVATE KEY-----\r\nnext token\n'
  const expected = '-----BEGIN RSA PRIVATE KEY-----\r\n***\r\n***\r\n-----END RSA PRIVATE KEY-----\r\nnext token\n'
  for (const cut of [1, 5, 1000]) assert.equal(shown(key, [cut]).toString(), expected)
})

const words = fc.constantFrom(
  'basic installation ',
  'pull ',
  'https://quay.io/a',
  '\n',
  '\r',
  '12%',
  '\u001b[31m',
  'ü',
  ' ',
  '"',
  'pass',
  'secret',
  'docker://a',
)
const harmless = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.array(words, { maxLength: 40 }).map((list) => Buffer.from(list.join(''))),
)
const anyCuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 })

test('text without such names comes out as it is, byte for byte, however it is cut', () => {
  fc.assert(
    fc.property(harmless, anyCuts, (bytes, cuts) => {
      assert.deepEqual(shown(bytes, cuts), Buffer.from(bytes))
    }),
    { numRuns: 500 },
  )
})

test('what comes out does not depend on how the stream is cut', () => {
  const signs = fc.constantFrom(
    'password=',
    'a b',
    '\n',
    '\r',
    '://',
    'u:p@h',
    '"auth": "',
    'xyz',
    '"',
    'Private key-----',
    'Basic ',
    'é',
  )
  fc.assert(
    fc.property(fc.array(signs, { maxLength: 30 }), anyCuts, (list, cuts) => {
      assert.equal(shown(list.join(''), cuts).toString(), shown(list.join('')).toString())
    }),
    { numRuns: 500 },
  )
})

test('progress that is drawn again with a carriage return is shown at once, and a line is held only from a name on', () => {
  const filter = createLineFilter()
  const push = (text: string) => Buffer.from(filter.push(Buffer.from(text))).toString()
  assert.equal(push('copied 10%\r'), 'copied 10%\r')
  assert.equal(push('copied 20% at '), 'copied 20% at ')
  assert.equal(push('https://quay'), 'https')
  assert.equal(push('.io/v2 .'), '://quay.io/v2 .')
  assert.equal(push('.. password='), '.. ')
  assert.equal(push('abc'), '')
  assert.equal(push('def\r'), 'password=***\r')
})

test('of a line of more than a mebibyte the rest is not shown', () => {
  const chunk = Buffer.from('x'.repeat(70_000))
  const filter = createLineFilter()
  const out = [filter.push(Buffer.from('a "userdata": "'))]
  for (let round = 0; round < 40; round += 1) out.push(Buffer.from(filter.push(chunk)))
  out.push(filter.push(Buffer.from('"\nnext\n')), filter.end())
  assert.equal(Buffer.concat(out).toString(), 'a "userdata": "******\nnext\n')
})

test('registered secrets are taken out first, then what looks like one', () => {
  const filter = createLogFilter(['s3cret-value'])
  const out = [filter.push(Buffer.from('a s3cret-')), filter.push(Buffer.from('value token=abc')), filter.end()]
  assert.equal(Buffer.concat(out).toString(), 'a *** token=***')
})
