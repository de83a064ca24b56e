import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { type ArchiveSample, contentOfImages, writeSampleArchive } from '../../../testkit/archive.ts'
import { makeMultiArch, makeReferrer, makeSignature } from '../../../testkit/image.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { hexOf } from '../../oci/digest.ts'
import { parseReference } from '../../oci/reference.ts'
import type { ArchiveImage } from '../format/records.ts'
import type { Archive } from './archive.ts'
import { archiveSource } from './archive-source.ts'
import { findArchives } from './find-archives.ts'
import { openArchive } from './read-archive.ts'

const image = makeMultiArch({ seed: 'source', architectures: ['amd64', 'arm64'], layerBytes: 20_000 })
const signature = makeSignature(image)
const bom = makeReferrer({
  subject: image,
  artifactType: 'application/spdx+json',
  content: 'bom',
  annotations: { made: 'by hand' },
})
const tag = `sha256-${hexOf(image.digest)}.sig`
const images: readonly ArchiveImage[] = [
  { source: 'quay.io/a/b:1', destination: 'x/b:1', digest: image.digest, class: 'additional', why: 'asked for' },
  {
    source: `quay.io/a/b:${tag}@${signature.digest}`,
    destination: `x/b:${tag}`,
    digest: signature.digest,
    class: 'additional',
    why: 'signature',
    attachedTo: image.digest,
  },
  {
    source: `quay.io/a/b@${bom.digest}`,
    destination: `x/b@${bom.digest}`,
    digest: bom.digest,
    class: 'additional',
    why: 'artifact',
    attachedTo: image.digest,
  },
]
const reference = parseReference('quay.io/a/b:1')

async function opened(t: TestContext, sample: Partial<ArchiveSample> = {}): Promise<Archive> {
  const directory = await tempDir(t)
  const carried = await contentOfImages([image, signature, bom])
  await writeSampleArchive(directory, { carried, images, volumeBytes: 16 * 1024, ...sample })
  return openOnly(t, directory)
}

async function openOnly(t: TestContext, directory: string): Promise<Archive> {
  const [found] = await findArchives(directory)
  assert.ok(found)
  const archive = await openArchive(found)
  t.after(() => archive.close())
  return archive
}

test('an image is found by the name it had, with its manifests, blobs, signature and artifacts', async (t) => {
  const source = archiveSource([await opened(t)])
  const { digest, size, mediaType } = image.descriptor
  assert.deepEqual(await source.resolve(reference), { digest, size, mediaType })
  assert.equal(await source.resolve(parseReference('quay.io/a/b:2')), undefined)
  for (const { descriptor, bytes } of image.manifests) {
    const raw = await source.fetchManifest({ ...reference, digest: descriptor.digest })
    assert.deepEqual(Buffer.from(raw?.bytes ?? []), Buffer.from(bytes))
    assert.equal(raw?.descriptor.mediaType, descriptor.mediaType)
  }
  for (const { descriptor, open } of image.blobs) {
    assert.deepEqual(await buffer(source.fetchBlob(reference, descriptor, { offset: 7 })), await buffer(open(7)))
  }
  const subject = { ...reference, digest }
  assert.equal((await source.resolveBeside(subject, tag))?.digest, signature.digest)
  assert.equal(await source.resolveBeside({ ...subject, digest: bom.digest }, tag), undefined)
  assert.deepEqual(await source.referrers(reference, digest), [
    {
      mediaType: bom.descriptor.mediaType,
      digest: bom.digest,
      size: bom.descriptor.size,
      artifactType: 'application/spdx+json',
      annotations: { made: 'by hand' },
    },
  ])
  assert.deepEqual(await source.referrers(parseReference('quay.io/other/b'), digest), [])
})

test('what an increment does not carry is read at the target, in the repository that the image goes to', async (t) => {
  const there = images.map((one) => ({ ...one, source: one.source.replace('quay.io/a/b', 'registry.lab/ocp/x/b') }))
  const target = archiveSource([await opened(t, { images: there })])
  const all = await contentOfImages([image, signature, bom])
  const increment = await opened(t, { carried: [], held: all, kind: 'increment' })
  const locate = (repository: string) => parseReference(`registry.lab/ocp/${repository}`)
  const source = archiveSource([increment], { beyond: { source: target, locate } })
  const raw = await source.fetchManifest(reference)
  assert.equal(raw?.descriptor.digest, image.digest)
  assert.equal((await source.referrers(reference, image.digest))[0]?.artifactType, 'application/spdx+json')
  const [blob] = image.blobs
  assert.ok(blob)
  assert.deepEqual(await buffer(source.fetchBlob(reference, blob.descriptor)), await buffer(blob.open()))
  await assert.rejects(buffer(archiveSource([increment]).fetchBlob(reference, blob.descriptor)), {
    code: 'BLOB_UNKNOWN',
  })
  assert.equal(await archiveSource([increment]).fetchManifest(reference), undefined)
})

test('an image that the target holds whole, and that the index does not break down, is asked for at the target', async (t) => {
  const there = images.map((one) => ({ ...one, source: one.source.replace('quay.io/a/b', 'registry.lab/ocp/x/b') }))
  const target = archiveSource([await opened(t, { images: there })])
  const increment = await opened(t, { carried: [], kind: 'increment' })
  const locate = (repository: string) => parseReference(`registry.lab/ocp/${repository}`)
  const source = archiveSource([increment], { beyond: { source: target, locate } })
  assert.equal((await source.resolve(reference))?.digest, image.digest)
  assert.equal((await source.resolveBeside({ ...reference, digest: image.digest }, tag))?.digest, signature.digest)
})

test('of two archives the later one counts, and a hole in one is filled by the other', async (t) => {
  const [first] = image.blobs
  assert.ok(first)
  const { descriptor } = first
  const holed = await opened(t, { holes: [descriptor.digest, image.digest] })
  await assert.rejects(buffer(archiveSource([holed]).fetchBlob(reference, descriptor)), { code: 'ARCHIVE_INCOMPLETE' })
  await assert.rejects(archiveSource([holed]).fetchManifest(reference), { code: 'ARCHIVE_INCOMPLETE' })
  const repair = await opened(t, { sequence: 2 })
  for (const archives of [
    [holed, repair],
    [repair, holed],
  ]) {
    const source = archiveSource(archives)
    assert.deepEqual(await buffer(source.fetchBlob(reference, descriptor)), await buffer(first.open()))
    assert.equal((await source.fetchManifest(reference))?.descriptor.digest, image.digest)
  }
})

test('a damaged manifest is never given out, and the message says where it lies', async (t) => {
  const archive = await opened(t)
  const place = archive.blobs.get(image.digest)?.place
  assert.ok(place)
  const file = archive.pathOf(place.volume)
  const bytes = await readFile(file)
  bytes[place.offset + 3] = 0
  await writeFile(join(file), bytes)
  await assert.rejects(archiveSource([archive]).fetchManifest(reference), {
    code: 'ARCHIVE_DAMAGED',
    details: { file, digest: image.digest, offset: place.offset, size: image.descriptor.size },
  })
})
