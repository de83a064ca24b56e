/** The connected side answers a repair list: with what is asked for, and with nothing else. */
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { findArchives } from '../../src/archive/read/find-archives.ts'
import { openArchive } from '../../src/archive/read/read-archive.ts'
import {
  composeRepairList,
  type RepairList,
  type RepairWishes,
  repairStem,
} from '../../src/archive/repair/repair-list.ts'
import { digestOf } from '../../src/oci/digest.ts'
import { connectedSide } from '../../testkit/archive-trip.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

async function writtenArchive(t: TestContext) {
  const connected = await connectedSide(t)
  const directory = await tempDir(t)
  const { archive, plan } = await connected.mirror(directory, 64 * 1024)
  assert.ok(archive)
  const list = (wishes: Partial<RepairWishes>): RepairList =>
    composeRepairList({ archive: { id: archive.id, sequence: 1 }, records: [], volumes: [], blobs: [], ...wishes })
  const [largest] = plan.blobs
  assert.ok(largest)
  return { connected, directory, archive, list, largest }
}

test('a repair carries what the list names, and says what it repairs', async (t) => {
  const { connected, archive, list, largest } = await writtenArchive(t)
  const out = await tempDir(t)
  const { digest, size } = largest
  const wanted = list({ blobs: [{ digest, size }], records: ['sallyport/blobs.txt'] })
  const written = await connected.repair(out, wanted)
  assert.deepEqual(written.holes, [])
  const [found] = await findArchives(out)
  assert.ok(found?.isRepair && found.stem === repairStem(wanted))
  const repair = await openArchive(found)
  t.after(() => repair.close())
  assert.deepEqual([repair.record.kind, repair.record.repairs], ['repair', archive.id])
  assert.deepEqual([...repair.blobs.keys()], [digest, archive.record.files.blobs.digest])
  assert.deepEqual(repair.record.images, [])
})

test('the same list gives the same bytes, from the sources or from volumes that are still here', async (t) => {
  const { connected, directory, list, largest } = await writtenArchive(t)
  const { digest, size } = largest
  const wanted = list({ blobs: [{ digest, size }], volumes: [5] })
  const out = await tempDir(t)
  const far = await connected.repair(out, wanted)
  const near = await connected.repair(directory, wanted)
  await assert.rejects(connected.repair(out, wanted), { code: 'ARCHIVE_EXISTS' })
  assert.equal(far.fromVolumes, 0)
  assert.equal(near.fromVolumes, near.record.totals.blobs + near.record.totals.manifests)
  assert.equal(near.report.pushedBlobs, 0)
  for (const [index, file] of far.files.entries()) {
    assert.deepEqual(await readFile(near.files[index] ?? ''), await readFile(file))
  }
})

test('a volume that is damaged on this side too is no source', async (t) => {
  const { connected, directory, archive, list, largest } = await writtenArchive(t)
  const [file = ''] = archive.files.slice(1)
  const bytes = await readFile(file)
  bytes[40_000] = (bytes[40_000] ?? 0) ^ 1
  await writeFile(file, bytes)
  const { digest, size } = largest
  const written = await connected.repair(directory, list({ blobs: [{ digest, size }] }))
  assert.deepEqual([written.holes, written.fromVolumes, written.report.pushedBlobs], [[], 0, 1])
})

test('a list of another archive, or of what is not in it, is refused before anything is written', async (t) => {
  const { connected, list, largest } = await writtenArchive(t)
  const out = await tempDir(t)
  const { digest, size } = largest
  const wrong = [
    composeRepairList({ ...list({}), archive: { id: digestOf('other'), sequence: 1 }, blobs: [{ digest, size }] }),
    list({ blobs: [{ digest: digestOf('nothing'), size: 1 }] }),
    list({ blobs: [{ digest, size: size + 1 }] }),
    list({}),
  ]
  for (const one of wrong) await assert.rejects(connected.repair(out, one), { code: 'REPAIR_LIST_INVALID' })
  assert.deepEqual(await readdir(out), [])
})

test('what the source lost is a hole in the repair, and told', async (t) => {
  const { connected, list, largest } = await writtenArchive(t)
  const { digest, size } = largest
  connected.upstream.registry.content.blobs.delete(digest)
  for (const link of [...connected.upstream.registry.content.links]) {
    if (link.endsWith(digest)) connected.upstream.registry.content.links.delete(link)
  }
  const written = await connected.repair(await tempDir(t), list({ blobs: [{ digest, size }] }))
  assert.deepEqual(written.holes, [digest])
})
