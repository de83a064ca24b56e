import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type ArchiveSample, makeArchive } from '../../../testkit/archive.ts'
import {
  chunksOf,
  filesIn,
  firstDifference,
  openWriter,
  pushContent,
  sampleContent,
} from '../../../testkit/archive-writing.ts'
import { smallDisk } from '../../../testkit/small-disk.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { KnownError } from '../../errors/known-error.ts'
import { mapConcurrently } from '../../host/concurrency.ts'

const KiB = 1024
const MiB = 1024 * KiB

const sample: ArchiveSample = {
  carried: sampleContent(Array.from({ length: 30 }, (_, index) => 100_000 - index * 1000)),
  volumeBytes: 512 * KiB,
}

/** Pushes everything, and gives what went wrong. */
async function pushAll(writer: Awaited<ReturnType<typeof openWriter>>): Promise<unknown[]> {
  const errors = await mapConcurrently(sample.carried, 8, (content) =>
    pushContent(writer, content, chunksOf(content.bytes, 8 * KiB)).then(
      () => undefined,
      (error: unknown) => error,
    ),
  )
  return errors.filter((error) => error !== undefined)
}

test('where an archive would not fit, nothing of it is begun', async (t) => {
  const disk = await smallDisk(t, 2 * MiB)
  if (!disk) return
  const directory = join(disk.path, 'archives')
  await assert.rejects(openWriter(directory, sample), (error: KnownError) => {
    assert.equal(error.code, 'DISK_FULL')
    assert.match(
      error.message,
      /Not enough space, nothing was written: the archive at \S+ needs 3 MiB, and that disk has 2 MiB free/,
    )
    return true
  })
  assert.deepEqual(await readdir(disk.path), ['filler'])
})

test('a disk that fills up stops the archive, which goes on once there is room', async (t) => {
  const disk = await smallDisk(t, 8 * MiB)
  if (!disk) return
  const directory = join(disk.path, 'archives')
  const intruder = join(disk.path, 'intruder')
  const writer = await openWriter(directory, sample)
  await writeFile(intruder, Buffer.alloc(6.5 * MiB))
  const errors = await pushAll(writer)
  assert.ok(errors.length > 3 && errors.length < 30, `${errors.length} of 30 failed`)
  for (const error of errors) {
    assert.ok(error instanceof KnownError && error.code === 'DISK_FULL', String(error))
    assert.match(String(error.details['path']), /sallyport-v1-000001/)
  }
  // Not a hole: the disk is to blame, and it can be mended.
  await writeFile(intruder, Buffer.alloc(2 * MiB))
  await assert.rejects(writer.seal([]), { code: 'DISK_FULL' })
  await writer.close()

  const again = await openWriter(directory, sample)
  assert.ok(again.resumed.blobs >= 30 - errors.length - 1, `${again.resumed.blobs} of ${30 - errors.length} were kept`)
  assert.deepEqual(await pushAll(again), [])
  await again.seal([])
  await again.close()
  assert.equal(firstDifference(await filesIn(directory), makeArchive(sample).files), undefined)
})

test('room that is made while a run goes on is used by it, and until then its source is left alone', async (t) => {
  const disk = await smallDisk(t, 6 * MiB)
  if (!disk) return
  const directory = join(disk.path, 'archives')
  const intruder = join(disk.path, 'intruder')
  const writer = await openWriter(directory, sample)
  await writeFile(intruder, Buffer.alloc(4.5 * MiB))
  assert.notDeepEqual(await pushAll(writer), [])
  const [content] = sample.carried
  assert.ok(content)
  const untouched = sample.carried.at(-1) ?? content
  let asked = 0
  const pushed = pushContent(writer, untouched, (offset, signal) => {
    asked += 1
    return chunksOf(untouched.bytes)(offset, signal)
  })
  await assert.rejects(pushed, { code: 'DISK_FULL' })
  assert.equal(asked, 0)
  await writeFile(intruder, '')
  assert.deepEqual(await pushAll(writer), [])
  await writer.seal([])
  await writer.close()
  assert.equal(firstDifference(await filesIn(directory), makeArchive(sample).files), undefined)
})

test('closing entries that did not fit are written again, from the first, once there is room', async (t) => {
  const disk = await smallDisk(t, 4 * MiB)
  if (!disk) return
  const [image] = sampleContent([1000, 500, 700]).slice(2)
  assert.ok(image)
  const record = { source: 'quay.io/some/image', digest: image.digest, class: 'additional', why: 'asked for' } as const
  const images = Array.from({ length: 3000 }, (_, index) => ({ ...record, destination: `some/image:${index}` }))
  const large = { carried: [image], images, volumeBytes: 64 * KiB }
  const directory = join(disk.path, 'archives')
  const writer = await openWriter(directory, large)
  await pushContent(writer, image)
  for (const left of [20, 90, 150]) {
    // tmpfs gives whole pages, and a file that is made shorter gives them back.
    const { bavail, bsize } = await statfs(disk.path)
    const intruder = join(disk.path, 'intruder')
    await writeFile(intruder, Buffer.alloc(bavail * bsize - left * KiB))
    await assert.rejects(writer.seal([]), { code: 'DISK_FULL' })
    await rm(intruder)
  }
  const { files } = await writer.seal([])
  assert.ok(files.length > 6)
  await writer.close()
  assert.equal(firstDifference(await filesIn(directory), makeArchive(large).files), undefined)
})

test('a disk that takes no file of that size says so', async (t) => {
  const directory = await tempDir(t)
  const kit = new URL('../../../testkit/archive-writing.ts', import.meta.url).href
  const code = `import { openWriter, pushContent, sampleContent } from ${JSON.stringify(kit)}
    const carried = sampleContent([3_000_000])
    const writer = await openWriter(${JSON.stringify(directory)}, { carried, volumeBytes: 4 * 1024 * 1024 })
    await pushContent(writer, carried[0]).catch((error) => console.log(error.code, error.details.path, error.hint))`
  const file = join(directory, 'child.ts')
  await writeFile(file, code)
  const limited = `ulimit -f 1024; exec "${process.execPath}" "${file}"`
  const { stdout } = await promisify(execFile)('/bin/bash', ['-c', limited], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  })
  assert.match(stdout, /^ARCHIVE_VOLUME_TOO_LARGE \S+sallyport-v1-000001-0001\.tar\.partial Set a smaller archiveSize/)
})

test('the progress file of a crashed run may end anywhere', async (t) => {
  const directory = await tempDir(t)
  const writer = await openWriter(directory, sample)
  assert.deepEqual(await pushAll(writer), [])
  await writer.close()
  const path = join(directory, 'sallyport-v1-000001.progress')
  const progress = await readFile(path)
  const files = await filesIn(directory)
  for (let length = progress.byteLength; length >= 0; length -= 691) {
    const copy = await tempDir(t)
    for (const [name, bytes] of files) await writeFile(join(copy, name), bytes)
    await writeFile(join(copy, 'sallyport-v1-000001.progress'), progress.subarray(0, length))
    const isBegun = progress.subarray(0, length).includes(10)
    if (!isBegun) {
      await assert.rejects(openWriter(copy, sample), { code: 'ARCHIVE_EXISTS' })
      continue
    }
    const again = await openWriter(copy, sample)
    assert.deepEqual(await pushAll(again), [])
    await again.seal([])
    await again.close()
    assert.equal(firstDifference(await filesIn(copy), makeArchive(sample).files), undefined, `cut at ${length}`)
  }
})
