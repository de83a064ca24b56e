import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { digestOf } from './digest.ts'
import {
  formatReference,
  isRepositoryPath,
  isTag,
  parseReference,
  type Reference,
  repositoryName,
} from './reference.ts'

const digest = digestOf('x')

const readings: Readonly<Record<string, Reference>> = {
  ubi9: { registry: 'docker.io', repository: 'library/ubi9' },
  'ubi9:1': { registry: 'docker.io', repository: 'library/ubi9', tag: '1' },
  'grafana/grafana': { registry: 'docker.io', repository: 'grafana/grafana' },
  'index.docker.io/ubi9': { registry: 'docker.io', repository: 'library/ubi9' },
  'localhost/a': { registry: 'localhost', repository: 'a' },
  'localhost:5000/a:b': { registry: 'localhost:5000', repository: 'a', tag: 'b' },
  'quay.io/a/b': { registry: 'quay.io', repository: 'a/b' },
  'QUAY.io/a': { registry: 'QUAY.io', repository: 'a' },
  '[::1]:5000/a:1': { registry: '[::1]:5000', repository: 'a', tag: '1' },
  [`quay.io/a@${digest}`]: { registry: 'quay.io', repository: 'a', digest },
  [`quay.io:443/a:1@${digest}`]: { registry: 'quay.io:443', repository: 'a', tag: '1', digest },
}
for (const [text, reference] of Object.entries(readings)) {
  test(`${text} is read as podman reads it`, () => assert.deepEqual(parseReference(text), reference))
}

const refused = [
  '',
  '/',
  'quay.io/',
  'quay.io/A/b',
  'quay.io/a//b',
  'quay.io/a:',
  'quay.io/a@sha256:12',
  'quay.io/a:1:2',
  'a b',
  'quay.io/-a',
  'quay.io/a__ _b',
  `quay.io/a@${digest}@${digest}`,
  'https://quay.io/a',
  `quay.io/${'a'.repeat(256)}`,
  `quay.io/a:${'t'.repeat(129)}`,
  'quay.io/../a',
  'quay.io:x/a',
]
for (const text of refused) {
  test(`${JSON.stringify(text.slice(0, 40))} is refused, and the message repeats it`, () => {
    assert.throws(
      () => parseReference(text),
      (error: Error & { code?: string }) => {
        assert.equal(error.code, 'REFERENCE_INVALID')
        assert.ok(error.message.includes(`"${text}"`))
        return true
      },
    )
  })
}

const component = fc.stringMatching(/^[a-z0-9]{1,8}(?:(?:\.|_|__|-{1,3})[a-z0-9]{1,4}){0,2}$/)
const reference = fc
  .record(
    {
      registry: fc.constantFrom('quay.io', 'localhost', 'registry.lab:8443', '[fd00::1]:5000', '10.0.0.5:5000'),
      repository: fc.array(component, { minLength: 2, maxLength: 4 }).map((parts) => parts.join('/')),
      tag: fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,20}$/),
      digest: fc.string().map((text) => digestOf(text)),
    },
    { requiredKeys: ['registry', 'repository'] },
  )
  .map((value): Reference => ({ ...value }) as Reference)

test('what is written is read back as it was', () => {
  fc.assert(fc.property(reference, (one) => assert.deepEqual(parseReference(formatReference(one)), one)))
})

test('any text is a reference that can be written and read again, or a known error', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'ab.:/@-_[]A0') }))
  fc.assert(
    fc.property(text, (input) => {
      let parsed: Reference
      try {
        parsed = parseReference(input)
      } catch (error) {
        assert.equal((error as Error & { code?: string }).code, 'REFERENCE_INVALID')
        return
      }
      assert.deepEqual(parseReference(formatReference(parsed)), parsed)
      assert.ok(isRepositoryPath(parsed.repository))
      assert.ok(parsed.tag === undefined || isTag(parsed.tag))
      assert.ok(formatReference(parsed).startsWith(repositoryName(parsed)))
    }),
    { numRuns: 1000 },
  )
})
