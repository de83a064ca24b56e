import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type ByteFilter, createSecretFilter } from './secret-filter.ts'
import { secretForms } from './secret-forms.ts'
import { secretPieces } from './secret-pieces.ts'
import { SecretSet } from './secret-set.ts'

/** `bytes` through `filter`, cut at `cuts`, which are lengths that are used in turn. */
function filtered(filter: ByteFilter, bytes: Uint8Array, cuts: readonly number[] = [bytes.length || 1]): Buffer {
  const out: Uint8Array[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = cuts[turn % cuts.length] ?? 1
    // A reader may use its memory again.
    const chunk = Buffer.from(bytes.subarray(at, at + length))
    out.push(Buffer.from(filter.push(chunk)))
    chunk.fill(0)
    at += length
  }
  return Buffer.concat([...out, filter.end()])
}

function shown(secrets: readonly string[], text: string, cuts?: readonly number[]): string {
  return filtered(createSecretFilter(secrets), Buffer.from(text), cuts).toString()
}

const anyCuts = fc.oneof(
  fc.constant([1]),
  fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
  fc.constant([100_000]),
)
const printable = fc.stringMatching(/^[ -~]{0,30}$/)
const secretText = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9]{6,20}$/),
  fc.stringMatching(/^[!-~]{6,40}$/),
  fc.stringMatching(/^[!-~][ -~]{6,200}[!-~]$/),
  fc.string({ unit: 'grapheme', minLength: 6, maxLength: 20 }).filter((text) => text.trim().length >= 6),
)

interface Spelling {
  readonly name: string
  /** What a program prints, and what of it must not be seen. */
  spell(secret: string, before: string, after: string): { readonly printed: string; readonly hidden: string }
}

const around =
  (encode: (secret: string) => string): Spelling['spell'] =>
  (secret, before, after) => ({ printed: `${before}${encode(secret)}${after}`, hidden: encode(secret) })

function inBase64(secret: string, before: string, after: string): { readonly whole: string; readonly hidden: string } {
  const [start, length] = [Buffer.byteLength(before), Buffer.byteLength(secret)]
  const whole = Buffer.from(`${before}${secret}${after}`).toString('base64')
  return { whole, hidden: whole.slice(Math.ceil((start * 4) / 3), Math.floor(((start + length) * 4) / 3)) }
}

const form = (text: string) => String(new URLSearchParams({ x: text })).slice(2)
const twice = (text: string) => JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1)
const spellings: readonly Spelling[] = [
  ...Object.entries<(secret: string) => string>({
    'as it is': (secret) => secret,
    encodeURIComponent: (secret) => encodeURIComponent(secret.toWellFormed()),
    'in lower case': (secret) =>
      encodeURIComponent(secret.toWellFormed()).replace(/%../g, (code) => code.toLowerCase()),
    'as a form': form,
    'in JSON': (secret) => JSON.stringify(secret).slice(1, -1),
    'in JSON in JSON': twice,
    'in single quotes': (secret) => secret.replaceAll("'", "'\\''"),
    'in double quotes': (secret) => secret.replace(/["$\\`]/g, '\\$&'),
  }).map(([name, encode]) => ({ name, spell: around(encode) })),
  {
    name: 'in base64',
    spell(secret, before, after) {
      const { whole, hidden } = inBase64(secret, before, after)
      return { printed: whole, hidden }
    },
  },
  {
    name: 'in base64url',
    spell(secret, before, after) {
      const url = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
      const { whole, hidden } = inBase64(secret, before, after)
      return { printed: url(whole), hidden: url(hidden) }
    },
  },
  {
    name: 'in base64 of base64',
    spell(secret, before, after) {
      const inner = inBase64(secret, before, after)
      const { whole } = inBase64(inner.whole, '{"x":"', '"}')
      const at = inner.whole.indexOf(inner.hidden)
      const { hidden } = inBase64(inner.hidden, `{"x":"${inner.whole.slice(0, at)}`, '')
      return { printed: whole, hidden }
    },
  },
]

for (const { name, spell } of spellings) {
  test(`a secret ${name} is not seen, whatever stands around it and however the stream is cut`, () => {
    fc.assert(
      fc.property(secretText, printable, printable, anyCuts, (secret, before, after, cuts) => {
        const { printed, hidden } = spell(secret.toWellFormed(), before, after)
        const output = shown([secret.toWellFormed()], printed, cuts)
        assert.ok(!output.includes(hidden), `${output} shows ${hidden}`)
        assert.ok(output.includes('***'))
      }),
    )
  })
}

test('base64 that a program broke into lines does not show a secret in it', () => {
  const texts = fc.stringMatching(/^[ -~]{0,150}$/)
  fc.assert(
    fc.property(secretText, texts, texts, fc.constantFrom(64, 76), anyCuts, (secret, before, after, columns, cuts) => {
      fc.pre(Buffer.byteLength(secret) < 100)
      const { whole, hidden } = inBase64(secret.toWellFormed(), before, after)
      const lines = whole.replace(new RegExp(`.{${columns}}(?=.)`, 'g'), '$&\n')
      const output = shown([secret.toWellFormed()], lines, cuts)
      assert.ok(!output.replaceAll('\n', '').includes(hidden), output)
      assert.ok(output.includes('***'))
    }),
  )
})

test('text without secrets comes out as it is, byte for byte, however it is cut', () => {
  const secrets = fc.array(fc.stringMatching(/^[!-~]{12,40}$/), { maxLength: 4 })
  fc.assert(
    fc.property(secrets, fc.uint8Array({ maxLength: 400 }), anyCuts, (list, bytes, cuts) => {
      assert.deepEqual(filtered(createSecretFilter(list), bytes, cuts), Buffer.from(bytes))
    }),
  )
})

test('each run of bytes that belong to secrets is one ***, where secrets overlap and repeat, too', () => {
  const few = fc.stringMatching(/^[ab]{4,7}$/)
  const secretsAndText = fc.array(few, { minLength: 1, maxLength: 4 }).chain((secrets) => {
    const part = fc.tuple(fc.constantFrom(...secrets), fc.nat(3), fc.nat(7))
    const parts = fc.array(fc.oneof(part, fc.constant(['c', 0, 1] as const)), { maxLength: 10 })
    return parts.map((list) => ({ secrets, text: list.map(([word, from, to]) => word.slice(from, to)).join('') }))
  })
  fc.assert(
    fc.property(secretsAndText, anyCuts, ({ secrets, text }, cuts) => {
      const isSecret = new Array<boolean>(text.length).fill(false)
      for (const form of secrets.flatMap((secret) =>
        [...secretPieces(secret)].flatMap((piece) => [...secretForms(piece)]),
      )) {
        for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) {
          isSecret.fill(true, at, at + form.length)
        }
      }
      const stars = [...text].map((char, at) => (!isSecret[at] ? char : isSecret[at - 1] ? '' : '***')).join('')
      assert.equal(shown(secrets, text, cuts), stars)
    }),
    { numRuns: 500 },
  )
})

test('a secret that is added on the way is taken out from then on, also the part that was held back', () => {
  fc.assert(
    fc.property(secretText, secretText, printable, anyCuts, (first, second, between, cuts) => {
      const filter = createSecretFilter([`${first}${second}`])
      const begin = filter.push(Buffer.from(first))
      filter.add(second.toWellFormed())
      const output = filtered(filter, Buffer.from(`${second.toWellFormed()}${between}${second.toWellFormed()}`), cuts)
      assert.ok(!`${Buffer.from(begin)}${output}`.includes(second.toWellFormed()))
    }),
  )
})

test('a secret added to a set is taken out of every stream of it', () => {
  const set = new SecretSet()
  const [one, other] = [createSecretFilter(set), createSecretFilter(set)]
  assert.equal(Buffer.from(one.push(Buffer.from('late-secret '))).toString(), 'late-secret ')
  one.add('late-secret')
  assert.equal(filtered(one, Buffer.from('late-secret')).toString(), '***')
  assert.equal(filtered(other, Buffer.from('late-secret')).toString(), '***')
})

test('a prompt without an end of line is shown at once, and only what may become a secret waits', () => {
  const filter = createSecretFilter(['hunter2-long'])
  assert.equal(Buffer.from(filter.push(Buffer.from('Password: '))).toString(), 'Password: ')
  assert.equal(Buffer.from(filter.push(Buffer.from('and hunter2'))).toString(), 'and ')
  assert.equal(Buffer.from(filter.push(Buffer.from('!'))).toString(), 'hunter2!')
})

test('secrets shorter than four bytes are refused', () => {
  const filter = createSecretFilter(['abc', ' ab \n', '', 'abcd'])
  assert.equal(filter.add('x'), false)
  assert.equal(filtered(filter, Buffer.from('abc abcd')).toString(), 'abc ***')
})

const key = [
  '-----BEGIN PRIVATE KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
  'Qk1JSUV2UUlCQURBTkJna3Foa2lHOXcw',
  '-----END PRIVATE KEY-----',
]

test('of a key in many lines no line is seen, in one line of JSON, indented, or in wrapped base64', () => {
  const secret = `${key.join('\n')}\n`
  const [, first = '', second = ''] = key
  const wrapped = Buffer.from(`key: |\n  ${key.join('\n  ')}\n`)
    .toString('base64')
    .replace(/.{76}/g, '$&\n')
  for (const text of [secret, `  ${key.join('\r\n  ')}`, JSON.stringify(secret), `got ${second}`]) {
    const output = shown([secret], text)
    assert.ok(!output.includes(first) && !output.includes(second), output)
  }
  const joined = shown([secret], wrapped).replaceAll('\n', '').split('***').join('\0')
  assert.ok(!Buffer.from(joined, 'base64').includes(second.slice(4, -4)))
})

test('what is public in a file of secrets stays in the log', () => {
  const kubeconfig =
    'apiVersion: v1\nkind: Config\nclusters:\n- cluster:\n    server: https://api.lab:6443\nusers:\n- token: 0123456789abcdef\n'
  const log = 'apiVersion: v1, kind: Config, https://api.lab:6443, -----BEGIN PRIVATE KEY-----'
  assert.equal(shown([kubeconfig, key.join('\n')], log), log)
  assert.equal(shown([kubeconfig], 'with 0123456789abcdef'), 'with ***')
})

test('each credential of a pull secret is secret by itself, and its password in plain text', () => {
  const auth = Buffer.from('openshift-release:pass-of-4-registry').toString('base64')
  const pullSecret = JSON.stringify({ auths: { 'quay.io': { auth, email: 'me@lab.example' } } })
  for (const text of [auth, 'pass-of-4-registry', `curl -u "me:pass-of-4-registry"`, JSON.stringify(pullSecret)]) {
    const output = shown([pullSecret], text)
    assert.ok(!output.includes('pass-of-4') && !output.includes(auth), output)
  }
})
