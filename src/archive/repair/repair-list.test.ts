import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Digest, digestOf } from '../../oci/digest.ts'
import {
  composeRepairList,
  isEmptyRepairList,
  parseRepairList,
  type RepairWishes,
  renderRepairList,
  repairStem,
} from './repair-list.ts'

const digest = fc.string().map((text): Digest => digestOf(text, text.length % 2 === 0 ? 'sha256' : 'sha512'))
const blob = fc
  .record({ digest, size: fc.nat(), mediaType: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }) })
  .map(({ mediaType, ...rest }) => ({ ...rest, ...(mediaType !== undefined && { mediaType }) }))
const volumesFrom = fc.option(fc.integer({ min: 1, max: 100 }), { nil: undefined })
const wishes: fc.Arbitrary<RepairWishes> = fc.record({
  volumesFrom,
  archive: fc.record({ id: digest, sequence: fc.integer({ min: 1, max: 999_999 }) }, { noNullPrototype: true }),
  records: fc.subarray(['sallyport/archive.json', 'sallyport/blobs.txt', 'sallyport/plan.json'] as const),
  volumes: fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }),
  blobs: fc.uniqueArray(blob, { maxLength: 20, selector: (one) => one.digest }),
})

const small = composeRepairList({
  archive: { id: digestOf('archive'), sequence: 3 },
  records: [],
  volumes: [],
  blobs: [
    { digest: digestOf('b'), size: 10 },
    { digest: digestOf('a'), size: 20, mediaType: 'application/json' },
  ],
})

test('what is rendered is read back, and the order of the wishes does not matter', () => {
  fc.assert(
    fc.property(wishes, (wanted) => {
      const list = composeRepairList(wanted)
      const text = renderRepairList(list)
      assert.deepEqual(parseRepairList(text, 'list'), list)
      const turned = { ...wanted, blobs: wanted.blobs.toReversed(), volumes: wanted.volumes.toReversed() }
      assert.equal(renderRepairList(composeRepairList(turned)), text)
    }),
  )
})

test('a list names the archive that answers it', () => {
  assert.match(repairStem(small), /^sallyport-v1-000003-repair-[0-9a-f]{8}$/)
  assert.notEqual(repairStem(small), repairStem(composeRepairList({ ...small, volumes: [2] })))
  assert.equal(small.bytes, 30)
  assert.equal(isEmptyRepairList(small), false)
  assert.equal(isEmptyRepairList(composeRepairList({ ...small, blobs: [] })), true)
})

const hostile: readonly (readonly [string, (list: Record<string, unknown>) => unknown])[] = [
  ['no object', () => 7],
  ['another format', (list) => ({ ...list, format: 'sallyport-archive' })],
  ['a later version', (list) => ({ ...list, version: 2 })],
  ['an unknown field', (list) => ({ ...list, run: 'rm' })],
  ['a path for a digest', (list) => ({ ...list, blobs: [{ digest: '../../etc/passwd', size: 1 }], bytes: 1 })],
  ['a path for an entry', (list) => ({ ...list, records: ['../archive.json'] })],
  ['a negative size', (list) => ({ ...list, blobs: [{ digest: digestOf('a'), size: -1 }], bytes: -1 })],
  ['a size that no number holds', (list) => ({ ...list, blobs: [{ digest: digestOf('a'), size: 1e300 }] })],
  ['a volume 0', (list) => ({ ...list, volumes: [0] })],
  ['a sum that is wrong', (list) => ({ ...list, bytes: 31 })],
  ['blobs out of order', (list) => ({ ...list, blobs: (list['blobs'] as unknown[]).toReversed() })],
  [
    'a blob twice',
    (list) => ({ ...list, bytes: 40, blobs: (list['blobs'] as unknown[]).flatMap((each) => [each, each]) }),
  ],
]

for (const [what, change] of hostile) {
  test(`${what} is refused`, () => {
    const text = JSON.stringify(change(JSON.parse(renderRepairList(small)) as Record<string, unknown>))
    assert.throws(() => parseRepairList(text, 'list'), { code: 'REPAIR_LIST_INVALID' })
  })
}

test('any text is read or refused, and nothing else happens', () => {
  const rendered = renderRepairList(small)
  const damagedText = fc
    .record({ at: fc.nat({ max: rendered.length }), text: fc.string() })
    .map(({ at, text }) => rendered.slice(0, at) + text + rendered.slice(at + 1))
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), damagedText), (text) => {
      try {
        parseRepairList(text, 'list')
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'REPAIR_LIST_INVALID')
      }
    }),
  )
})
