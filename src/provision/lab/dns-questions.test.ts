import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nameOf, questionRules, questionSets } from './dns-questions.ts'

/** What nft would print of a question: name, type and class, cut up as the set says, small parts as numbers. */
function printed(name: string): { readonly set: string; readonly element: readonly (string | number)[] } {
  const labels = name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)])
  const bytes = Buffer.concat([...labels, Buffer.from([0, 0, 1, 0, 1])])
  const size = Math.min(16, Math.floor(bytes.length / 4))
  const declared = questionSets().find((line) => line.startsWith(`set asked${size} `)) ?? ''
  const parts = [...declared.matchAll(/@th,(\d+),(\d+)/g)].map(([, offset, length]) => {
    const at = Number(offset) / 8 - 20
    const hex = bytes.subarray(at, at + Number(length) / 8).toString('hex')
    return length === '32' ? Number.parseInt(hex, 16) : `0x${BigInt(`0x${hex}`).toString(16)}`
  })
  return { set: `asked${size}`, element: parts }
}

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/)
const name = fc
  .array(label, { minLength: 1, maxLength: 6 })
  .map((labels) => labels.join('.'))
  .filter((text) => text.length > 1)

test('a name is read back from what is kept of its question, or its beginning where it is too long', () => {
  fc.assert(
    fc.property(name, (asked) => {
      const { set, element } = printed(asked)
      const read = nameOf(set, element)
      if (asked.length <= 58) assert.equal(read, asked)
      else assert.ok(read.endsWith('…') ? asked.startsWith(read.slice(0, -1)) : read === asked)
    }),
  )
})

test('whatever was sent, what is read of it is safe to print', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { minLength: 4, maxLength: 4 }), (words) => {
      assert.match(nameOf('asked4', words), /^[\w.?-]*…?$/)
    }),
  )
})

test('every length of a question has one set, and no gap is between them', () => {
  const ranges = questionRules().map((rule) => /udp length (\d+)-(\d+)/.exec(rule)?.slice(1).map(Number) ?? [])
  assert.equal(questionSets().length, ranges.length)
  ranges.forEach(([least = 0], index) => {
    if (index > 0) assert.equal(least, (ranges[index - 1]?.[1] ?? 0) + 1)
  })
  assert.equal(ranges.at(-1)?.[1], 65535)
})
