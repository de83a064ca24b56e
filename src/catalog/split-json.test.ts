import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DocumentFault } from './split-document.ts'
import { splitDocuments } from './split-documents.ts'

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

function split(text: string, chunkBytes = 7) {
  const bytes = Buffer.from(text)
  return Array.fromAsync(splitDocuments(inChunks(bytes, chunkBytes), bytes.length))
}

const printed = (value: unknown) => JSON.stringify(value, null, 4)
const tricky = {
  schema: 'a',
  text: '}\n{"\\ \u00e9 \u{1F600} \u2028',
  list: [1, -2.5e3, true, null, { '': [] }],
  o: {},
}

test('objects in any layout are found, each at its place', async () => {
  const texts = [printed(tricky), JSON.stringify(tricky), printed(tricky).replaceAll(/^ +/gm, ''), '{}', '{ \n}']
  const layouts = ['', '\n', '\r\n\r\n', ' \t', '\n---\n'].flatMap((between) => [
    texts.join(between),
    `\uFEFF \n${texts.join(between)}\n\n`,
    [...texts.toReversed(), ...texts].join(between).replaceAll('\n', '\r\n'),
  ])
  for (const text of layouts) {
    const bytes = Buffer.from(text)
    for (const size of [1, 5, 64, bytes.length]) {
      const documents = await split(text, size)
      const alone = documents.map(({ offset, length }) => bytes.toString('utf8', offset, offset + length))
      assert.deepEqual(
        documents.map(({ value }) => value),
        alone.map((one) => JSON.parse(one)),
      )
      assert.equal(
        alone.every((one) => one.startsWith('{') && one.endsWith('}')),
        true,
      )
      assert.equal(documents.length % texts.length, 0)
    }
  }
})

test('whatever objects there are, however they are written and cut: the same objects come out', async () => {
  const layouts = fc.constantFrom<(value: unknown) => string>(
    printed,
    JSON.stringify,
    (value) => printed(value).replaceAll(/^ +/gm, ''),
    (value) => `{ ${JSON.stringify(value).slice(1)}`,
  )
  const document = fc.tuple(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), layouts)
  const between = fc.constantFrom('', ' ', '\n', '\r\n', '\n\n')
  const property = fc.asyncProperty(
    fc.array(document),
    between,
    fc.integer({ min: 1, max: 300 }),
    async (all, gap, size) => {
      const found = await split(all.map(([value, print]) => print(value)).join(gap), size)
      assert.deepEqual(
        found.map(({ value }) => value),
        all.map(([value]) => JSON.parse(JSON.stringify(value))),
      )
    },
  )
  await fc.assert(property, { numRuns: 200 })
})

const whole = `${printed({ schema: 'olm.package', name: 'first' })}\n`
/** What stands where `@` is, is told. */
const broken: Readonly<Record<string, string>> = {
  'a comma is missing': '{\n  "schema": "x"\n  @"name": "y"\n}',
  'a brace is missing': '{\n  "schema": "x"\n@{\n  "schema": "y"\n}',
  'a brace too many': '{\n  "schema": "x"\n}\n@}',
  'a bracket closes a brace': '{ "a": [1, 2@}',
  'a comma at the end': '{ "a": [1, 2, @] }',
  'no colon': '{ "a" @1 }',
  'a key that is none': '{ @a: 1 }',
  'a word that is none': '{ "a": nul@ }',
  'a number that is none': '{ "a": 01@ }',
  'a line end in a string': '{ "a": "b@\n" }',
  'an escape that is none': '{ "a": "\\@x" }',
  'hex digits that are none': '{ "a": "\\u12@xy" }',
  'a list instead of an object': '@[{}]',
  'the file is cut in a string': '{ "a": "b@',
  'the file is cut between two fields': '{ "a": 1,@',
  'the file is cut behind a brace': '{@',
}
for (const [what, text] of Object.entries(broken)) {
  test(`${what}: the byte is told, and what stands before is read`, async () => {
    const bytes = Buffer.from(whole + text.replace('@', ''))
    for (const size of [1, 10, 1000]) {
      const found: unknown[] = []
      const reading = async () => {
        for await (const { value } of splitDocuments(inChunks(bytes, size), bytes.length)) found.push(value)
      }
      await assert.rejects(reading, (error) => {
        assert.ok(error instanceof DocumentFault)
        assert.equal(error.offset, whole.length + text.indexOf('@'), `in pieces of ${size}: ${error.message}`)
        return true
      })
      assert.deepEqual(found[0], { schema: 'olm.package', name: 'first' })
    }
  })
}

test('a document of many megabytes loses its long texts and nothing else, whatever they hold', async () => {
  const long = '\\"}{\\\\\\n\\u00e9'.repeat(20_000)
  const text = `{ "schema": "x", "a": "${long}", "b": ["${'-'.repeat(64 * 1024)}", {"c": "${long}"}] }`
  const filler = `{ "schema": "giant", "list": [${Array.from({ length: 60 }, () => `"${long}"`).join(', ')}, "kept"], "end": 1 }`
  for (const size of [4096, 100_001, 40_000_000]) {
    const [small, giant, last, ...others] = await split(`${text}\n${filler}${text}`, size)
    assert.deepEqual([small?.value, small?.length], [JSON.parse(text), text.length])
    assert.deepEqual(giant?.value, { schema: 'giant', list: [...Array.from({ length: 60 }, () => ''), 'kept'], end: 1 })
    assert.deepEqual([giant?.offset, giant?.length], [text.length + 1, filler.length])
    assert.deepEqual(
      [last?.offset, last?.length, last?.value],
      [text.length + 1 + filler.length, text.length, small?.value],
    )
    assert.deepEqual(others, [])
  }
})

test('a document that is huge without its long texts is refused by name', async () => {
  async function* endless() {
    yield Buffer.from('{ "schema": "olm.bundle", "package": "p", "properties": [')
    const part = Buffer.from('{"type":"x","value":"some text"},'.repeat(10_000))
    for (;;) yield part
  }
  const reading = Array.fromAsync(splitDocuments(endless(), 1024))
  await assert.rejects(reading, (error) => {
    assert.ok(error instanceof DocumentFault)
    assert.match(error.message, /more than 33554432 bytes/)
    assert.match(error.head, /"package": "p"/)
    return true
  })
})
