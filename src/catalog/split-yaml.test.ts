import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { DocumentFault } from './split-document.ts'
import { splitDocuments } from './split-documents.ts'

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** The values, after a check that each lies where it is said to. */
async function split(text: string, chunkBytes: number): Promise<unknown[]> {
  const bytes = Buffer.from(text)
  const documents = await Array.fromAsync(splitDocuments(inChunks(bytes, chunkBytes), bytes.length))
  for (const { offset, length, value } of documents) {
    const alone = await Array.fromAsync(splitDocuments(inChunks(bytes.subarray(offset, offset + length), 1000), length))
    assert.deepEqual(alone, [{ offset: 0, length, value }])
  }
  return documents.map(({ value }) => value)
}

const both = [
  { schema: 'a', text: 'b' },
  { schema: 'c', list: [1] },
]
const layouts: Readonly<Record<string, readonly [text: string, values: readonly unknown[]]>> = {
  'marks between': ['schema: a\ntext: b\n---\nschema: c\nlist: [1]\n', both],
  'marks before each': ['---\nschema: a\ntext: b\n---\nschema: c\nlist: [1]\n', both],
  'marks at both ends': ['---\nschema: a\ntext: b\n---\nschema: c\nlist: [1]\n---\n', both],
  'no line end at the end': ['---\nschema: a\ntext: b\n---\nschema: c\nlist: [1]', both],
  'lines that end as on Windows': ['---\r\nschema: a\r\ntext: b\r\n---\r\nschema: c\r\nlist: [1]\r\n', both],
  'a byte order mark': ['\uFEFFschema: a\ntext: b\n---\nschema: c\nlist: [1]\n', both],
  'a byte order mark before a mark': ['\uFEFF---\nschema: a\ntext: b\n---\nschema: c\nlist: [1]\n', both],
  'marks with comments and directives': [
    '# here\n%YAML 1.2\n--- # one\n# two\n\nschema: a\ntext: b\n...\n# three\n--- \t\nschema: c\nlist: [1]\n',
    both,
  ],
  'JSON between marks': ['---\n{"schema":"a","text":"b"}\n---\n{"schema":"c",\n"list":[1]}\n', both],
  'the first in JSON, behind a comment': ['# x\n{"schema": "a", "text": "b"}\n---\nschema: c\nlist: [1]\n', both],
  'a mark inside a text': ['a: |\n  x\n  ---\n  y\nb: >\n ---\n', [{ a: 'x\n---\ny\n', b: '---\n' }]],
  'something like a mark': ['----: 1\n---a: 2\n"---": 3\n', [{ '----': 1, '---a': 2, '---': 3 }]],
  nothing: ['', []],
  'white space': ['\n \n\r\n', []],
  'comments and marks': ['# a\n---\n---\n# b\n...\n', []],
  'a key twice': ['a: 1\na: 2\n', [{ a: 2 }]],
  'an anchor and a merge': ['a: &x {b: 1}\nc: {<<: *x, d: 2}\n', [{ a: { b: 1 }, c: { b: 1, d: 2 } }]],
}
for (const [what, [text, values]] of Object.entries(layouts)) {
  test(`YAML is cut into its documents: ${what}`, async () => {
    for (const size of [1, 2, 3, 10, 1000]) assert.deepEqual(await split(text, size), values, `in pieces of ${size}`)
  })
}

test('whatever documents there are, in whatever pieces they come: the same documents come out', async () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('---\nx', 'x\n---\n', '...\n', '{', '- a', '#\n---'))
  const document = fc.dictionary(fc.string({ minLength: 1 }), fc.oneof(text, fc.array(text)), { minKeys: 1 })
  const property = fc.asyncProperty(fc.array(document), fc.integer({ min: 1, max: 100 }), async (all, size) => {
    assert.deepEqual(
      await split(all.map((each) => `---\n${stringify(each)}`).join(''), size),
      all.map((each) => ({ ...each })),
    )
  })
  await fc.assert(property, { numRuns: 100 })
})

/** What stands where `@` is, is told. */
const broken: Readonly<Record<string, string>> = {
  'a tab instead of spaces': 'a:\n@\tb: 1\n',
  'a quotation mark that is missing': 'a: "b\n@',
  'an alias without an anchor': '@a: *b\n',
}
for (const [what, text] of Object.entries(broken)) {
  test(`${what}: the byte is told, in bytes`, async () => {
    const before = 'text: "\u00e9\u{1F600}"\n---\n'
    const bytes = Buffer.from(before + text.replace('@', ''))
    for (const size of [1, 1000]) {
      await assert.rejects(Array.fromAsync(splitDocuments(inChunks(bytes, size), bytes.length)), (error) => {
        assert.ok(error instanceof DocumentFault)
        assert.equal(error.offset, Buffer.byteLength(before) + text.indexOf('@'), error.message)
        return true
      })
    }
  })
}

test('aliases that multiply, and a document too large for its tree, are refused', async () => {
  const levels = Array.from({ length: 12 }, (_, level) => `a${level}: &a${level} [${`*a${level - 1},`.repeat(10)}]`)
  const bomb = Buffer.from(['a: &a0 [x]', ...levels.slice(1)].join('\n'))
  await assert.rejects(Array.fromAsync(splitDocuments(inChunks(bomb, 100), bomb.length)), DocumentFault)
  async function* endless() {
    for (;;) yield Buffer.from('a: b\n'.repeat(100_000))
  }
  await assert.rejects(Array.fromAsync(splitDocuments(endless(), 1024)), /more than 16777216 bytes of YAML/)
})
