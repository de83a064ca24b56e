import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { tarBlock, tarContent, tarEnd, withChecksum } from '../../../testkit/tar-blocks.ts'
import { type Cleanup, tempDir } from '../../../testkit/temp-dir.ts'
import { scanTar, type TarScanEntry } from './tar-scan.ts'

interface Seen extends Pick<TarScanEntry, 'name' | 'kind' | 'size' | 'offset'> {
  readonly head: string
}

async function scan(file: string) {
  const seen: Seen[] = []
  const flaw = await scanTar(file, {
    visit: ({ name, kind, size, offset, head }) =>
      seen.push({ name, kind, size, offset, head: head(10).toString('utf8') }),
  })
  return { seen, flaw, names: seen.map(({ name }) => name) }
}

async function scanBytes(t: Cleanup, ...parts: Buffer[]) {
  const file = join(await tempDir(t), 'a.tar')
  await writeFile(file, Buffer.concat(parts))
  return scan(file)
}

/** A pax header with these records. */
function pax(records: string, type = 'x'): Buffer {
  return tarContent({ name: 'PaxHeader', type }, records)
}

for (const format of ['v7', 'ustar', 'gnu', 'oldgnu', 'pax']) {
  test(`what tar writes in the format ${format} is found with its names, sizes and places`, async (t) => {
    const root = await tempDir(t)
    const depth = format === 'v7' ? 1 : 3
    const folder = Array.from({ length: depth }, (_, index) => `folder-${index}`.padEnd(60, 'x')).join('/')
    const long = format === 'v7' || format === 'ustar' ? folder : `${folder}/${'y'.repeat(200)}`
    await mkdir(join(root, long), { recursive: true })
    const contents = { [`${long}/file`]: 'content', 'b-empty': '', [`${folder}/z`]: 'z'.repeat(70_000) }
    for (const [path, text] of Object.entries(contents)) await writeFile(join(root, path), text)
    const file = join(await tempDir(t), 'a.tar')
    await promisify(execFile)('tar', [`--format=${format}`, '-C', root, '-cf', file, '.'])
    const { seen, flaw } = await scan(file)
    assert.equal(flaw, undefined)
    const files = seen.filter(({ kind }) => kind === 'file')
    assert.deepEqual(
      Object.fromEntries(files.map(({ name, size, head }) => [name, [size, head]])),
      Object.fromEntries(
        Object.entries(contents).map(([path, text]) => [`./${path}`, [text.length, text.slice(0, 10)]]),
      ),
    )
    assert.ok(seen.some(({ kind }) => kind === 'directory'))
  })
}

const huge = 9 * 1024 ** 3
const hugeHeaders = {
  "GNU's binary size": [tarBlock({ name: 'huge', size: huge, isBinarySize: true, magic: 'ustar  \0' })],
  'a pax header': [pax(`19 size=${huge}\n`), tarBlock({ name: 'huge', size: 0 })],
  'twelve octal digits': [tarBlock({ name: 'huge', sizeField: huge.toString(8).padStart(12, '0') })],
}

for (const [what, headers] of Object.entries(hugeHeaders)) {
  test(`an entry of 9 GiB is passed without reading it: ${what}`, async (t) => {
    const path = join(await tempDir(t), 'a.tar')
    const start = Buffer.concat(headers)
    const file = await open(path, 'w')
    await file.write(start, 0, start.length, 0)
    const end = Buffer.concat([tarContent({ name: 'after' }, 'x'), tarEnd])
    await file.write(end, 0, end.length, start.length + huge)
    await file.close()
    const { seen, flaw } = await scan(path)
    assert.equal(flaw, undefined)
    assert.deepEqual(
      seen.map(({ name, size, offset }) => ({ name, size, offset })),
      [
        { name: 'huge', size: huge, offset: start.length },
        { name: 'after', size: 1, offset: start.length + huge + 512 },
      ],
    )
  })
}

test('a long name counts for one entry only', async (t) => {
  const name = 'n'.repeat(300)
  const { names } = await scanBytes(
    t,
    tarContent({ name: '././@LongLink', type: 'L', magic: 'ustar  \0' }, `${name}\0`),
    tarBlock({ name: 'short', magic: 'ustar  \0' }),
    tarBlock({ name: 'next' }),
    pax('15 path=from/x\n'),
    tarBlock({ name: 'short' }),
    tarBlock({ name: 'last' }),
    tarEnd,
  )
  assert.deepEqual(names, [name, 'next', 'from/x', 'last'])
})

test('a sparse file is passed, however its map is written', async (t) => {
  const old = tarBlock({ name: 'old', type: 'S', size: 512, magic: 'ustar  \0' })
  old[482] = 1
  const map = Buffer.alloc(1024)
  map[504] = 1
  const { seen, flaw } = await scanBytes(
    t,
    withChecksum(old),
    map,
    Buffer.alloc(512, 'd'),
    pax('22 GNU.sparse.major=1\n'),
    tarContent({ name: 'new' }, 'data'),
    tarContent({ name: 'after' }, 'plain'),
    tarEnd,
  )
  assert.equal(flaw, undefined)
  assert.deepEqual(
    seen.map(({ name, kind, head }) => [name, kind, head]),
    [
      ['old', 'sparse', 'dddddddddd'],
      ['new', 'sparse', 'data'],
      ['after', 'file', 'plain'],
    ],
  )
})

test('links and devices have no content, whatever they claim', async (t) => {
  const types = ['1', '2', '3', '4', '6'].map((type) => tarBlock({ name: type, type, linkName: 'x', size: 5000 }))
  const { seen, flaw } = await scanBytes(t, ...types, tarContent({ name: 'after' }, 'x'), tarEnd)
  assert.equal(flaw, undefined)
  assert.deepEqual(
    seen.map(({ name, kind }) => `${name} ${kind}`),
    ['1 other', '2 other', '3 other', '4 other', '6 other', 'after file'],
  )
})

const first = tarContent({ name: 'first' }, 'whole')
const damages: Readonly<Record<string, { bytes: Buffer; why: RegExp; at?: number }>> = {
  'a file without a byte': { bytes: Buffer.alloc(0), why: /empty/, at: 0 },
  'no end mark': { bytes: first, why: /without an end mark/ },
  'half a header': { bytes: Buffer.concat([first, first.subarray(0, 100)]), why: /inside a header/ },
  'a header that is none': {
    bytes: Buffer.concat([first, Buffer.alloc(512, 'x'), tarEnd]),
    why: /should be a tar header/,
  },
  'a wrong checksum': {
    bytes: Buffer.concat([first, tarBlock({ name: 'x' }).fill('y', 0, 1), tarEnd]),
    why: /should be a tar header/,
  },
  'content beyond the end': {
    bytes: Buffer.concat([first, tarBlock({ name: 'cut', size: 5000 }), Buffer.alloc(4999)]),
    why: /"cut" is cut: its 5000 bytes/,
  },
  'a sector of zeros': { bytes: Buffer.concat([first, Buffer.alloc(512), first, tarEnd]), why: /goes on after them/ },
  'pax records that are none': {
    bytes: Buffer.concat([first, pax('99 path=x\n'), first, tarEnd]),
    why: /pax header that is not well formed/,
  },
}

for (const [what, { bytes, why, at = first.length }] of Object.entries(damages)) {
  test(`damage ends the archive where it is, and what is before it counts: ${what}`, async (t) => {
    const { names, flaw } = await scanBytes(t, bytes)
    assert.deepEqual(names, at === 0 ? [] : ['first'])
    assert.match(flaw?.why ?? '', why)
    assert.ok((flaw?.offset ?? 0) >= at && (flaw?.offset ?? 0) <= at + 1024, `at ${flaw?.offset}`)
  })
}

const absurd: Readonly<Record<string, Buffer>> = {
  'a negative size': tarBlock({ name: 'x', size: -512, isBinarySize: true }),
  'a size of 2^80 bytes': tarBlock({ name: 'x', size: 2n ** 80n, isBinarySize: true }),
  'a size that is no number': tarBlock({ name: 'x', sizeField: '99zz' }),
  'a size at the end of what can be counted': tarBlock({
    name: 'x',
    size: BigInt(Number.MAX_SAFE_INTEGER),
    isBinarySize: true,
  }),
  'a negative size in a pax header': Buffer.concat([pax('11 size=-1\n'), tarBlock({ name: 'x' })]),
  'a pax header of 2 MiB': Buffer.concat([
    tarBlock({ name: 'x', type: 'x', size: 2 * 1024 ** 2 }),
    Buffer.alloc(2 * 1024 ** 2),
  ]),
  'one name for all entries': pax('15 path=a/b/c/\n', 'g'),
}

for (const [what, bytes] of Object.entries(absurd)) {
  test(`an archive is refused at the byte where it has ${what}`, async (t) => {
    await assert.rejects(scanBytes(t, first, bytes, Buffer.alloc(4096, 1)), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'ARCHIVE_INVALID')
      assert.match(error.message, /a\.tar: at byte (?:1024|2048): /)
      return true
    })
  })
}

test('no bytes make it hang, run away or see an entry outside the file', async (t) => {
  const directory = await tempDir(t)
  const file = join(directory, 'a.tar')
  const valid = Buffer.concat([
    first,
    pax('15 path=from/x\n'),
    first,
    tarContent({ name: 'n', type: 'L' }, 'long\0'),
    first,
    tarEnd,
  ])
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { maxLength: 5 }), async (changes) => {
      const bytes = Buffer.from(valid)
      for (const [offset, byte] of changes) {
        bytes[offset] = byte
        // With a right checksum the rest of the header is believed.
        const header = bytes.subarray(offset - (offset % 512), offset - (offset % 512) + 512)
        if (header.includes('ustar')) withChecksum(header)
      }
      await writeFile(file, bytes)
      const { seen } = await scan(file).catch((error: Error & { code?: string }) => {
        assert.equal(error.code, 'ARCHIVE_INVALID')
        return { seen: [] }
      })
      for (const { offset, size } of seen) assert.ok(size >= 0 && offset + size <= bytes.length)
    }),
    { numRuns: 300 },
  )
})
