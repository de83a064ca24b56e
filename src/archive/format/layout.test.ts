import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { firstEntryOffset, Layout, segmentsAt } from './layout.ts'
import { headerBytes, padded } from './tar-space.ts'

const names = fc.constantFrom(`blobs/sha256/${'a'.repeat(64)}`, `blobs/sha512/${'b'.repeat(128)}`, 'index.json')
const entries = fc.array(
  fc.record({ name: names, size: fc.oneof(fc.nat(3000), fc.nat(70_000), fc.constantFrom(0, 1, 511, 512, 513)) }),
  { maxLength: 40 },
)
const volumes = fc.nat(60).map((blocks) => (16 + blocks) * 512)

test('no two pieces overlap, none leaves its volume, and together they are the whole entry', () => {
  fc.assert(
    fc.property(entries, volumes, (list, volumeBytes) => {
      const layout = new Layout(volumeBytes)
      let [volume, position] = [1, firstEntryOffset]
      for (const entry of list) {
        let start = 0
        for (const segment of layout.place(entry)) {
          assert.ok(segment.volume >= volume)
          if (segment.volume > volume) position = firstEntryOffset
          volume = segment.volume
          assert.equal(segment.headerOffset, position)
          assert.equal(segment.offset, segment.headerOffset + headerBytes(segment.name, entry.size))
          assert.equal(segment.start, start)
          start += segment.length
          position = segment.offset + padded(segment.length)
          assert.ok(position <= volumeBytes - 1024)
          assert.ok(position % 512 === 0)
        }
        assert.equal(start, entry.size)
      }
    }),
  )
})

test('the pieces of an entry are found again from the place of its first byte alone', () => {
  fc.assert(
    fc.property(entries, volumes, (list, volumeBytes) => {
      const layout = new Layout(volumeBytes)
      for (const entry of list) {
        const segments = layout.place(entry)
        const [first] = segments
        assert.ok(first)
        assert.deepEqual(segmentsAt(entry, first, volumeBytes), segments)
      }
    }),
  )
})

test('a blob of more than 8 GiB, whole or cut, has its size in a pax header', () => {
  const size = 20 * 1024 ** 3 + 5
  for (const volumeBytes of [500 * 1024 ** 3, 8 * 1024 ** 3 + 3072, 9 * 1024 ** 3, 4 * 1024 ** 3]) {
    const entry = { name: `blobs/sha256/${'a'.repeat(64)}`, size }
    const segments = new Layout(volumeBytes).place(entry)
    const [first] = segments
    assert.ok(first)
    for (const { headerOffset, offset } of segments) assert.equal(offset - headerOffset, 1536)
    assert.deepEqual(segmentsAt(entry, first, volumeBytes), segments)
  }
})

test('what must not be cut begins a new volume where it does not fit', () => {
  const layout = new Layout(20 * 512)
  layout.place({ name: 'a', size: 10 * 512 })
  const segments = layout.place({ name: 'end', size: 4096, isWhole: true })
  assert.deepEqual(
    segments.map(({ volume, name, length }) => ({ volume, name, length })),
    [{ volume: 2, name: 'end', length: 4096 }],
  )
})
