/** Random sets of images that share layers, manifests, indexes and signatures: whatever goes, nothing that stays breaks. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { systemClock } from '../../src/host/clock.ts'
import { mediaTypes } from '../../src/oci/media-type.ts'
import type { SampleImage } from '../../src/quickstart/sample-image.ts'
import { sampleImage } from '../../src/quickstart/sample-image.ts'
import { sampleLayer } from '../../src/quickstart/sample-layer.ts'
import { BlobStore } from '../../src/store/blob-store.ts'
import { collectGarbage } from '../../src/store/collect-garbage.ts'
import { readStatistics } from '../../src/store/statistics.ts'
import { deleteSetText, runGenerate, runListed } from '../../testkit/delete-run.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { makeIndex, makeReferrer, makeSignature } from '../../testkit/image.ts'
import { snapshotRegistry } from '../../testkit/registry-snapshot.ts'
import { pushAll } from '../../testkit/seed.ts'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'

const layers = Array.from({ length: 6 }, (_, index) =>
  sampleLayer({ seed: `shared/${index}`, sizeBytes: 500 + index, mediaType: mediaTypes.ociLayerGzip }),
)

interface Plan {
  readonly repository: number
  /** Layers of each child; one child is an image, more are an index. */
  readonly children: readonly (readonly number[])[]
  readonly isSigned: boolean
  readonly hasReferrer: boolean
  readonly isUnwanted: boolean
  readonly isUsed: boolean
}

const plans: fc.Arbitrary<readonly Plan[]> = fc.array(
  fc.record({
    repository: fc.nat(2),
    children: fc.array(fc.array(fc.nat(5), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    isSigned: fc.boolean(),
    hasReferrer: fc.boolean(),
    isUnwanted: fc.boolean(),
    isUsed: fc.nat(5).map((n) => n === 0),
  }),
  { minLength: 2, maxLength: 8 },
)

function imageOf({ children }: Plan, tag: string): SampleImage {
  const images = children.map((own) => sampleImage({ layers: own.flatMap((n) => layers[n] ?? []), tag: 'none' }))
  const [first] = images
  assert.ok(first)
  const untagged = images.map((image) => ({ ...image, manifests: image.manifests.map(withoutTag) }))
  if (images.length > 1) return makeIndex({ children: untagged, tag })
  return { ...first, manifests: first.manifests.map((manifest) => ({ ...manifest, tag })) }
}

function withoutTag(manifest: SampleImage['manifests'][number]): SampleImage['manifests'][number] {
  const { tag: _, ...rest } = manifest
  return rest
}

/** Everything that a registry holds, by name, but for what was deleted. */
async function run(t: Cleanup, all: readonly Plan[], withSignatures: boolean): Promise<void> {
  const root = await tempDir(t)
  const registry = await startEmbeddedRegistry(t, { root })
  const images = all.map((plan, index) => ({
    plan,
    tag: `t${index}`,
    repository: `extra/r${plan.repository}`,
    image: imageOf(plan, `t${index}`),
  }))
  const content = images.map(({ plan, repository, image }) => {
    const attached = [
      ...(plan.isSigned ? [makeSignature(image)] : []),
      ...(plan.hasReferrer
        ? [makeReferrer({ subject: image, artifactType: 'application/spdx+json', content: '{}' })]
        : []),
    ]
    return { repository: `ocp/${repository}`, images: [image, ...attached] }
  })
  await pushAll(testClient(t).client, registry.address, content)
  const before = await snapshotRegistry(registry.url)
  const at = { target: `docker://${registry.address}/ocp`, workspace: await tempDir(t) }
  const name = ({ repository, tag }: (typeof images)[number]) => `quay.io/${repository}:${tag}`
  const used = images.filter(({ plan }) => plan.isUsed)
  const keepFor = used.length > 0 ? [join(at.workspace, 'used.txt')] : []
  for (const file of keepFor)
    await writeFile(file, used.map(({ repository, image }) => `quay.io/${repository}@${image.digest}\n`).join(''))
  const unwanted = images.filter(({ plan }) => plan.isUnwanted).map((one) => ({ name: name(one) }))
  const options = { ...at, keepFor, withSignatures }
  const { files, bytes } = await runGenerate(t, { ...options, config: deleteSetText({ additional: unwanted }) })
  const result = await runListed(t, { ...options, list: files[0] ?? '' })
  assert.deepEqual([result.exitStatus, result.stuck], [0, []])
  const freed = await collectGarbage(await BlobStore.open(root, systemClock), { graceMs: 0 })
  // This workspace mirrored nothing, so it does not know what other repositories hold.
  assert.ok(freed.bytesFreed <= bytes, `${freed.bytesFreed} freed, ${bytes} promised`)
  assert.equal(readStatistics(await BlobStore.open(root, systemClock)).unreferencedBytes, 0)

  const after = await snapshotRegistry(
    registry.url,
    used.map(({ repository, image }) => `ocp/${repository}@${image.digest}`),
  )
  for (const [key, value] of Object.entries(after)) {
    assert.doesNotMatch(value, /status/, `${key} is broken`)
    if (/:[^/@ ]+$/.test(key) && !key.includes('@')) assert.equal(value, before[key])
  }
  for (const one of images) {
    const key = `ocp/${one.repository}:${one.tag}`
    if (!one.plan.isUnwanted) assert.equal(after[key], one.image.digest, `${key} was not to go`)
    else if (!one.plan.isUsed && !used.some(({ image }) => holds(one.image, image))) assert.equal(after[key], undefined)
    if (one.plan.isUsed) assert.ok(after[`ocp/${one.repository}@${one.image.digest}`], `${key} is in use`)
  }
}

/** True where something of `used` is a part of `image`. */
function holds(image: SampleImage, used: SampleImage): boolean {
  return image.manifests.some(({ descriptor }) => descriptor.digest === used.digest)
}

test('whatever is deleted of a random mirror, all that stays can be read to its last byte, and the disk is freed', async () => {
  const property = fc.asyncProperty(plans, fc.boolean(), async (all, withSignatures) => {
    const cleanups: (() => unknown)[] = []
    try {
      await run({ after: (action) => void cleanups.push(action) }, all, withSignatures)
    } finally {
      for (const cleanup of cleanups.toReversed()) await cleanup()
    }
  })
  await fc.assert(property, { numRuns: Number(process.env['SALLYPORT_RUNS'] ?? 15) })
})
