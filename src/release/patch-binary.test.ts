import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { BinaryPatch, placeholderOf, type ReleaseMarks } from './patch-binary.ts'

const image = `quay.io/openshift-release-dev/ocp-release@sha256:${'ab'.repeat(32)}`
const marks = { image, version: '4.18.9', architecture: 'linux/amd64' } as const

async function patched(binary: Buffer, values: ReleaseMarks, chunkBytes = 1000) {
  const patch = new BinaryPatch(values)
  const chunks = async function* () {
    for (let at = 0; at < binary.length; at += chunkBytes) yield binary.subarray(at, at + chunkBytes)
  }
  // A copy of each, since a chunk may be used again once the next is asked for.
  const bytes = Buffer.concat(await Array.fromAsync(patch.apply(chunks()), (chunk) => Buffer.from(chunk)))
  return { bytes, patch }
}

/** What the installer reads at the place: everything up to the first NUL. */
function valueAt(bytes: Buffer, offset: number): string {
  return bytes.toString('latin1', offset, bytes.indexOf(0, offset))
}

const binaryOf = (...parts: (Buffer | string)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)))

test('places have the lengths that the installer and oc have agreed on', () => {
  // openshift/oc extract_tools.go: 327, 93 and 98 bytes.
  const lengths = (['image', 'version', 'architecture'] as const).map((mark) => placeholderOf(mark).length)
  assert.deepEqual(lengths, [327, 93, 98])
  assert.match(placeholderOf('image').toString('latin1'), /^\0_RELEASE_IMAGE_LOCATION_\0X{300}\0$/)
})

test('each value and a NUL stand at the beginning of their place, and no other byte changes', async () => {
  const parts = ['ELF', placeholderOf('version'), 'code', placeholderOf('image'), placeholderOf('architecture'), 'end']
  const binary = binaryOf(...parts)
  const { bytes, patch } = await patched(binary, marks)
  assert.equal(bytes.length, binary.length)
  assert.deepEqual(patch.missing, [])
  for (const { mark, offset, size } of patch.made) {
    assert.equal(valueAt(bytes, offset), marks[mark])
    binary.copy(bytes, offset, offset, offset + size)
  }
  assert.ok(bytes.equals(binary))
})

test('places are found wherever chunks end', async () => {
  const binary = binaryOf('x'.repeat(700), placeholderOf('image'), 'y'.repeat(300), placeholderOf('version'), 'z')
  const whole = await patched(binary, marks, binary.length)
  const property = fc.asyncProperty(fc.integer({ min: 1, max: 800 }), async (chunkBytes) => {
    const { bytes, patch } = await patched(binary, marks, chunkBytes)
    assert.ok(bytes.equals(whole.bytes))
    assert.deepEqual(
      patch.made.toSorted((a, b) => a.offset - b.offset),
      whole.patch.made.toSorted((a, b) => a.offset - b.offset),
    )
  })
  await fc.assert(property, { numRuns: 100 })
})

test('only the first place is filled, as oc does', async () => {
  const place = placeholderOf('version')
  const { bytes } = await patched(binaryOf(place, place), { version: '4.18.9' })
  assert.ok(bytes.subarray(place.length).equals(place))
})

test('what only begins like a place is left alone: the constant that the installer compares with', async () => {
  const prefix = '\0_RELEASE_IMAGE_LOCATION_\0'
  const short = `${prefix}${'X'.repeat(299)}\0`
  const binary = binaryOf(prefix, 'code', short, '!_RELEASE_IMAGE_LOCATION_\0', 'X'.repeat(300), '\0')
  const { bytes, patch } = await patched(binary, { image })
  assert.ok(bytes.equals(binary))
  assert.deepEqual(patch.missing, ['image'])
})

test('a value may fill its place to the last byte but one, and no more', async () => {
  const room = placeholderOf('image').length - 1
  const { bytes } = await patched(binaryOf(placeholderOf('image'), 'next'), { image: 'i'.repeat(room) })
  assert.equal(valueAt(bytes, 0).length, room)
  assert.equal(bytes.subarray(-4).toString(), 'next')
  assert.throws(() => new BinaryPatch({ image: 'i'.repeat(room + 1) }), {
    code: 'USAGE',
    message: /has 327 bytes, and there is room for 326/,
  })
})

test('without values the bytes pass as they are', async () => {
  const binary = binaryOf(placeholderOf('image'))
  assert.ok((await patched(binary, {})).bytes.equals(binary))
})
