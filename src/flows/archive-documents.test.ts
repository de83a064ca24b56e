import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { packDocuments, unpackDocuments } from './archive-documents.ts'

test('whatever is packed is unpacked as it was, in whatever order it was given', () => {
  const documents = fc.array(fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.uint8Array()), { maxLength: 8 })
  fc.assert(
    fc.property(documents, (entries) => {
      const given = new Map(entries)
      const packed = packDocuments(given)
      assert.deepEqual(packDocuments(new Map([...given].reverse())), packed)
      const back = unpackDocuments(packed, 'a')
      assert.deepEqual(
        new Map([...back].map(([name, bytes]) => [name, Buffer.from(bytes).toString('hex')])).size,
        given.size,
      )
      for (const [name, bytes] of given) assert.deepEqual(Buffer.from(back.get(name) ?? 'none'), Buffer.from(bytes))
    }),
  )
})

test('an archive without documents says nothing of them', () => {
  assert.deepEqual(packDocuments(new Map()), {})
  assert.equal(unpackDocuments({}, 'a').size, 0)
})

test('a document that is no gzip, or unpacks to too much, is refused by name', () => {
  const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024)).toString('base64')
  for (const content of [bomb, Buffer.from('plain').toString('base64')]) {
    assert.throws(() => unpackDocuments({ documents: [{ name: 'graph/x', content }] }, 'sallyport-v1-000001'), {
      code: 'ARCHIVE_INVALID',
      message: 'sallyport-v1-000001: the document graph/x cannot be unpacked',
    })
  }
})
