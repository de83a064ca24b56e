import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatReference, parseReference, repositoryName } from '../oci/reference.ts'
import { matchesIdentity } from './policy-identity.ts'

const digests = ['a', 'b'].map((letter) => `@sha256:${letter.repeat(64)}`)
const repositories = ['h.test/ns/one', 'h.test/ns/two', 'h.test/nsx/one', 'other.test:5000/ns/one']
const names = fc
  .tuple(fc.constantFrom(...repositories), fc.constantFrom('', ':1', ':latest', ...digests))
  .map((parts) => parts.join(''))

test('matchExact is the same full name, and a name without tag and digest never is', () => {
  fc.assert(
    fc.property(names, names, (image, signed) => {
      const full = parseReference(image)
      const isFull = /:[^/]*$/.test(signed)
      const wanted = (full.tag ?? full.digest) ? formatReference(full) : `${image}:latest`
      assert.equal(matchesIdentity({ type: 'matchExact' }, full, signed), isFull && signed === wanted)
    }),
  )
})

test('matchRepository asks for the repository alone', () => {
  fc.assert(
    fc.property(names, names, (image, signed) => {
      const wanted = repositoryName(parseReference(image)) === repositoryName(parseReference(signed))
      assert.equal(matchesIdentity({ type: 'matchRepository' }, parseReference(image), signed), wanted)
    }),
  )
})

test('matchRepoDigestOrExact is matchExact for a tag, and for a digest any full name of the repository', () => {
  fc.assert(
    fc.property(names, names, (image, signed) => {
      const reference = parseReference(image)
      const signature = parseReference(signed)
      const matches = (type: 'matchExact' | 'matchRepository' | 'matchRepoDigestOrExact') =>
        matchesIdentity({ type }, reference, signed)
      const isFull = signature.tag !== undefined || signature.digest !== undefined
      const wanted = reference.digest === undefined ? matches('matchExact') : isFull && matches('matchRepository')
      assert.equal(matches('matchRepoDigestOrExact'), wanted)
    }),
  )
})

test('remapIdentity exchanges a prefix that ends where a name ends, and leaves all others alone', () => {
  const remap = { type: 'remapIdentity', prefix: 'h.test/ns', signedPrefix: 'vendor.test' } as const
  const matches = (image: string, signed: string) => matchesIdentity(remap, parseReference(image), signed)
  assert.equal(matches('h.test/ns/one:1', 'vendor.test/one:1'), true)
  assert.equal(matches('h.test/ns/one:1', 'h.test/ns/one:1'), false)
  assert.equal(matches('h.test/nsx/one:1', 'h.test/nsx/one:1'), true)
  assert.equal(matches(`h.test/ns/one${digests[0]}`, 'vendor.test/one:whatever'), true)
  assert.equal(matches(`h.test/ns/one${digests[0]}`, 'vendor.test/one'), false)
  fc.assert(
    fc.property(names, names, (image, signed) => {
      const nowhere = { ...remap, prefix: 'elsewhere.test' }
      const plain = { type: 'matchRepoDigestOrExact' } as const
      const reference = parseReference(image)
      assert.equal(matchesIdentity(nowhere, reference, signed), matchesIdentity(plain, reference, signed))
    }),
  )
})

test('a remapping that makes no full name matches nothing', () => {
  const short = { type: 'remapIdentity', prefix: 'h.test', signedPrefix: 'vendor' } as const
  assert.equal(matchesIdentity(short, parseReference('h.test/one:1'), 'docker.io/vendor/one:1'), false)
})

test('exactReference and exactRepository do not look at the image', () => {
  const image = parseReference('h.test/ns/one:1')
  const reference = { type: 'exactReference', dockerReference: 'v.test/x:2' } as const
  assert.equal(matchesIdentity(reference, image, 'v.test/x:2'), true)
  assert.equal(matchesIdentity(reference, image, 'v.test/x:1'), false)
  assert.equal(matchesIdentity(reference, image, 'h.test/ns/one:1'), false)
  const repository = { type: 'exactRepository', dockerRepository: 'v.test/x' } as const
  assert.equal(matchesIdentity(repository, image, 'v.test/x'), true)
  assert.equal(matchesIdentity(repository, image, 'v.test/x:9'), true)
  assert.equal(matchesIdentity(repository, image, 'v.test/x/y'), false)
})

test('what is no reference matches nothing', () => {
  for (const type of ['matchExact', 'matchRepoDigestOrExact', 'matchRepository'] as const) {
    assert.equal(matchesIdentity({ type }, parseReference('h.test/a:1'), 'H.TEST/A:1:2'), false)
  }
})
