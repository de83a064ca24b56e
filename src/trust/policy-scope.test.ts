import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatReference, parseReference } from '../oci/reference.ts'
import { scopesOf } from './policy-scope.ts'

test('an image, its repository, its namespaces, its host, and wildcards of the host without its port', () => {
  assert.deepEqual(scopesOf(parseReference('reg.example.com:5000/a/b/c:1')), [
    'reg.example.com:5000/a/b/c:1',
    'reg.example.com:5000/a/b/c',
    'reg.example.com:5000/a/b',
    'reg.example.com:5000/a',
    'reg.example.com:5000',
    '*.example.com',
    '*.com',
  ])
  assert.deepEqual(scopesOf(parseReference('ubi9')).slice(0, 2), [
    'docker.io/library/ubi9:latest',
    'docker.io/library/ubi9',
  ])
})

test('a digest decides where a tag stands beside it', () => {
  const digest = `sha256:${'a'.repeat(64)}`
  assert.equal(scopesOf(parseReference(`h.test/a:1@${digest}`))[0], `h.test/a@${digest}`)
})

test('each scope is a part of the image that ends where a name ends, or a wildcard of its host', () => {
  const label = fc.stringMatching(/^[a-z][a-z0-9]{0,4}$/)
  const names = fc.record({
    labels: fc.array(label, { minLength: 2, maxLength: 4 }),
    port: fc.constantFrom('', ':5000'),
    path: fc.array(label, { minLength: 1, maxLength: 4 }),
    tag: fc.constantFrom('', ':v1'),
  })
  fc.assert(
    fc.property(names, ({ labels, port, path, tag }) => {
      const image = parseReference(`${labels.join('.')}${port}/${path.join('/')}${tag}`)
      const [first = '', ...wider] = scopesOf(image)
      assert.equal(first, formatReference({ ...image, tag: image.tag ?? 'latest' }))
      const plain = wider.filter((scope) => !scope.startsWith('*.'))
      assert.equal(plain.length, path.length + 1)
      for (const scope of plain) {
        assert.ok(first.startsWith(scope) && ':/'.includes(first.charAt(scope.length)), scope)
      }
      const wildcards = wider.slice(plain.length)
      assert.deepEqual(
        wildcards,
        labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`),
      )
    }),
  )
})
