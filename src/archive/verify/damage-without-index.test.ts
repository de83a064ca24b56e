import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type ArchiveContent, contentOfImages, writeSampleArchive } from '../../../testkit/archive.ts'
import { makeImage } from '../../../testkit/image.ts'
import { randomBytes } from '../../../testkit/random-bytes.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { digestOf } from '../../oci/digest.ts'
import { findArchives } from '../read/find-archives.ts'
import { openArchive } from '../read/read-archive.ts'
import { mendArchive } from '../repair/mend-archive.ts'
import { composeRepairList } from '../repair/repair-list.ts'
import { lookUpRepair } from '../repair/repair-wishes.ts'
import { findDamageWithoutIndex } from './damage-without-index.ts'

const signal = new AbortController().signal

function blob(seed: string, size: number, algorithm: 'sha256' | 'sha512' = 'sha256'): ArchiveContent {
  const bytes = randomBytes(seed, size)
  return { digest: digestOf(bytes, algorithm), bytes }
}

async function sampleArchive(t: TestContext) {
  const directory = await tempDir(t)
  const blobs = [blob('a', 40_000), blob('b', 9000), blob('c', 700), blob('d', 20_000, 'sha512'), blob('e', 0)]
  const carried = [...blobs, ...(await contentOfImages([makeImage({ seed: 'image', layers: 2 })]))]
  const made = await writeSampleArchive(directory, { carried, volumeBytes: 16 * 1024 })
  const archive = await openArchive((await findArchives(directory))[0] ?? assert.fail('no archive'))
  t.after(() => archive.close())
  const { id, record } = archive
  const front = { id, record, blobs: [...archive.blobs.values()], ...(await archive.readIndex()) }
  return { directory, carried, files: made.files, front, planBytes: Buffer.from(await archive.readPlan()) }
}

test('an archive without its first volume asks, in one list, for all that is missing and damaged', async (t) => {
  const { directory, carried, files, front, planBytes } = await sampleArchive(t)
  const [first = '', ...others] = [...files.keys()]
  const damage = fc.record({
    flips: fc.array(
      fc
        .constantFrom(...others)
        .chain((name) =>
          fc.record({ name: fc.constant(name), offset: fc.nat({ max: (files.get(name)?.byteLength ?? 1) - 1 }) }),
        ),
      { maxLength: 3 },
    ),
    gone: fc.subarray(others, { maxLength: others.length - 1 }),
  })
  await fc.assert(
    fc.asyncProperty(damage, async ({ flips, gone }) => {
      for (const [name, bytes] of files) await writeFile(join(directory, name), bytes)
      for (const { name, offset } of flips) {
        const bytes = await readFile(join(directory, name))
        bytes[offset] = (bytes[offset] ?? 0) ^ 0x20
        await writeFile(join(directory, name), bytes)
      }
      for (const name of [first, ...gone]) await rm(join(directory, name))
      const [found] = await findArchives(directory)
      assert.ok(found)
      const wishes = await findDamageWithoutIndex(found, { signal }).catch((error: { code?: string }) => error.code)
      // Where every record that is left is damaged, nobody can tell which archive this is.
      if (typeof wishes !== 'object') return assert.equal(wishes, 'ARCHIVE_DAMAGED')
      if (wishes.archive.id !== front.id) return
      const { content } = lookUpRepair(composeRepairList(wishes), { ...front, holes: new Set() })
      const asked = new Map(carried.map(({ digest, bytes }) => [digest, bytes]))
      const wanted = new Set(content.map(({ digest }) => digest))
      const { lost } = await mendArchive(
        {
          directory,
          stem: found.stem,
          front,
          planBytes,
          holes: undefined,
          end: undefined,
          checksum: undefined,
          content: (digest) => (wanted.has(digest) ? once(asked.get(digest) ?? Buffer.alloc(0)) : undefined),
        },
        { signal },
      )
      assert.deepEqual(lost, [])
      for (const [name, bytes] of files) assert.ok(bytes.equals(await readFile(join(directory, name))), name)
    }),
    { numRuns: 60 },
  )
})

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

test('only what is damaged is asked for', async (t) => {
  const { directory, files, front } = await sampleArchive(t)
  const [first = ''] = [...files.keys()]
  const bytes = await readFile(join(directory, first))
  bytes[1700] = 0x7f
  await writeFile(join(directory, first), bytes)
  const [found] = await findArchives(directory)
  assert.ok(found)
  assert.deepEqual(await findDamageWithoutIndex(found, { signal }), {
    archive: { id: front.id, sequence: 1 },
    records: ['sallyport/archive.json', 'sallyport/blobs.txt', 'sallyport/plan.json'],
    volumes: [],
    blobs: [],
  })
})
