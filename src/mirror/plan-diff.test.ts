import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyImageSpecs, type ImageSpec, planOf } from '../../testkit/plans.ts'
import { diffPlans } from './plan-diff.ts'

const destinations = (images: readonly { readonly destination: string }[]) =>
  images.map(({ destination }) => destination)

test('images and blobs that came, went and changed are told apart, and each once', () => {
  const before = planOf([
    { name: 'kept', layers: ['base'] },
    { name: 'gone', layers: ['base', 'gone'] },
    { name: 'moved', layers: ['base', 'old'] },
  ])
  const after = planOf([
    { name: 'kept', layers: ['base'] },
    { name: 'new', layers: ['base', 'brand'] },
    { name: 'moved', layers: ['base', 'new'] },
  ])
  const { images, blobs } = diffPlans(before, after)
  assert.deepEqual(destinations(images.added), ['new:v1'])
  assert.deepEqual(destinations(images.removed), ['gone:v1'])
  assert.deepEqual(destinations(images.changed), ['moved:v1'])
  assert.equal(
    images.changed[0]?.before,
    before.images.find(({ destination }) => destination.endsWith('moved:v1'))?.digest,
  )
  assert.equal(images.same, 1)
  assert.deepEqual(
    [blobs.added.map(({ size }) => size), blobs.removed.map(({ size }) => size), blobs.same, blobs.sameBytes],
    [[500, 300], [400, 300], 1, 400],
  )
})

test('plans for different targets, or for an archive, are compared below the target', () => {
  const specs: ImageSpec[] = [{ name: 'app', layers: ['base'], isSigned: true }]
  for (const target of ['other.lab:8443', 'archive.invalid', 'mirror.lab/ocp/deeper']) {
    const { images, blobs } = diffPlans(planOf(specs), planOf(specs, target))
    assert.deepEqual([images.added, images.removed, images.changed, images.same], [[], [], [], 2])
    assert.deepEqual([blobs.added, blobs.removed, blobs.same], [[], [], 1 + 1])
  }
})

test('nothing differs from itself, and the other way round added is removed', () => {
  fc.assert(
    fc.property(anyImageSpecs, anyImageSpecs, (first, second) => {
      const [a, b] = [planOf(first), planOf(second)]
      const none = diffPlans(a, a)
      assert.deepEqual([none.images.added, none.images.removed, none.images.changed], [[], [], []])
      const [there, back] = [diffPlans(a, b), diffPlans(b, a)]
      assert.deepEqual(there.images.added, back.images.removed)
      assert.deepEqual(there.images.removed, back.images.added)
      assert.deepEqual(destinations(there.images.changed), destinations(back.images.changed))
      assert.deepEqual(there.blobs.added, back.blobs.removed)
      const { added, changed, same } = there.images
      assert.equal(added.length + changed.length + same, new Set(destinations(b.images)).size)
    }),
  )
})
