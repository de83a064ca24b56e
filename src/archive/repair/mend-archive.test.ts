import assert from 'node:assert/strict'
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import {
  type ArchiveContent,
  type ArchiveSample,
  contentOfImages,
  writeSampleArchive,
} from '../../../testkit/archive.ts'
import { makeImage } from '../../../testkit/image.ts'
import { randomBytes } from '../../../testkit/random-bytes.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { type Digest, digestOf } from '../../oci/digest.ts'
import type { ArchiveSigner } from '../format/signature.ts'
import { findArchives } from '../read/find-archives.ts'
import { openArchive } from '../read/read-archive.ts'
import { type DamagedArchive, mendArchive } from './mend-archive.ts'

const signal = new AbortController().signal
const signer: ArchiveSigner = { key: 'a'.repeat(64), sign: () => ({ key: 'a'.repeat(64), value: 'c2lnbmVk' }) }

function blob(seed: string, size: number, algorithm: 'sha256' | 'sha512' = 'sha256'): ArchiveContent {
  const bytes = randomBytes(seed, size)
  return { digest: digestOf(bytes, algorithm), bytes }
}

/** Cut over volumes, whole, empty, and with names that need a pax header. */
const blobs = [blob('a', 40_000), blob('b', 9000), blob('c', 700), blob('d', 512, 'sha512'), blob('e', 0)]

async function sampleWith(t: TestContext, sample: Partial<ArchiveSample> = {}) {
  const directory = await tempDir(t)
  const carried = [...blobs, ...(await contentOfImages([makeImage({ seed: 'image', layers: 1 })]))]
  const made = await writeSampleArchive(directory, { carried, volumeBytes: 16 * 1024, signer, ...sample })
  const archive = await openArchive((await findArchives(directory))[0] ?? assert.fail('no archive'))
  const { id, record, holes, end } = archive
  const front = { id, record, blobs: [...archive.blobs.values()], ...(await archive.readIndex()) }
  const planBytes = Buffer.from(await archive.readPlan())
  await archive.close()
  const bytesOf = new Map(carried.map(({ digest, bytes }) => [digest, bytes]))
  const content = (digest: Digest) => {
    const bytes = bytesOf.get(digest)
    return bytes && chunksOf(bytes)
  }
  const damaged: DamagedArchive = {
    directory,
    stem: archive.found.stem,
    front,
    planBytes,
    holes,
    end,
    checksum: end?.checksum,
    content,
  }
  return { directory, damaged, files: made.files, names: [...made.files.keys()] }
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += 3000) yield bytes.subarray(start, start + 3000)
}

async function assertWhole(directory: string, files: ReadonlyMap<string, Buffer>): Promise<void> {
  assert.deepEqual((await readdir(directory)).sort(), [...files.keys()])
  for (const [name, bytes] of files) assert.ok(bytes.equals(await readFile(join(directory, name))), name)
}

test('an archive that is whole is not written to', async (t) => {
  const { directory, damaged, files } = await sampleWith(t)
  const report = await mendArchive(damaged, { signal })
  assert.deepEqual(report, { volumes: [], lost: [], isEndRenewed: false, isEndProven: true })
  await assertWhole(directory, files)
})

test('a byte flipped anywhere is put right', async (t) => {
  const { directory, damaged, files, names } = await sampleWith(t, { holes: [blobs[1]?.digest ?? 'sha256:'] })
  const places = fc.constantFrom(...names).chain((name) =>
    fc.record({
      name: fc.constant(name),
      offset: fc.nat({ max: (files.get(name)?.byteLength ?? 1) - 1 }),
      bit: fc.integer({ min: 1, max: 255 }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(places, async ({ name, offset, bit }) => {
      const bytes = Buffer.from(files.get(name) ?? [])
      bytes[offset] = (bytes[offset] ?? 0) ^ bit
      await writeFile(join(directory, name), bytes)
      const report = await mendArchive(damaged, { signal })
      assert.deepEqual(
        report.volumes.map(({ file }) => file),
        [name],
      )
      await assertWhole(directory, files)
    }),
    { numRuns: 200 },
  )
})

test('missing and cut volumes come back, whichever they are', async (t) => {
  const { directory, damaged, files, names } = await sampleWith(t)
  assert.ok(names.length >= 4)
  for (const gone of [names.slice(0, 1), names.slice(-1), names.slice(1, 3), names]) {
    for (const name of gone) await rm(join(directory, name))
    const report = await mendArchive(damaged, { signal })
    assert.deepEqual(
      report.volumes.map(({ file, wasMissing }) => ({ file, wasMissing })),
      gone.map((file) => ({ file, wasMissing: true })),
    )
    await assertWhole(directory, files)
  }
  for (const name of names) await truncate(join(directory, name), 3000)
  await mendArchive(damaged, { signal })
  await assertWhole(directory, files)
})

test('a volume that is too long is cut, and a damaged end keeps its signature', async (t) => {
  const { directory, damaged, files, names } = await sampleWith(t)
  const last = names.at(-1) ?? ''
  const bytes = Buffer.from(files.get(last) ?? [])
  bytes[bytes.byteLength - 1024 - 4096 - 300] = 0x7f
  bytes[bytes.byteLength - 1024 - 7] = 0x7f
  await writeFile(join(directory, last), Buffer.concat([bytes, Buffer.from('more')]))
  const report = await mendArchive(damaged, { signal })
  assert.equal(report.isEndRenewed, false)
  await assertWhole(directory, files)
})

test('without the end record the archive is made whole, without a signature that nobody here can give', async (t) => {
  const { directory, damaged, files, names } = await sampleWith(t)
  const last = names.at(-1) ?? ''
  await rm(join(directory, last))
  const report = await mendArchive({ ...damaged, end: undefined, checksum: undefined, holes: undefined }, { signal })
  assert.equal(report.isEndRenewed, true)
  const end = (await readFile(join(directory, last))).subarray(-1024 - 4096, -1024)
  const expected = (files.get(last) ?? Buffer.alloc(0)).subarray(-1024 - 4096, -1024)
  const { signature, ...rest } = JSON.parse(expected.toString()) as Record<string, unknown>
  assert.ok(signature)
  assert.deepEqual(JSON.parse(end.toString()), rest)
})

test('what no repair has is named, and nothing is claimed about its volumes', async (t) => {
  const { directory, damaged, files, names } = await sampleWith(t)
  const [first, second] = blobs
  const name = names[0] ?? ''
  const bytes = Buffer.from(files.get(name) ?? [])
  const lost = bytes.length - 2000
  bytes[lost] = (bytes[lost] ?? 0) ^ 1
  bytes[3] = 0x7f
  await writeFile(join(directory, name), bytes)
  assert.ok(first && second)
  const content = (digest: Digest) => (digest === first.digest ? undefined : damaged.content(digest))
  const report = await mendArchive({ ...damaged, content }, { signal })
  assert.deepEqual(report.lost, [first.digest])
  const expected = Buffer.from(files.get(name) ?? [])
  expected[lost] = (expected[lost] ?? 0) ^ 1
  assert.ok(expected.equals(await readFile(join(directory, name))))
  const wrong = (digest: Digest) => damaged.content(digest === first.digest ? second.digest : digest)
  assert.deepEqual((await mendArchive({ ...damaged, content: wrong }, { signal })).lost, [first.digest])
  await mendArchive(damaged, { signal })
  await assertWhole(directory, files)
})

test('interrupted at any moment, mending goes on where it is called again', async (t) => {
  const { directory, damaged, files, names } = await sampleWith(t)
  for (let chunks = 1; chunks < 25; chunks += 3) {
    await rm(join(directory, names[1] ?? ''))
    await truncate(join(directory, names[2] ?? ''), 4000)
    const controller = new AbortController()
    let left = chunks
    const content = (digest: Digest) => {
      left -= 1
      if (left === 0) controller.abort()
      return damaged.content(digest)
    }
    const onBytes = () => {
      left -= 1
      if (left === 0) controller.abort()
    }
    const interrupted = mendArchive({ ...damaged, content }, { signal: controller.signal, onBytes })
    await interrupted.catch((error: Error) => assert.equal(error.name, 'AbortError'))
    assert.ok((await readdir(directory)).every((name) => files.has(name)))
    await mendArchive(damaged, { signal })
    await assertWhole(directory, files)
  }
})
