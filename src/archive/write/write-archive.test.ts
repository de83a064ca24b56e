import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type ArchiveContent, type ArchiveSample, makeArchive } from '../../../testkit/archive.ts'
import {
  chunksOf,
  draftOf,
  filesIn,
  firstDifference,
  openWriter,
  pushContent,
  sampleContent,
} from '../../../testkit/archive-writing.ts'
import { randomBytes } from '../../../testkit/random-bytes.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { mapConcurrently } from '../../host/concurrency.ts'
import { type Digest, digestOf } from '../../oci/digest.ts'
import { parseReference } from '../../oci/reference.ts'
import { composeFront } from '../format/compose-front.ts'
import type { ArchiveHole, ArchiveImage } from '../format/records.ts'
import { archiveMessage } from '../format/signature.ts'
import { readUnfinished } from './unfinished-archive.ts'

/** Pushes all that is no hole and seals. */
async function write(directory: string, sample: ArchiveSample, { concurrency = 4, chunkBytes = 65536 } = {}) {
  const writer = await openWriter(directory, sample)
  const wanted = sample.carried.filter(({ digest }) => !sample.holes?.includes(digest))
  await mapConcurrently(wanted, concurrency, (content) =>
    pushContent(writer, content, chunksOf(content.bytes, chunkBytes)),
  )
  const sealed = await writer.seal([])
  await writer.close()
  return sealed
}

async function assertIs(directory: string, sample: ArchiveSample): Promise<void> {
  assert.equal(firstDifference(await filesIn(directory), makeArchive(sample).files), undefined)
}

const samples = fc
  .record({
    sizes: fc.array(fc.oneof(fc.nat(3000), fc.nat(60_000), fc.constantFrom(1, 511, 512, 513)), { maxLength: 12 }),
    blocks: fc.nat(80),
    plan: fc.nat(20_000),
    seed: fc.string({ maxLength: 4 }),
    holes: fc.array(fc.nat(11), { maxLength: 3 }),
  })
  .map(({ sizes, blocks, plan, seed, holes }): ArchiveSample => {
    const carried = sampleContent(sizes, seed)
    return {
      carried,
      volumeBytes: (20 + blocks) * 512,
      plan: 'p'.repeat(plan),
      holes: carried.filter((_, index) => holes.includes(index)).map(({ digest }) => digest),
    }
  })

test('whatever is carried, in volumes of whatever size and order, the bytes are those that the format says', async (t) => {
  await fc.assert(
    fc.asyncProperty(samples, fc.constantFrom(1, 3, 16), async (sample, concurrency) => {
      const directory = await tempDir(t)
      const sealed = await write(directory, sample, { concurrency, chunkBytes: 1000 })
      await assertIs(directory, sample)
      assert.deepEqual(
        sealed.files.map((path) => path.slice(directory.length + 1)),
        [...makeArchive(sample).files.keys()],
      )
      assert.equal(
        sealed.bytes,
        makeArchive(sample)
          .files.values()
          .reduce((sum, { byteLength }) => sum + byteLength, 0),
      )
      assert.deepEqual(sealed.holes, sample.holes)
    }),
    { numRuns: 60 },
  )
})

/** A source that is cut after so many bytes, and counts what it gave. */
class CutSource {
  readonly #left: { bytes: number }
  given = 0

  constructor(bytes: number) {
    this.#left = { bytes }
  }

  open({ bytes }: ArchiveContent, chunkBytes: number) {
    const open = chunksOf(bytes, chunkBytes)
    const count = (chunk: Uint8Array) => {
      this.#left.bytes -= chunk.byteLength
      if (this.#left.bytes < 0) throw new Error('cut')
      this.given += chunk.byteLength
      return chunk
    }
    return async function* (offset: number, signal: AbortSignal) {
      for await (const chunk of open(offset, signal)) yield count(chunk)
    }
  }
}

test('a run that is cut again and again ends as one that was not, and repeats nothing that was written', async (t) => {
  const cuts = fc.array(fc.nat(60_000), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(samples, cuts, fc.boolean(), async (sample, limits, isSealedEachTime) => {
      const directory = await tempDir(t)
      const total = { given: 0 }
      for (const limit of [...limits, Number.POSITIVE_INFINITY]) {
        const source = new CutSource(limit)
        const writer = await openWriter(directory, { ...sample, holes: [] }, { noteEveryBytes: 1 })
        const wanted = sample.carried.filter(({ digest }) => !sample.holes?.includes(digest))
        await mapConcurrently(wanted, 3, async (content) => {
          await pushContent(writer, content, source.open(content, 700)).catch((error: Error) => {
            assert.equal(error.message, 'cut')
          })
        })
        const isLast = limit === Number.POSITIVE_INFINITY
        // A seal that ends in the middle, as by a kill: the archive has its holes, and counts as unfinished.
        if (isSealedEachTime && !isLast)
          await assert.rejects(writer.seal([], () => Promise.reject(new Error('killed'))))
        if (isLast) await writer.seal([])
        await writer.close()
        total.given += source.given
      }
      await assertIs(directory, sample)
      // What had come of a blob that became a hole is gone.
      if (isSealedEachTime) return
      const blobs = sample.carried.filter(({ digest, mediaType }) => !mediaType && !sample.holes?.includes(digest))
      assert.equal(
        total.given,
        blobs.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
      )
    }),
    { numRuns: 60 },
  )
})

const two = sampleContent([30_000, 20_000])
const sample: ArchiveSample = { carried: two, volumeBytes: 16 * 1024 }
const [first, second] = two as [ArchiveContent, ArchiveContent]

test('wrong bytes are no blob: their place is fetched again', async (t) => {
  const directory = await tempDir(t)
  const writer = await openWriter(directory, sample)
  await pushContent(writer, second)
  await assert.rejects(pushContent(writer, first, chunksOf(randomBytes('other', first.bytes.byteLength))), {
    code: 'BLOB_DIGEST_MISMATCH',
    message: new RegExp(`^registry.test/some/where: expected ${first.digest}, received sha256:`),
  })
  assert.equal(await writer.hasBlob(parseReference('a/b'), { ...first, size: 0, mediaType: '' }), false)
  await pushContent(writer, first)
  await writer.seal([])
  await writer.close()
  await assertIs(directory, sample)
})

test('bytes too many never reach what lies behind', async (t) => {
  const directory = await tempDir(t)
  const writer = await openWriter(directory, sample)
  await pushContent(writer, second)
  const longer = Buffer.concat([first.bytes, Buffer.alloc(100_000, 'x')])
  await assert.rejects(pushContent(writer, first, chunksOf(longer, 4096)), { code: 'BLOB_SIZE_MISMATCH' })
  await pushContent(writer, first)
  await writer.seal([])
  await writer.close()
  await assertIs(directory, sample)
})

test('a source that ends early is gone on with from there', async (t) => {
  const directory = await tempDir(t)
  const writer = await openWriter(directory, sample)
  await assert.rejects(pushContent(writer, first, chunksOf(first.bytes.subarray(0, 12_345))), {
    code: 'BLOB_SIZE_MISMATCH',
    message: /received 12345 of 30000 bytes/,
  })
  const offsets: number[] = []
  await pushContent(writer, first, (offset, signal) => {
    offsets.push(offset)
    return chunksOf(first.bytes)(offset, signal)
  })
  assert.deepEqual(offsets, [12_345])
  await writer.close()
})

/** Changes a byte of the content of a blob in the volumes that are being written. */
async function damage(directory: string, { bytes }: ArchiveContent, at: number): Promise<void> {
  for (const [name, content] of await filesIn(directory)) {
    const start = content.indexOf(bytes.subarray(at, at + 64))
    if (start < 0) continue
    content.writeUInt8(content.readUInt8(start) ^ 1, start)
    return writeFile(join(directory, name), content)
  }
  throw new Error('the bytes are nowhere')
}

test('what was written and never flushed is believed only if it is there', async (t) => {
  const directory = await tempDir(t)
  const three = sampleContent([30_000, 20_000, 10_000])
  const large: ArchiveSample = { carried: three, volumeBytes: 1024 * 1024 }
  const writer = await openWriter(directory, large)
  for (const content of [first, second]) await pushContent(writer, content)
  await writer.close()
  await damage(directory, second, 5000)
  const again = await openWriter(directory, large, { flushEveryBytes: 1 })
  assert.deepEqual(again.resumed, { blobs: 1, bytes: 30_000 })
  // What was found out is put down: a flush afterwards does not make the claim true.
  for (const content of three.slice(2)) await pushContent(again, content)
  await again.close()
  const last = await openWriter(directory, large)
  assert.deepEqual(last.resumed, { blobs: 2, bytes: 40_000 })
  await pushContent(last, second)
  await last.seal([])
  await last.close()
  await assertIs(directory, large)
})

test('a beginning that is not what was written is fetched again, and nobody is bothered', async (t) => {
  const directory = await tempDir(t)
  const writer = await openWriter(directory, sample)
  await assert.rejects(pushContent(writer, first, chunksOf(first.bytes.subarray(0, 20_000))))
  await writer.close()
  await damage(directory, first, 1000)
  const again = await openWriter(directory, sample)
  assert.deepEqual(again.resumed, { blobs: 0, bytes: 20_000 })
  const offsets: number[] = []
  await pushContent(again, first, (offset, signal) => {
    offsets.push(offset)
    return chunksOf(first.bytes)(offset, signal)
  })
  assert.deepEqual(offsets, [20_000, 0])
  await pushContent(again, second)
  await again.seal([])
  await again.close()
  await assertIs(directory, sample)
})

test('volumes that somebody removed are written again', async (t) => {
  const directory = await tempDir(t)
  for (const gone of [1, 2, 3]) {
    const writer = await openWriter(directory, sample, { flushEveryBytes: 1 })
    for (const content of two) await pushContent(writer, content)
    await writer.close()
    const names = (await readdir(directory)).filter((name) => name.includes(`-000${gone}.tar`))
    assert.equal(names.length, 1)
    await rm(join(directory, ...names))
  }
  const writer = await openWriter(directory, sample)
  for (const content of two) await pushContent(writer, content)
  await writer.seal([])
  await writer.close()
  await assertIs(directory, sample)
})

test('of what came of a blob that then failed, nothing is left in its place', async (t) => {
  const directory = await tempDir(t)
  const writer = await openWriter(directory, sample)
  await pushContent(writer, second)
  await assert.rejects(pushContent(writer, first, chunksOf(first.bytes.subarray(0, 20_000))))
  const { holes } = await writer.seal([])
  await writer.close()
  assert.deepEqual(holes, [first.digest])
  await assertIs(directory, { ...sample, holes })
})

test('an archive is unfinished until it has been recorded, and sealing can be tried again', async (t) => {
  const directory = await tempDir(t)
  const writer = await openWriter(directory, sample)
  for (const content of two) await pushContent(writer, content)
  const failed = new Error('cannot be recorded')
  await assert.rejects(
    writer.seal([], () => Promise.reject(failed)),
    failed,
  )
  assert.equal((await readUnfinished(directory))?.stem, 'sallyport-v1-000001')
  await writer.seal([])
  await writer.close()
  await assertIs(directory, sample)
})

test('volumes get their final names as soon as everything in them is there', async (t) => {
  const directory = await tempDir(t)
  const writer = await openWriter(directory, sample)
  await pushContent(writer, first)
  await writer.close()
  const names = await readdir(directory)
  assert.deepEqual(names.sort(), [
    'sallyport-v1-000001-0001.tar',
    'sallyport-v1-000001-0002.tar',
    'sallyport-v1-000001-0003.tar.partial',
    'sallyport-v1-000001.progress',
  ])
  const expected = makeArchive(sample).files
  const volume = 'sallyport-v1-000001-0002.tar'
  assert.deepEqual(await readFile(join(directory, volume)), expected.get(volume))
})

test('images that are whole are named in the index, those that failed among the holes, and the end is signed', async (t) => {
  const manifests = sampleContent([1, 2, 300, 4, 5, 400, 7, 8, 500]).filter(({ mediaType }) => mediaType)
  const [whole, lost, failing] = manifests as [ArchiveContent, ArchiveContent, ArchiveContent]
  const held = sampleContent([1, 2, 600], 'held').slice(2)
  const image = (destination: string, digest: Digest) =>
    ({ source: `quay.io/${destination}`, destination, digest, class: 'operator', why: 'asked for' }) as const
  const failed = (destination: string): ArchiveHole => ({
    ...{ source: `quay.io/${destination}`, destination, class: 'operator' },
    ...{ code: 'REGISTRY_DENIED', message: 'no "right"' },
  })
  const images: readonly ArchiveImage[] = [
    image('some/image:1', whole.digest),
    image('some/image:latest', whole.digest),
    image(`some/image@${whole.digest}`, whole.digest),
    image(`other/image@${whole.digest}`, whole.digest),
    image('lost/image:1', lost.digest),
    image('failed/image:1', failing.digest),
    ...held.map(({ digest }) => image('held/image:1', digest)),
  ]
  const key = 'ab'.repeat(32)
  const signer = { key, sign: (text: string) => ({ key, value: btoa(text) }) }
  const planned = failed('never/planned:1')
  const writer = await openWriter(await tempDir(t), { carried: manifests, held, images, signer, failed: [planned] })
  for (const content of [whole, failing]) await pushContent(writer, content)
  const { files } = await writer.seal([failed('failed/image:1')])
  await writer.close()
  const read = (name: string) => JSON.parse(execFileSync('tar', ['-xOf', files[0] ?? '', name], { encoding: 'utf8' }))

  const descriptor = { mediaType: whole.mediaType, digest: whole.digest, size: 300 }
  const named = (name: string) => ({ ...descriptor, annotations: { 'org.opencontainers.image.ref.name': name } })
  assert.deepEqual(read('index.json').manifests, [named('some/image:1'), named('some/image:latest'), descriptor])
  assert.deepEqual(read('sallyport/holes.json').images, [planned, failed('failed/image:1')])
  assert.deepEqual(read('sallyport/holes.json').blobs, [lost.digest])
  const end = read('sallyport/end.json')
  assert.equal(end.holes, 3)
  assert.equal(end.signature.key, key)
  assert.equal(end.signature.value, btoa(archiveMessage(end)))
})

test('an unfinished archive is read back from its directory, with all that opens it again', async (t) => {
  const directory = await tempDir(t)
  assert.equal(await readUnfinished(join(directory, 'absent')), undefined)
  const large: ArchiveSample = { ...sample, plan: 'line\n'.repeat(20_000), held: sampleContent([7], 'held') }
  for (const content of [second, first]) {
    const writer = await openWriter(directory, large)
    const { id } = writer.front
    await pushContent(writer, content)
    await writer.close()
    const unfinished = await readUnfinished(directory)
    assert.equal(unfinished?.stem, 'sallyport-v1-000001')
    assert.equal(unfinished.planText, large.plan)
    assert.equal(unfinished.index.id, id)
    assert.equal(composeFront(unfinished.draft).id, id)
  }
  await write(directory, large)
  assert.equal(await readUnfinished(directory), undefined)
  await assertIs(directory, large)
})

test('another archive of the same name is never touched, finished or not', async (t) => {
  const directory = await tempDir(t)
  const other = { ...sample, configuration: 'other' }
  await (await openWriter(directory, sample)).close()
  await assert.rejects(openWriter(directory, other), {
    code: 'ARCHIVE_UNFINISHED',
    details: {
      directory,
      stem: 'sallyport-v1-000001',
      unfinished: composeFront(draftOf(sample)).id,
      id: composeFront(draftOf(other)).id,
    },
  })
  await write(directory, sample)
  for (const one of [sample, other]) await assert.rejects(openWriter(directory, one), { code: 'ARCHIVE_EXISTS' })
  await assertIs(directory, sample)
})

test('two cannot write the same archive at a time', async (t) => {
  const directory = await tempDir(t)
  const writer = await openWriter(directory, sample)
  await assert.rejects(openWriter(directory, sample), { code: 'STORE_LOCKED' })
  await writer.close()
  await (await openWriter(directory, sample)).close()
})

test('whoever carries an archive can read it, whatever the umask of the one who wrote it', async (t) => {
  const directory = join(await tempDir(t), 'made', 'for', 'it')
  const before = process.umask(0o077)
  t.after(() => process.umask(before))
  const { files } = await write(directory, sample)
  for (const path of files) assert.equal((await stat(path)).mode & 0o777, 0o644)
})

test('what the target knows and what it stands for', async (t) => {
  const [config, , manifest] = sampleContent([100, 200, 300]) as [ArchiveContent, ArchiveContent, ArchiveContent]
  const held = sampleContent([10], 'held')
  const destination = 'some/image:v1'
  const image = {
    source: 'quay.io/some/image:v1',
    destination,
    digest: manifest.digest,
    class: 'additional',
    why: '',
  } as const
  const writer = await openWriter(await tempDir(t), { carried: [config, manifest], held, images: [image] })
  const tagged = parseReference('registry.test/some/image:v1')
  assert.equal(await writer.resolve(tagged), undefined)
  assert.equal(await writer.tags(tagged), undefined)
  await pushContent(writer, manifest)
  const descriptor = { mediaType: manifest.mediaType, digest: manifest.digest, size: 300 }
  assert.deepEqual(await writer.resolve(tagged), descriptor)
  assert.deepEqual(await writer.resolve({ ...tagged, digest: manifest.digest }), descriptor)
  assert.deepEqual(await writer.tags(tagged), ['v1'])
  for (const { digest } of [...held, manifest]) {
    assert.equal(await writer.hasBlob(tagged, { digest, size: 0, mediaType: '' }), true)
    assert.equal(await writer.mountBlob(tagged, { digest, size: 0, mediaType: '' }), true)
  }
  await assert.rejects(pushContent(writer, { digest: digestOf('x'), bytes: Buffer.from('x') }), RangeError)
  await writer.close()
})

test('of thousands of volumes only a few are open at a time', async (t) => {
  const directory = await tempDir(t)
  const carried = sampleContent(Array.from({ length: 40 }, () => 100_000))
  const before = (await readdir('/proc/self/fd')).length
  const writer = await openWriter(directory, { carried, volumeBytes: 10 * 1024 })
  let most = 0
  await mapConcurrently(carried, 16, async (content) => {
    await pushContent(writer, content, chunksOf(content.bytes, 5000))
    most = Math.max(most, (await readdir('/proc/self/fd')).length)
  })
  await writer.seal([])
  await writer.close()
  assert.ok(most - before < 48, `${most - before} files were open`)
  assert.equal((await readdir('/proc/self/fd')).length, before)
})
