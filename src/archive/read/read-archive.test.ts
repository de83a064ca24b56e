import assert from 'node:assert/strict'
import { rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import {
  type ArchiveContent,
  type ArchiveSample,
  contentOfImages,
  writeSampleArchive,
} from '../../../testkit/archive.ts'
import { makeImage } from '../../../testkit/image.ts'
import { randomBytes } from '../../../testkit/random-bytes.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { algorithmOf, digestOf } from '../../oci/digest.ts'
import type { Archive } from './archive.ts'
import { findArchives } from './find-archives.ts'
import { type OpenArchiveOptions, openArchive } from './read-archive.ts'

const volumeBytes = 16 * 1024

function blob(seed: string, size: number, algorithm: 'sha256' | 'sha512' = 'sha256'): ArchiveContent {
  const bytes = randomBytes(seed, size)
  return { digest: digestOf(bytes, algorithm), bytes }
}

/** Cut over three volumes, over two, not at all, empty, and with a name that needs a pax header. */
const blobs = [
  blob('a', 40_000),
  blob('b', 9000),
  blob('c', 700),
  blob('d', 512, 'sha512'),
  blob('e', 20_000, 'sha512'),
  blob('f', 0),
]

async function openFirst(directory: string, options?: OpenArchiveOptions): Promise<Archive> {
  const [found] = await findArchives(directory)
  assert.ok(found)
  return openArchive(found, options)
}

async function archiveWith(t: TestContext, sample: Partial<ArchiveSample> = {}) {
  const directory = await tempDir(t)
  const image = makeImage({ seed: 'image', layers: 1 })
  const carried = [...blobs, ...(await contentOfImages([image]))]
  const images = [
    {
      source: 'quay.io/a/b:1',
      destination: 'a/b:1',
      digest: image.digest,
      class: 'additional' as const,
      why: 'asked for',
    },
  ]
  const made = await writeSampleArchive(directory, { carried, images, volumeBytes, plan: '{"plan":1}\n', ...sample })
  return { directory, carried, made }
}

test('an archive gives its record, its plan and every blob, from any offset', async (t) => {
  const { directory, carried, made } = await archiveWith(t, { configuration: 'kind: x\n' })
  const archive = await openFirst(directory)
  t.after(() => archive.close())
  assert.equal(archive.id, made.id)
  assert.equal(archive.record.configuration, 'kind: x\n')
  assert.equal(await archive.readPlan(), '{"plan":1}\n')
  assert.equal(archive.volumes, made.files.size)
  assert.ok(made.files.size > 4)
  assert.deepEqual(archive.missingVolumes, [])
  assert.deepEqual(archive.holes?.images, [])
  assert.equal(archive.blobs.size, carried.length)
  for (const { digest, bytes } of carried) {
    for (const offset of [0, 1, 700, 30_000].filter((one) => one <= bytes.byteLength)) {
      assert.deepEqual(await buffer(archive.open(digest, { offset })), Buffer.from(bytes.subarray(offset)))
    }
  }
})

test('holes are named, and not read as content', async (t) => {
  const [first] = blobs
  assert.ok(first)
  const failed = [
    { source: 'quay.io/x/y:1', destination: 'x/y:1', class: 'additional' as const, code: 'C', message: 'm' },
  ]
  const { directory } = await archiveWith(t, { holes: [first.digest], failed })
  const archive = await openFirst(directory)
  t.after(() => archive.close())
  assert.deepEqual(archive.holes?.blobs, [first.digest])
  assert.deepEqual(archive.holes?.images, failed)
  assert.equal(archive.has(first.digest), false)
  await assert.rejects(buffer(archive.open(first.digest)), { code: 'ARCHIVE_INCOMPLETE' })
})

test('without one of its volumes an archive opens, and says which volume a blob would need', async (t) => {
  for (const missing of [2, 4]) {
    const { directory, made } = await archiveWith(t)
    const names = [...made.files.keys()]
    await rm(join(directory, names[missing - 1] ?? ''))
    const archive = await openFirst(directory)
    assert.deepEqual(archive.missingVolumes, [missing])
    let lost = 0
    for (const blob of archive.blobs.values()) {
      const needs = archive.segmentsOf(blob).some(({ volume }) => volume === missing)
      assert.equal(archive.has(blob.digest), !needs)
      if (!needs) {
        assert.equal(digestOf(await buffer(archive.open(blob.digest)), algorithmOf(blob.digest)), blob.digest)
        continue
      }
      lost += 1
      const file = join(directory, names[missing - 1] ?? '')
      const details = { file, volume: missing, digest: blob.digest }
      await assert.rejects(buffer(archive.open(blob.digest)), { code: 'ARCHIVE_INCOMPLETE', details })
    }
    assert.ok(lost > 0)
    await archive.close()
  }
})

test('without its last volumes an archive still knows how many there should be', async (t) => {
  const { directory, made } = await archiveWith(t)
  const names = [...made.files.keys()]
  for (const name of names.slice(-2)) await rm(join(directory, name))
  const archive = await openFirst(directory)
  t.after(() => archive.close())
  assert.deepEqual(archive.missingVolumes, [names.length - 1, names.length])
  assert.equal(archive.end, undefined)
})

test('without its first volume it is said that nothing can be read', async (t) => {
  const { directory, made } = await archiveWith(t)
  const [first = ''] = made.files.keys()
  await rm(join(directory, first))
  await assert.rejects(openFirst(directory), {
    code: 'ARCHIVE_INCOMPLETE',
    details: { file: join(directory, first), volume: 1 },
  })
})

test('an archive that is being written is refused, with what is there of it', async (t) => {
  for (const trace of ['sallyport-v1-000001.progress', 'sallyport-v1-000001-0009.tar.partial']) {
    const { directory } = await archiveWith(t)
    await writeFile(join(directory, trace), '')
    await assert.rejects(openFirst(directory), { code: 'ARCHIVE_UNFINISHED' })
  }
})

test('a volume that is cut or has grown is refused, unless damage is allowed', async (t) => {
  for (const volume of [1, 2, 'last'] as const) {
    for (const by of [-4096, -512, -1, 1, 512]) {
      const { directory, made } = await archiveWith(t)
      const names = [...made.files.keys()]
      const name = names.at(volume === 'last' ? -1 : volume - 1) ?? ''
      const size = made.files.get(name)?.byteLength ?? 0
      await truncate(join(directory, name), size + by)
      await assert.rejects(openFirst(directory), { code: 'ARCHIVE_DAMAGED' }, `${name} ${by}`)
      const archive = await openFirst(directory, { allowDamage: true })
      assert.ok(
        archive.problems.some(({ code, details }) => code === 'ARCHIVE_DAMAGED' && details['volume'] !== undefined),
      )
      await archive.close()
    }
  }
})

test('archives are found by sequence, before their repairs, with the volumes that are missing', async (t) => {
  const directory = await tempDir(t)
  for (const sequence of [12, 3]) await writeSampleArchive(directory, { carried: blobs, volumeBytes, sequence })
  await writeSampleArchive(directory, {
    carried: blobs,
    volumeBytes,
    sequence: 3,
    part: 'repair-01234567',
    kind: 'repair',
  })
  await rm(join(directory, 'sallyport-v1-000012-0002.tar'))
  await writeFile(join(directory, 'sallyport-v1-000012-parity-01.tar'), '')
  await writeFile(join(directory, 'isc.yaml'), '')
  const found = await findArchives(directory)
  assert.deepEqual(
    found.map(({ sequence, isRepair, missing }) => ({ sequence, isRepair, missing })),
    [
      { sequence: 3, isRepair: false, missing: [] },
      { sequence: 3, isRepair: true, missing: [] },
      { sequence: 12, isRepair: false, missing: [2] },
    ],
  )
  await assert.rejects(findArchives(join(directory, 'none')), { code: 'FILE_UNREADABLE' })
})
