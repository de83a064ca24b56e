import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { type ImageOptions, makeImage, makeIndex, makeReferrer } from '../../testkit/image.ts'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'
import { systemClock } from '../host/clock.ts'
import type { Digest } from '../oci/digest.ts'
import { parseManifest } from '../oci/manifest.ts'
import { BlobStore } from './blob-store.ts'
import { collectGarbage } from './collect-garbage.ts'
import { Repository } from './repository.ts'
import { readStatistics } from './statistics.ts'

const hour = 3_600_000
type Image = ReturnType<typeof makeImage>

async function emptyStore(t: Cleanup): Promise<{ store: BlobStore; clock: FakeClock }> {
  const clock = new FakeClock({ now: systemClock.now() })
  return { store: await BlobStore.open(await tempDir(t), clock), clock }
}

async function putBlobs(store: BlobStore, name: string, image: Image): Promise<void> {
  for (const blob of image.blobs) {
    await store.put(blob.descriptor, blob.open(), 'test')
    new Repository(store, name).addBlob(blob.descriptor.digest)
  }
}

async function putImage(store: BlobStore, name: string, image: Image, tag?: string): Promise<void> {
  await putBlobs(store, name, image)
  for (const [index, { descriptor, bytes }] of image.manifests.entries()) {
    const { mediaType, digest } = descriptor
    const { subject } = parseManifest(bytes, mediaType, name)
    const isLast = index === image.manifests.length - 1
    const referrer = subject && { subject: subject.digest, descriptor }
    const tags = isLast && tag !== undefined ? [tag] : []
    await new Repository(store, name).putManifest(
      { digest, bytes, mediaType, tags, ...(referrer && { referrer }) },
      () => undefined,
    )
  }
}

function everythingOf(image: Image): Digest[] {
  return [...image.manifests, ...image.blobs].map(({ descriptor }) => descriptor.digest)
}

function isWhole(store: BlobStore, image: Image): boolean {
  return everythingOf(image).every((digest) => store.sizeOf(digest) !== undefined)
}

const sample = (seed: string, options: Partial<ImageOptions> = {}) => makeImage({ seed, ...options })

test('what a manifest names stays, also without a tag; what none names is freed after the grace period', async (t) => {
  const { store, clock } = await emptyStore(t)
  const kept = sample('kept')
  const orphan = sample('orphan')
  await putImage(store, 'a', kept)
  await putBlobs(store, 'a', orphan)
  clock.advance(hour)
  assert.equal((await collectGarbage(store, { graceMs: 2 * hour })).blobsFreed, 0)
  const report = await collectGarbage(store, { graceMs: hour / 2 })
  assert.equal(report.blobsFreed, orphan.blobs.length)
  assert.equal(
    report.bytesFreed,
    orphan.blobs.reduce((sum, { descriptor }) => sum + descriptor.size, 0),
  )
  assert.ok(isWhole(store, kept))
  for (const { descriptor } of orphan.blobs) assert.equal(new Repository(store, 'a').hasBlob(descriptor.digest), false)
})

test('a blob of two repositories stays while one of them needs it', async (t) => {
  const { store, clock } = await emptyStore(t)
  const image = sample('shared')
  await putImage(store, 'a', image)
  await putImage(store, 'b/c', image)
  const { uniqueBytes, sharedBytes } = readStatistics(store)
  assert.equal(sharedBytes, uniqueBytes)
  await new Repository(store, 'a').removeManifest(image.digest, undefined)
  clock.advance(hour)
  assert.equal((await collectGarbage(store, { graceMs: 1 })).blobsFreed, 0)
  assert.ok(isWhole(store, image))
  await new Repository(store, 'b/c').removeManifest(image.digest, undefined)
  await collectGarbage(store, { graceMs: 1 })
  assert.equal(readStatistics(store).uniqueBytes, 0)
})

test('with untagged, a tag holds the children of its index and what refers to them; nothing else stays', async (t) => {
  const { store, clock } = await emptyStore(t)
  const child = sample('child')
  const index = makeIndex({ children: [child] })
  const signature = makeReferrer({ subject: child, artifactType: 'application/x-signature', content: 'signed' })
  const untagged = sample('untagged')
  await putImage(store, 'a', index, 'v1')
  await putImage(store, 'a', signature)
  await putImage(store, 'a', untagged)
  clock.advance(hour)
  const dryRun = await collectGarbage(store, { graceMs: 1, untagged: true, dryRun: true })
  assert.ok(isWhole(store, untagged))
  const report = await collectGarbage(store, { graceMs: 1, untagged: true })
  assert.deepEqual([report.manifestsRemoved, dryRun.blobsFreed], [1, report.blobsFreed])
  assert.ok(isWhole(store, index) && isWhole(store, signature))
  assert.equal(isWhole(store, untagged), false)
  assert.equal(new Repository(store, 'a').mediaTypeOf(untagged.digest), undefined)
})

test('a push that meets a collection keeps its blobs, whichever comes first', async (t) => {
  const { store, clock } = await emptyStore(t)
  const [early, late] = [sample('early'), sample('late')]
  await putBlobs(store, 'a', early)
  await putBlobs(store, 'a', late)
  clock.advance(hour)
  const [manifest] = early.manifests
  assert.ok(manifest)
  const { digest, mediaType } = manifest.descriptor
  // The collection runs between the look of the push at its blobs and the record of its manifest.
  const collected: Promise<unknown>[] = []
  await new Repository(store, 'a').putManifest({ digest, mediaType, bytes: manifest.bytes, tags: [] }, () => {
    for (const { descriptor } of early.blobs) assert.ok(store.sizeOf(descriptor.digest) !== undefined)
    collected.push(collectGarbage(store, { graceMs: 1 }))
  })
  await Promise.all(collected)
  assert.ok(isWhole(store, early))
  assert.equal(
    late.blobs.some(({ descriptor }) => store.sizeOf(descriptor.digest) !== undefined),
    false,
  )
})

test('with a manifest that cannot be read nothing is freed', async (t) => {
  const { store, clock } = await emptyStore(t)
  const image = sample('damaged')
  await putImage(store, 'a', image)
  await putBlobs(store, 'a', sample('orphan'))
  clock.advance(hour)
  await writeFile(store.paths.blob(image.digest), 'no manifest')
  await assert.rejects(collectGarbage(store, { graceMs: 1 }), { code: 'STORE_CORRUPT', message: /a@sha256:/ })
  assert.ok(sample('orphan').blobs.every(({ descriptor }) => store.sizeOf(descriptor.digest) !== undefined))
})
