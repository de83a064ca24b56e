import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFile, open, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { writeShamArchive } from '../../../testkit/sham-archive.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { digestOf } from '../../oci/digest.ts'
import { parseVolumeName } from '../format/volume-names.ts'
import { type ParityRecord, parityPlaces, renderParity } from './parity.ts'
import { repairVolumes } from './repair-volumes.ts'
import { writeParity } from './write-parity.ts'

const signal = new AbortController().signal
const MiB = 1024 * 1024
/** More than one row, and a last volume that ends within another row. */
const threeVolumes = [2 * MiB + 512, 2 * MiB + 512, MiB + 10_240]

async function snapshot(directory: string): Promise<Record<string, string>> {
  const files = (await readdir(directory)).sort()
  const digests = await Promise.all(files.map(async (file) => digestOf(await readFile(join(directory, file)))))
  return Object.fromEntries(files.map((file, index) => [file, digests[index] ?? '']))
}

async function protect(t: TestContext, volumeSizes: readonly number[], count: number) {
  const directory = await tempDir(t)
  const { stem, volumes } = await writeShamArchive(directory, volumeSizes)
  const { files } = await writeParity(directory, stem, count, { signal })
  const path = (name: string | undefined) => join(directory, name ?? '')
  return { directory, stem, volumes, parity: files, path, original: await snapshot(directory) }
}

async function flip(path: string, offset: number): Promise<void> {
  const file = await open(path, 'r+')
  try {
    const byte = Buffer.alloc(1)
    await file.read(byte, 0, 1, offset)
    await file.write(Buffer.of((byte[0] ?? 0) ^ 0x10), 0, 1, offset)
  } finally {
    await file.close()
  }
}

test('the same volumes give the same parity volumes, in plain tar, and they are no volumes of the archive', async (t) => {
  const { directory, stem, parity, path, original } = await protect(t, threeVolumes, 2)
  assert.deepEqual(parity, [`${stem}-parity-01.tar`, `${stem}-parity-02.tar`])
  assert.deepEqual(await writeParity(directory, stem, 2, { signal }).then(({ files }) => files), parity)
  assert.deepEqual(await snapshot(directory), original)
  for (const name of parity) assert.equal(parseVolumeName(name), undefined)
  const listed = execFileSync('tar', ['-tf', path(parity[0])], { encoding: 'utf8' })
    .trim()
    .split('\n')
  assert.deepEqual(listed, [
    'sallyport/parity.json',
    'sallyport/parity.sums',
    'sallyport/parity',
    'sallyport/parity.sha256',
  ])
  const unpacked = await tempDir(t)
  execFileSync('tar', ['-xf', path(parity[1]), '-C', unpacked])
  execFileSync('sh', ['-c', 'sha256sum --check --strict sallyport/parity.sha256'], { cwd: unpacked })
})

test('fewer parity volumes than before leave none of the others behind', async (t) => {
  const { directory, stem } = await protect(t, threeVolumes, 2)
  await writeParity(directory, stem, 1, { signal })
  const files = (await readdir(directory)).filter((file) => file.includes('parity'))
  assert.deepEqual(files, [`${stem}-parity-01.tar`])
})

test('an archive that is whole is left alone', async (t) => {
  const { directory, stem, original } = await protect(t, threeVolumes, 1)
  assert.deepEqual(await repairVolumes(directory, stem, { signal }), { volumes: [], damagedParity: [], count: 1 })
  assert.deepEqual(await snapshot(directory), original)
})

test('any two missing volumes are made again by two parity volumes, byte for byte', async (t) => {
  for (const [first, second] of [
    [0, 1],
    [0, 2],
    [1, 2],
  ] as const) {
    const { directory, stem, volumes, path, original } = await protect(t, threeVolumes, 2)
    await rm(path(volumes[first]))
    await rm(path(volumes[second]))
    const repair = await repairVolumes(directory, stem, { signal })
    assert.deepEqual(
      repair?.volumes.map(({ file, wasMissing, lostBytes }) => ({ file, wasMissing, lostBytes })),
      [first, second].map((index) => ({ file: volumes[index], wasMissing: true, lostBytes: 0 })),
    )
    assert.deepEqual(await snapshot(directory), original)
  }
})

test('a missing volume and a missing parity volume are within the loss that two parity volumes allow', async (t) => {
  const { directory, stem, volumes, parity, path, original } = await protect(t, threeVolumes, 2)
  await rm(path(volumes[1]))
  await rm(path(parity[0]))
  const repair = await repairVolumes(directory, stem, { signal })
  assert.deepEqual(
    repair?.volumes.map(({ volume, lostBytes }) => ({ volume, lostBytes })),
    [{ volume: 2, lostBytes: 0 }],
  )
  await writeParity(directory, stem, repair?.count ?? 0, { signal })
  assert.deepEqual(await snapshot(directory), original)
})

test('one parity volume mends several volumes, where no row is damaged in two of them', async (t) => {
  const { directory, stem, volumes, path, original } = await protect(t, threeVolumes, 1)
  await flip(path(volumes[0]), 700)
  await flip(path(volumes[1]), MiB + 3)
  await truncate(path(volumes[1]), 2 * MiB)
  await flip(path(volumes[2]), MiB + 1)
  const repair = await repairVolumes(directory, stem, { signal })
  // Volumes 2 and 3 are both damaged in the second row: there one parity volume is not enough.
  assert.deepEqual(
    repair?.volumes.map(({ volume, rebuiltBytes, lostBytes }) => ({ volume, rebuiltBytes, lostBytes })),
    [
      { volume: 1, rebuiltBytes: MiB, lostBytes: 0 },
      { volume: 2, rebuiltBytes: 512, lostBytes: MiB },
      { volume: 3, rebuiltBytes: 0, lostBytes: 10_240 },
    ],
  )
  await flip(path(volumes[1]), MiB + 3)
  const rest = await repairVolumes(directory, stem, { signal })
  assert.deepEqual(
    rest?.volumes.map(({ volume, lostBytes }) => ({ volume, lostBytes })),
    [{ volume: 3, lostBytes: 0 }],
  )
  assert.deepEqual(await snapshot(directory), original)
})

test('a volume that is too long is cut to its size', async (t) => {
  const { directory, stem, volumes, path, original } = await protect(t, threeVolumes, 1)
  await writeFile(path(volumes[2]), 'more', { flag: 'a' })
  assert.deepEqual(
    (await repairVolumes(directory, stem, { signal }))?.volumes.map(({ volume }) => volume),
    [3],
  )
  assert.deepEqual(await snapshot(directory), original)
})

test('a byte flipped anywhere, in a volume or in a parity volume, costs nothing', async (t) => {
  const { directory, stem, volumes, parity, path, original } = await protect(t, [20_480, 20_480, 9216], 2)
  const sizes = await Promise.all([...volumes, ...parity].map(async (file) => (await stat(path(file))).size))
  const places = fc.integer({ min: 0, max: volumes.length + parity.length - 1 }).chain((index) =>
    fc.record({
      file: fc.constant([...volumes, ...parity][index] ?? ''),
      offset: fc.integer({ min: 0, max: (sizes[index] ?? 1) - 1 }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(places, async ({ file, offset }) => {
      await flip(path(file), offset)
      const repair = await repairVolumes(directory, stem, { signal })
      if (parity.includes(file)) await flip(path(file), offset)
      const expected = parity.includes(file) ? [] : [file]
      assert.deepEqual(
        repair?.volumes.map((volume) => volume.file),
        expected,
      )
      assert.deepEqual(await snapshot(directory), original)
    }),
    { numRuns: 100 },
  )
})

test('more volumes than one group holds are protected in several', async (t) => {
  const many = Array.from({ length: 300 }, (_, index) => (index === 299 ? 8192 : 7168))
  const { directory, stem, volumes, parity, path, original } = await protect(t, many, 2)
  assert.equal(parity.length, 4)
  for (const index of [0, 1, 2, 3]) await rm(path(volumes[index]))
  const repair = await repairVolumes(directory, stem, { signal })
  assert.deepEqual(
    repair?.volumes.map(({ volume, lostBytes }) => [volume, lostBytes]),
    [1, 2, 3, 4].map((volume) => [volume, 0]),
  )
  assert.deepEqual(await snapshot(directory), original)
})

test('parity of an archive that lacks a volume is refused', async (t) => {
  for (const index of [0, 1, 2]) {
    const { directory, stem, volumes, path } = await protect(t, threeVolumes, 1)
    await rm(path(volumes[index]))
    await assert.rejects(writeParity(directory, stem, 1, { signal }), {
      code: 'ARCHIVE_INCOMPLETE',
      details: { archive: stem, volume: index + 1 },
    })
  }
})

test('parity of another archive with the same number is refused before anything is written', async (t) => {
  const { directory, stem } = await protect(t, threeVolumes, 1)
  await writeShamArchive(directory, threeVolumes, 'other')
  const other = await snapshot(directory)
  await assert.rejects(repairVolumes(directory, stem, { signal }), { code: 'ARCHIVE_INVALID' })
  assert.deepEqual(await snapshot(directory), other)
})

test('a link in the place of a volume is not followed', async (t) => {
  const { directory, stem, volumes, path } = await protect(t, threeVolumes, 1)
  const outside = join(await tempDir(t), 'outside')
  await copyFile(path(volumes[0]), outside)
  await flip(outside, 4000)
  const before = await readFile(outside)
  await rm(path(volumes[0]))
  await symlink(outside, path(volumes[0]))
  await assert.rejects(repairVolumes(directory, stem, { signal }), { code: 'FILE_UNREADABLE' })
  assert.deepEqual(await readFile(outside), before)
})

test('an interrupted repair leaves no volume half made under its name, and goes on', async (t) => {
  const { directory, stem, volumes, path, original } = await protect(t, threeVolumes, 1)
  await rm(path(volumes[1]))
  const controller = new AbortController()
  const interrupted = repairVolumes(directory, stem, { signal: controller.signal, onBytes: () => controller.abort() })
  await assert.rejects(interrupted, { name: 'AbortError' })
  assert.ok(!(await readdir(directory)).some((file) => file.startsWith(volumes[1] ?? '')))
  await repairVolumes(directory, stem, { signal })
  assert.deepEqual(await snapshot(directory), original)
})

test('without parity there is nothing to repair with', async (t) => {
  const directory = await tempDir(t)
  const { stem } = await writeShamArchive(directory, [20_480])
  assert.equal(await repairVolumes(directory, stem, { signal }), undefined)
})

test('a parity volume that claims more than it has is not used', async (t) => {
  const { directory, stem, parity, path, volumes } = await protect(t, [20_480, 20_480], 1)
  const bytes = await readFile(path(parity[0]))
  const record = JSON.parse(bytes.subarray(512, 512 + 16_384).toString()) as ParityRecord
  const absurd = { ...record, blockBytes: 16 * MiB, volumes: record.volumes.map((one) => ({ ...one, size: 2 ** 40 })) }
  const places = parityPlaces(absurd)
  const sums = Buffer.alloc(places.sums.size)
  const { bytes: front, check } = renderParity(absurd)
  const file = await open(path(parity[0]), 'w')
  await file.write(front, 0, front.length, places.record.offset)
  await file.write(sums, 0, sums.length, places.sums.offset)
  const closing = check(digestOf(sums).slice('sha256:'.length))
  await file.write(closing, 0, closing.length, places.check.offset)
  await file.close()
  await rm(path(volumes[0]))
  const repair = await repairVolumes(directory, stem, { signal })
  assert.equal(repair, undefined)
  assert.deepEqual((await readdir(directory)).sort(), [volumes[1], ...parity].sort())
})
