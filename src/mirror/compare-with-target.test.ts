import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeImage, makeMultiArch } from '../../testkit/image.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import type { Cleanup } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { parseReference } from '../oci/reference.ts'
import type { SampleImage } from '../quickstart/sample-image.ts'
import { type ResolvedImage, resolveImage } from './closure.ts'
import { compareWithTarget } from './compare-with-target.ts'
import { planMirror } from './plan.ts'

const signal = new AbortController().signal

/** Three images at a source, a plan of them, and a target that is empty. */
async function scene(t: Cleanup, isPresent: (image: ResolvedImage) => boolean = () => false) {
  const [source, registry] = [await startScriptedRegistry(t), await startScriptedRegistry(t)]
  const { client } = testClient(t)
  const base = makeMultiArch({ seed: 'list', architectures: ['amd64', 'arm64'], tag: '1' })
  const images = {
    list: base,
    two: makeImage({ seed: 'two', tag: '1' }),
    three: makeImage({ seed: 'three', tag: '1' }),
  }
  const place = (to: string, image: SampleImage, repository: string) =>
    pushAll(client, to, [{ repository, images: [image] }])
  const resolved: ResolvedImage[] = []
  for (const [name, image] of Object.entries(images)) {
    await place(source.address, image, `team/${name}`)
    const selected = {
      source: parseReference(`${source.address}/team/${name}:1`),
      class: 'additional',
      destination: parseReference(`mirror.lab/ocp/${name}:1`),
      why: `additionalImages ${name}`,
    } as const
    resolved.push(...(await resolveImage(selected, { source: client, signal })))
  }
  const plan = planMirror('mirror.lab/ocp', resolved, isPresent)
  const compare = () =>
    compareWithTarget(plan, { target: { registry: registry.address, path: 'x' }, registry: client, signal })
  return {
    registry,
    images,
    plan,
    compare,
    put: (image: SampleImage, name: string) => place(registry.address, image, `x/${name}`),
  }
}

test('at an empty target everything is missing, and all bytes are to be moved', async (t) => {
  const { plan, compare } = await scene(t)
  const { images, blobs } = await compare()
  assert.equal(images.there, 0)
  assert.deepEqual(
    images.missing.map(({ destination }) => destination),
    ['list:1', 'three:1', 'two:1'],
  )
  assert.deepEqual([blobs.there, blobs.missing.length, blobs.missingBytes], [0, plan.totals.blobs, plan.totals.bytes])
})

test('what is there, missing and different is told apart, under another target than planned', async (t) => {
  const { registry, images: made, plan, compare, put } = await scene(t)
  await put(made.list, 'list')
  await put(made.list, 'two')
  registry.requests.length = 0
  const { images, blobs } = await compare()
  assert.equal(images.there, 1)
  assert.deepEqual(
    images.missing.map(({ destination }) => destination),
    ['three:1'],
  )
  assert.deepEqual(
    images.differing.map(({ destination, before }) => [destination, before]),
    [['two:1', made.list.digest]],
  )
  const listBytes = plan.totals.bytes - blobs.missingBytes
  assert.equal(blobs.thereBytes, listBytes)
  assert.ok(listBytes > 0 && blobs.missing.length > 0)
  const asked = registry.requests.filter(({ path }) => path.includes('/blobs/'))
  assert.ok(
    asked.every(({ path }) => !path.includes('/x/list/')),
    'an image that is there was looked into',
  )
})

test('an image that the plan counts as there and is not is named, since nothing was planned for it', async (t) => {
  const { compare } = await scene(t, ({ selected }) => selected.destination.repository === 'ocp/two')
  const { images } = await compare()
  assert.deepEqual(images.unplanned, ['two:1'])
})
