import assert from 'node:assert/strict'
import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { type ArchiveContent, type ArchiveSample, writeSampleArchive } from '../../../testkit/archive.ts'
import { randomBytes } from '../../../testkit/random-bytes.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { type Digest, digestOf } from '../../oci/digest.ts'
import { verifyArchive } from '../verify/verify-archive.ts'
import { findArchives } from './find-archives.ts'
import { openArchive } from './read-archive.ts'
import { openWithRepairs } from './repaired-archive.ts'

function blob(seed: string, size: number): ArchiveContent {
  const bytes = randomBytes(seed, size)
  return { digest: digestOf(bytes), bytes }
}

const blobs = [blob('a', 20_000), blob('b', 9000), blob('c', 700)]
const volumeBytes = 16 * 1024

async function damagedArchive(t: TestContext) {
  const directory = await tempDir(t)
  const made = await writeSampleArchive(directory, { carried: blobs, volumeBytes })
  const archive = await openArchive((await findArchives(directory))[0] ?? assert.fail('no archive'))
  const index = await archive.readIndex()
  await archive.close()
  const files = [...made.files.keys()].map((file) => join(directory, file))
  const addRepair = async (repairs: Digest, sample: Pick<ArchiveSample, 'carried' | 'part'>) =>
    writeSampleArchive(directory, { ...sample, kind: 'repair', repairs, volumeBytes })
  const open = async () => {
    const found = await findArchives(directory)
    const opened = await openWithRepairs(found.find(({ isRepair }) => !isRepair) ?? assert.fail('none'), found)
    t.after(() => opened.close())
    return opened
  }
  return { directory, id: made.id, files, index, addRepair, open }
}

test('what a repair carries is read from there, also where its volume is gone', async (t) => {
  const { id, files, addRepair, open } = await damagedArchive(t)
  const [, second = ''] = files
  await rm(second)
  const [first] = blobs
  assert.ok(first)
  assert.equal((await open()).has(first.digest), false)
  await addRepair(id, { carried: [first], part: 'repair-00000001' })
  const archive = await open()
  assert.equal(archive.has(first.digest), true)
  assert.deepEqual(await buffer(archive.open(first.digest)), first.bytes)
  assert.deepEqual(await buffer(archive.open(first.digest, { offset: 17_000 })), first.bytes.subarray(17_000))
})

test('a lost index is read from a repair, and the archive has its identity', async (t) => {
  const { id, files, index, addRepair, open } = await damagedArchive(t)
  const [first = ''] = files
  const bytes = await readFile(first)
  bytes[1700] = 0x7f
  await writeFile(first, bytes)
  await assert.rejects(open(), { code: 'ARCHIVE_DAMAGED' })
  await addRepair(id, { carried: [{ digest: id, bytes: index.recordBytes }], part: 'repair-00000001' })
  const archive = await open()
  assert.equal(archive.id, id)
  for (const { digest, bytes: content } of blobs) assert.deepEqual(await buffer(archive.open(digest)), content)
  assert.deepEqual((await archive.readIndex()).blobsBytes, index.blobsBytes)
})

test('a damaged header before the index is no loss', async (t) => {
  const { id, files, open } = await damagedArchive(t)
  const [first = ''] = files
  const bytes = await readFile(first)
  bytes[1100] = 0x7f
  await writeFile(first, bytes)
  assert.equal((await open()).id, id)
})

test('a repair of another archive with the same number mends nothing', async (t) => {
  const { directory, files, addRepair, open } = await damagedArchive(t)
  const [, second = ''] = files
  await truncate(second, 5000)
  await addRepair(digestOf('another'), { carried: blobs, part: 'repair-00000001' })
  await assert.rejects(open(), { code: 'ARCHIVE_DAMAGED' })
  const beside = await findArchives(directory)
  const [found] = beside
  assert.ok(found)
  const { findings } = await verifyArchive(found, { beside })
  assert.ok(findings.some(({ severity }) => severity === 'error'))
})

test('verification counts only what a repair really has', async (t) => {
  const { directory, id, files, addRepair } = await damagedArchive(t)
  const [, second = ''] = files
  await rm(second)
  const lost = blobs.slice(0, 2)
  const made = await addRepair(id, { carried: lost, part: 'repair-00000001' })
  const verify = async () => {
    const beside = await findArchives(directory)
    const { findings, damage } = await verifyArchive(beside[0] ?? assert.fail('none'), { beside })
    return { blobs: damage.blobs, isError: findings.some(({ severity }) => severity === 'error') }
  }
  assert.deepEqual(await verify(), { blobs: [], isError: false })
  const [name = ''] = [...made.files.keys()]
  const bytes = await readFile(join(directory, name))
  bytes[12_000] = (bytes[12_000] ?? 0) ^ 1
  await writeFile(join(directory, name), bytes)
  assert.deepEqual(await verify(), { blobs: [blobs[0]?.digest], isError: true })
})
