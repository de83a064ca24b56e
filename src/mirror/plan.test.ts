import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { parseReference, repositoryName } from '../oci/reference.ts'
import type { ResolvedImage, ResolvedManifest } from './closure.ts'
import { planMirror } from './plan.ts'

/** An image of `layers` by name; the same name is the same blob. */
function image(name: string, layers: readonly string[], destination = `mirror.lab/ocp/${name}:v1`): ResolvedImage {
  const blobs = layers.map((layer) => ({
    mediaType: mediaTypes.ociLayerGzip,
    digest: digestOf(layer),
    size: layer.length * 100,
  }))
  const digest = digestOf(`manifest of ${name}: ${layers.join()}`)
  const manifest: ResolvedManifest = {
    descriptor: { mediaType: mediaTypes.ociManifest, digest, size: 500 },
    blobs,
    children: [],
  }
  return {
    selected: {
      source: parseReference(`quay.io/team/${name}@${digest}`),
      class: 'additional',
      destination: parseReference(destination),
      why: `additionalImages ${name}`,
    },
    digest,
    manifests: [manifest],
  }
}

/** An index over the manifests of `children`, in one repository. */
function index(name: string, children: readonly ResolvedImage[]): ResolvedImage {
  const nested = children.flatMap(({ manifests }) => manifests)
  const digest = digestOf(`index ${name}`)
  const descriptor = { mediaType: mediaTypes.ociIndex, digest, size: 300 }
  const root: ResolvedManifest = { descriptor, blobs: [], children: children.map((child) => child.digest) }
  return { ...image(name, []), digest, manifests: [...nested, root] }
}

const nothing = () => false

test('a blob that many images share is planned once, pushed to one repository and mounted into the others', () => {
  const plan = planMirror(
    'mirror.lab/ocp',
    ['a', 'b', 'c'].map((name) => image(name, ['base', `own-${name}`])),
    nothing,
  )

  const base = plan.blobs.find(({ digest }) => digest === digestOf('base'))
  assert.deepEqual(base?.repositories, ['mirror.lab/ocp/a', 'mirror.lab/ocp/b', 'mirror.lab/ocp/c'])
  assert.equal(plan.blobs.length, 4)
  assert.equal(plan.totals.mounts, 2)
  assert.equal(plan.totals.bytes, 400 + 3 * 500)
  assert.equal(plan.totals.logicalBytes, 3 * (400 + 500))
})

test('blobs come largest first, so that the small ones are the last under way', () => {
  const { blobs } = planMirror('m', [image('a', ['x', 'xxxx', 'xx'])], nothing)
  assert.deepEqual(
    blobs.map(({ size }) => size),
    [400, 200, 100],
  )
})

test('manifests come before the indexes that name them, and every tag comes last', () => {
  const amd64 = image('amd64', ['l1'])
  const inner = index('inner', [amd64])
  const outer = index('outer', [{ ...inner, manifests: inner.manifests }])
  const { manifests } = planMirror('m', [outer, image('single', ['l2'])], nothing)

  const order = manifests.map(({ digest }) => digest)
  assert.ok(order.indexOf(amd64.digest) < order.indexOf(inner.digest))
  assert.ok(order.indexOf(inner.digest) < order.indexOf(outer.digest))
  const tagged = manifests.map(({ destination }) => parseReference(destination).tag !== undefined)
  assert.deepEqual(
    tagged,
    tagged.toSorted((a, b) => Number(a) - Number(b)),
  )
})

test('what is at the target is listed as present and moves nothing', () => {
  const there = image('there', ['base', 'own'])
  const plan = planMirror('m', [there, image('new', ['base'])], (candidate) => candidate === there)
  assert.deepEqual(
    plan.blobs.map(({ digest }) => digest),
    [digestOf('base')],
  )
  assert.deepEqual(plan.images.map(({ isPresent }) => isPresent).sort(), [false, true])
})

const anyImages = fc.uniqueArray(
  fc.tuple(fc.stringMatching(/^[a-z]{1,6}$/), fc.array(fc.stringMatching(/^[a-f]{1,3}$/), { maxLength: 5 })),
  {
    selector: ([name]) => name,
    maxLength: 8,
  },
)

test('the plan is the same whatever the order of the images, names each blob once, and leaves out none', () => {
  fc.assert(
    fc.property(anyImages, fc.nat(), (specs, seed) => {
      const images = specs.map(([name, layers]) => image(name, layers))
      const shuffled = images.toSorted((a, b) =>
        digestOf(`${seed}${a.digest}`).localeCompare(digestOf(`${seed}${b.digest}`)),
      )
      const plan = planMirror('m', images, nothing)
      assert.deepEqual(planMirror('m', shuffled, nothing), plan)
      const pairs = plan.blobs.flatMap(({ digest, repositories }) =>
        repositories.map((repository) => `${repository} ${digest}`),
      )
      const wanted = images.flatMap(({ selected, manifests }) =>
        manifests.flatMap(({ blobs }) =>
          blobs.map(({ digest }) => `${repositoryName(selected.destination)} ${digest}`),
        ),
      )
      assert.deepEqual([...pairs].sort(), [...new Set(wanted)].sort())
      assert.equal(new Set(plan.blobs.map(({ digest }) => digest)).size, plan.blobs.length)
    }),
  )
})
