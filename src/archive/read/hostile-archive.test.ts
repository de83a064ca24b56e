/** Archives that were made to do harm: refused with a known error, or found wrong; never a crash, and nothing is written. */
import assert from 'node:assert/strict'
import { copyFile, mkdir, readdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type ArchiveSample, contentOfImages, makeArchive, writeSampleArchive } from '../../../testkit/archive.ts'
import { makeImage } from '../../../testkit/image.ts'
import { randomBytes } from '../../../testkit/random-bytes.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { KnownError } from '../../errors/known-error.ts'
import { digestOf } from '../../oci/digest.ts'
import type { ArchiveImage } from '../format/records.ts'
import { fileHeader, writeTar } from '../tar/ustar.ts'
import { verifyArchive } from '../verify/verify-archive.ts'
import { findArchives } from './find-archives.ts'
import { openArchive } from './read-archive.ts'

const volumeBytes = 16 * 1024
const image = makeImage({ seed: 'hostile', layers: 1 })
const images: readonly ArchiveImage[] = [
  { source: 'quay.io/a/b:1', destination: 'a/b:1', digest: image.digest, class: 'additional', why: 'asked for' },
]

async function sample(changes: Partial<ArchiveSample> = {}): Promise<ArchiveSample> {
  const large = randomBytes('large', 40_000)
  const carried = [{ digest: digestOf(large), bytes: large }, ...(await contentOfImages([image]))]
  return { carried, images, volumeBytes, ...changes }
}

async function refused(directory: string, code: string, what?: string): Promise<void> {
  await assert.rejects(
    async () => {
      for (const found of await findArchives(directory)) await (await openArchive(found)).close()
    },
    (error: unknown) => error instanceof KnownError && error.code === code,
    what,
  )
}

const line = /^(\S+) (\d{15}) (\d{9}) (\d{15}) (\S+)\n/

const hostileIndexes: Readonly<Record<string, NonNullable<ArchiveSample['tamper']>>> = {
  'a destination that leaves the target': { record: (record) => withImage(record, { destination: '../../etc:1' }) },
  'a destination with a host in it': { record: (record) => withImage(record, { destination: 'evil.example:443/x' }) },
  'a destination without a tag': { record: (record) => withImage(record, { destination: 'a/b' }) },
  'a source that is no reference': { record: (record) => withImage(record, { source: 'quay.io/a\u001b[2Jb:1' }) },
  'volumes of no size': { record: (record) => ({ ...record, volumeBytes: 512 }) },
  'volumes of an odd size': { record: (record) => ({ ...record, volumeBytes: volumeBytes + 1 }) },
  'volumes of another size': { record: (record) => ({ ...record, volumeBytes: 2 * volumeBytes }) },
  'a volume size that is no number': { record: (record) => ({ ...record, volumeBytes: -1 }) },
  'another version': { record: (record) => ({ ...record, version: 2 }) },
  'a blob of a petabyte': { table: (text) => text.replace(line, '$1 900000000000000 $3 $4 $5\n') },
  'a blob beyond the last volume': { table: (text) => text.replace(line, '$1 $2 000900000 $4 $5\n') },
  'a blob over another one': { table: (text) => text.replace(line, '$1 $2 $3 000000000001536 $5\n') },
  'a size below nothing': { table: (text) => text.replace(line, '$1 -00000000000001 $3 $4 $5\n') },
  'a size in another notation': { table: (text) => text.replace(line, '$1 0x0000000000001 $3 $4 $5\n') },
  'a digest that is a path': { table: (text) => text.replace(/sha256:[0-9a-f]{64}/, `../${'x'.repeat(68)}`) },
  'a blob that is there twice': { table: twice },
  'what is not carried before what is': { table: (text) => text.replace(line, '$1 $2 000000000 000000000000000 $5\n') },
  'a media type with a line of a request in it': {
    table: (text) => text.replace(/application\/\S+/, 'a/b\r\tX-Evil:1'),
  },
  'a table without its last line feed': { table: (text) => `${text.slice(0, -1)}x` },
  'more volumes than there are': { end: (record) => ({ ...record, volumes: 1_000_000_000 }) },
}

function withImage(record: Readonly<Record<string, unknown>>, change: Partial<ArchiveImage>): object {
  return { ...record, images: images.map((one) => ({ ...one, ...change })) }
}

/** The first digest in the place of the second, too. */
function twice(text: string): string {
  const [, first = ''] = line.exec(text) ?? []
  return text.replace(/(\n)sha256:[0-9a-f]{64}/, `$1${first}`)
}

test('an index that is wrong is refused, however right its digests are', async (t) => {
  for (const [what, tamper] of Object.entries(hostileIndexes)) {
    const directory = await tempDir(t)
    const made = await writeSampleArchive(directory, await sample({ tamper }))
    await refused(directory, 'ARCHIVE_INVALID', what)
    assert.deepEqual(await readdir(directory), [...made.files.keys()], 'nothing was written')
  }
})

test('a volume that is a link, or a directory, is refused', async (t) => {
  const elsewhere = await tempDir(t)
  const { files } = await writeSampleArchive(elsewhere, await sample())
  const [first = '', second = ''] = files.keys()
  for (const replace of [
    (path: string) => symlink(join(elsewhere, first), path),
    (path: string) => symlink('/dev/zero', path),
    (path: string) => mkdir(path),
  ]) {
    const directory = await tempDir(t)
    await copyFile(join(elsewhere, second), join(directory, second))
    await replace(join(directory, first))
    await refused(directory, 'ARCHIVE_INVALID')
  }
})

test('a volume that becomes a link after it was looked at is not followed', async (t) => {
  const directory = await tempDir(t)
  const { files } = await writeSampleArchive(directory, await sample())
  const [first = ''] = files.keys()
  const [found] = await findArchives(directory)
  assert.ok(found)
  await rename(join(directory, first), join(directory, 'elsewhere'))
  await symlink(join(directory, 'elsewhere'), join(directory, first))
  await assert.rejects(openArchive(found), { code: 'FILE_UNREADABLE' })
})

test('two archives with one sequence number, or two files for one volume, are refused', async (t) => {
  const directory = await tempDir(t)
  const { files } = await writeSampleArchive(directory, await sample())
  const [first = ''] = files.keys()
  for (const twin of [
    'sallyport-v1-0000001-0001.tar',
    'sallyport-v1-000001-00001.tar',
    'sallyport-v1-000001-0000.tar',
  ]) {
    await copyFile(join(directory, first), join(directory, twin))
    await refused(directory, 'ARCHIVE_INVALID', twin)
    await rename(join(directory, twin), join(directory, 'other'))
  }
})

test('volumes under the names of others, or of another archive, are refused', async (t) => {
  const other = await makeOther()
  for (const [name, bytes] of [
    ['sallyport-v1-000001-0002.tar', other.get('sallyport-v1-000001-0003.tar')],
    ['sallyport-v1-000001-0002.tar', (await makeOther('other')).get('sallyport-v1-000001-0002.tar')],
  ] as const) {
    const directory = await tempDir(t)
    await writeSampleArchive(directory, await sample())
    await writeFile(join(directory, name), bytes ?? '')
    await refused(directory, 'ARCHIVE_INVALID')
  }
  const directory = await tempDir(t)
  for (const [name, bytes] of other) await writeFile(join(directory, name.replace('-000001-', '-000007-')), bytes)
  await refused(directory, 'ARCHIVE_INVALID')
})

async function makeOther(configuration = ''): Promise<ReadonlyMap<string, Buffer>> {
  return makeArchive(await sample({ configuration })).files
}

test('a file name with a huge number in it costs neither time nor memory', async (t) => {
  const directory = await tempDir(t)
  const { files } = await writeSampleArchive(directory, await sample())
  const names = [...files.keys()]
  await rename(join(directory, names.at(-1) ?? ''), join(directory, 'sallyport-v1-000001-999999999.tar'))
  await refused(directory, 'ARCHIVE_INVALID')
  await useAll(directory)
})

test('entries that are links, stand twice or claim to be huge are not the entries of an archive', async (t) => {
  const name = 'sallyport/archive.json'
  const hostile = {
    'a symbolic link': [...writeTar([{ name, type: 'symlink', linkName: '/etc/passwd' }])],
    'a hard link': [...writeTar([{ name, type: 'hardlink', linkName: '../../etc/passwd' }])],
    'a path to the outside': [...writeTar([{ name: '../../sallyport/archive.json', size: 0 }])],
    'eight gibibytes': [fileHeader(name, 8 ** 11 - 1, { pax: false }), Buffer.alloc(1024)],
    'more than there is': [fileHeader('parts/sallyport/archive.json/000001', 8 ** 11 - 1, { pax: false })],
  }
  for (const [what, chunks] of Object.entries(hostile)) {
    const directory = await tempDir(t)
    const { files } = await writeSampleArchive(directory, await sample())
    const [[first, bytes]] = [...files] as [[string, Buffer]]
    await writeFile(join(directory, first), Buffer.concat([bytes.subarray(0, 1024), ...chunks, Buffer.alloc(4096)]))
    await refused(directory, 'ARCHIVE_DAMAGED', what)
  }
})

/** Opens, reads and verifies all there is; only known errors may come of it. */
async function useAll(directory: string): Promise<void> {
  try {
    for (const found of await findArchives(directory)) {
      await verifyArchive(found)
      const archive = await openArchive(found, { allowDamage: true })
      for (const digest of archive.blobs.keys()) await buffer(archive.open(digest)).catch(known)
      await archive.readPlan().catch(known)
      await archive.close()
    }
  } catch (error) {
    known(error)
  }
}

function known(error: unknown): void {
  if (!(error instanceof KnownError)) throw error
}

test('arbitrary bytes in the place of a volume are survived', async (t) => {
  const directory = await tempDir(t)
  const { files } = await writeSampleArchive(directory, await sample())
  const volumes = fc.constantFrom(...files.keys())
  await fc.assert(
    fc.asyncProperty(volumes, fc.uint8Array({ maxLength: 6000 }), fc.nat(6000), async (name, noise, keep) => {
      const whole = files.get(name) ?? Buffer.alloc(0)
      await writeFile(join(directory, name), Buffer.concat([whole.subarray(0, keep), noise]))
      await useAll(directory)
      await writeFile(join(directory, name), whole)
    }),
    { numRuns: 80 },
  )
})

test('an archive with blocks overwritten, moved, doubled and cut out is survived', async (t) => {
  const directory = await tempDir(t)
  const { files } = await writeSampleArchive(directory, await sample())
  const edit = fc.record({
    name: fc.constantFrom(...files.keys()),
    from: fc.nat(volumeBytes / 512),
    to: fc.nat(volumeBytes / 512),
    blocks: fc.integer({ min: 1, max: 4 }),
    how: fc.constantFrom('copy', 'cut', 'insert', 'fill'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 4 }), async (edits) => {
      const changed = new Map(files)
      for (const one of edits) changed.set(one.name, edited(changed.get(one.name) ?? Buffer.alloc(0), one))
      for (const [name, bytes] of changed) await writeFile(join(directory, name), bytes)
      await useAll(directory)
    }),
    { numRuns: 80 },
  )
})

interface Edit {
  readonly from: number
  readonly to: number
  readonly blocks: number
  readonly how: string
}

function edited(bytes: Buffer, { from, to, blocks, how }: Edit): Buffer {
  const [source, target, length] = [from * 512, to * 512, blocks * 512]
  const piece = how === 'fill' ? Buffer.alloc(length, 0x41) : bytes.subarray(source, source + length)
  if (how === 'cut') return Buffer.concat([bytes.subarray(0, source), bytes.subarray(source + length)])
  const after = how === 'insert' ? target : target + piece.byteLength
  return Buffer.concat([bytes.subarray(0, target), piece, bytes.subarray(after)])
}

test('an index with arbitrary values in it, and right digests, is refused or read', async (t) => {
  const fields = ['kind', 'sequence', 'parent', 'volumeBytes', 'configuration', 'totals', 'files', 'images', 'failed']
  const wild = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.string(),
    fc.constant(null),
    fc.array(fc.jsonValue(), { maxLength: 3 }),
  )
  const numbers = fc.oneof(
    fc.nat(4096).map((blocks) => blocks * 512),
    fc.nat(),
    fc.maxSafeNat(),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...fields), fc.oneof(wild, numbers), async (field, value) => {
      const directory = await tempDir(t)
      const record = (header: object) => ({ ...header, [field]: value })
      const images = (header: object) => ({
        ...header,
        ...(field === 'images' && !Array.isArray(value) && { images: [value] }),
      })
      await writeSampleArchive(directory, await sample({ tamper: { record: (header) => images(record(header)) } }))
      await useAll(directory)
    }),
    { numRuns: 60 },
  )
})
