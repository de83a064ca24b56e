import assert from 'node:assert/strict'
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { blobNamed, manifestNamed, sampleArchive } from '../../../testkit/archive-history.ts'
import { smallDisk } from '../../../testkit/small-disk.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { readHistory, recordArchive, recordLoad } from './archive-history.ts'
import { sumHistory } from './history-content.ts'

const images = [{ name: 'web', blobs: ['one', 'two'] }]
const site = 'registry.lab:8443/ocp'

async function archives(t: TestContext): Promise<string> {
  return join(await tempDir(t), 'archives')
}

const sequences = (history: Awaited<ReturnType<typeof readHistory>>) => history.archives.map((one) => one.sequence)

test('what is recorded is read back: what it is, and what it brought', async (t) => {
  const directory = await archives(t)
  const first = sampleArchive({ sequence: 1, images, target: site })
  await recordArchive(directory, first)
  const second = sampleArchive({ sequence: 2, images, target: site, parent: first.id, missing: [blobNamed('one')] })
  await recordArchive(directory, second)

  const { archives: read, lastSequence, findings } = await readHistory(directory, site)
  assert.deepEqual(findings, [])
  assert.equal(lastSequence, 2)
  assert.deepEqual(
    read.map(({ id, kind, parent, target }) => ({ id, kind, parent, target })),
    [
      { id: first.id, kind: 'full', parent: undefined, target: site },
      { id: second.id, kind: 'increment', parent: first.id, target: site },
    ],
  )
  const content = await sumHistory(read.slice(1))
  assert.deepEqual([...content.carried], [blobNamed('one'), blobNamed('two'), manifestNamed('web')])
  assert.deepEqual([...content.arrived], [blobNamed('two'), manifestNamed('web')])
  assert.deepEqual(content.needs.get(manifestNamed('web')), [blobNamed('one'), blobNamed('two')])
})

test('every target has a history of its own, above what was made for any', async (t) => {
  const directory = await archives(t)
  await recordArchive(directory, sampleArchive({ sequence: 1, images }))
  const names = [site, 'any', '../up', `long/${'x'.repeat(300)}`, `long/${'x'.repeat(301)}`]
  for (const target of names) await recordArchive(directory, sampleArchive({ sequence: 2, images, target }))
  for (const target of names) {
    const history = await readHistory(directory, target)
    assert.deepEqual(
      history.archives.map((one) => [one.sequence, one.target]),
      [
        [1, undefined],
        [2, target],
      ],
    )
  }
  const forAny = await readHistory(directory, undefined)
  assert.deepEqual(sequences(forAny), [1])
  assert.equal(forAny.lastSequence, 2, 'a number is given once, whatever the target')
  assert.deepEqual(await readdir(join(directory, '..')), ['archives'])
})

test('a full archive is a new start, and another one with the same number takes its place', async (t) => {
  const directory = await archives(t)
  const samples = [1, 2, 3, 4].map((sequence) => sampleArchive({ sequence, images }))
  for (const sample of samples) await recordArchive(directory, sample)
  const other = sampleArchive({ sequence: 3, images: [{ name: 'other', blobs: ['three'] }] })
  await recordArchive(directory, other)
  assert.deepEqual((await readHistory(directory, undefined)).archives.at(-1)?.id, other.id)
  assert.deepEqual(sequences(await readHistory(directory, undefined)), [1, 2, 3])
  await recordArchive(directory, sampleArchive({ sequence: 2, kind: 'full', images }))
  assert.deepEqual(sequences(await readHistory(directory, undefined)), [1, 2])
})

test('a load that is repeated misses only what never arrived', async (t) => {
  const directory = await archives(t)
  const load = (missing: string[]) =>
    recordLoad(directory, {
      ...sampleArchive({ sequence: 1, images, missing: missing.map(blobNamed) }),
      loadedInto: site,
    })
  const missing = async () => (await readHistory(directory, site)).archives[0]?.missing
  await load(['one', 'two'])
  await load(['two'])
  assert.deepEqual(await missing(), [blobNamed('two')])
  await load(['one', 'two'])
  assert.deepEqual(await missing(), [blobNamed('two')])
  assert.deepEqual((await readHistory(directory, 'registry.other/ocp')).archives, [])
})

test('a record that is half there is not seen, keeps its number, and is told', async (t) => {
  const directory = await archives(t)
  await recordArchive(directory, sampleArchive({ sequence: 1, images }))
  await recordArchive(directory, sampleArchive({ sequence: 2, images }))
  const folder = join(directory, 'any')
  // Killed before the name was given, and a disk that lost what was in the file.
  await mkdir(join(folder, '.0123'))
  await writeFile(join(folder, '000002', 'state.json'), '{"version":1,')
  const history = await readHistory(directory, undefined)
  assert.deepEqual(sequences(history), [1])
  assert.equal(history.lastSequence, 2)
  assert.deepEqual(
    history.findings.map(({ id, severity }) => [id, severity]),
    [['archive.history-damaged', 'warning']],
  )
  await recordArchive(directory, sampleArchive({ sequence: 2, images }))
  assert.deepEqual(await readdir(folder), ['000001', '000002'])
  assert.deepEqual((await readHistory(directory, undefined)).findings, [])
})

test('content that is not what was recorded is refused', async (t) => {
  for (const name of ['archive.json', 'blobs.txt', 'plan.json']) {
    const directory = await archives(t)
    await recordArchive(directory, sampleArchive({ sequence: 1, images }))
    const [entry] = (await readHistory(directory, undefined)).archives
    assert.ok(entry)
    const path = join(entry.directory, name)
    await rename(path, `${path}.away`)
    await assert.rejects(sumHistory([entry]), { code: 'ARCHIVE_INVALID', details: { file: path } })
    await writeFile(path, '{}\n')
    await assert.rejects(sumHistory([entry]), { code: 'ARCHIVE_INVALID', details: { file: path } })
    await rm(directory, { recursive: true })
  }
})

test('a full disk leaves the history as it was', async (t) => {
  const disk = await smallDisk(t, 200_000)
  if (!disk) return
  const directory = join(disk.path, 'archives')
  await recordArchive(directory, sampleArchive({ sequence: 1, images }))
  const large = { ...sampleArchive({ sequence: 2, images }), plan: [Buffer.alloc(1_000_000)] }
  await assert.rejects(recordArchive(directory, large), { code: 'DISK_FULL' })
  assert.deepEqual(await readdir(join(directory, 'any')), ['000001'])
})
