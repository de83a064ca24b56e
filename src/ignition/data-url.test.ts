import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { dataUrlFault, decodeDataUrl, encodeDataUrl } from './data-url.ts'

test('bytes come out as they went in, in base64 and percent-encoded', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      assert.deepEqual(Buffer.from(decodeDataUrl(encodeDataUrl(bytes)).bytes), Buffer.from(bytes))
      const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
      assert.deepEqual(Buffer.from(decodeDataUrl(`data:,${percent}`).bytes), Buffer.from(bytes))
    }),
  )
})

test('the media type is what stands before the data', () => {
  const { mediaType, isBase64, bytes } = decodeDataUrl('data:text/plain;charset=utf-8;base64,aGk=')
  assert.deepEqual([mediaType, isBase64, Buffer.from(bytes).toString()], ['text/plain;charset=utf-8', true, 'hi'])
  assert.deepEqual(decodeDataUrl('data:,a%20b').mediaType, '')
  assert.equal(Buffer.from(decodeDataUrl('data:text/plain;a="x;,y",c').bytes).toString(), 'c')
})

/** As ignition-validate says them. */
const faults: Readonly<Record<string, string | undefined>> = {
  'data:,': undefined,
  'data:;base64,': undefined,
  'data:;base64,aG\nk=\n': undefined,
  'data:x-own/type,a': undefined,
  'data:;a=b,%C3%A9': undefined,
  'text:,a': 'missing data prefix',
  'data:': 'missing comma before data',
  'data:text/plain': 'incomplete media type',
  'data:text': 'missing media type slash',
  'data:foo/bar,a': 'invalid media type',
  'data:é,a': 'invalid character after data prefix',
  'data:text/é,a': 'invalid character for media subtype',
  'data:;,a': 'unterminated parameter sequence',
  'data:;a=,b': 'invalid character for parameter value',
  'data:;a="b': 'unclosed quoted string',
  'data:;a="\\q",b': 'invalid syntax',
  'data:;BASE64,aGk=': 'expected base64, got BASE64',
  'data:,a b': 'invalid data character',
  'data:,é': 'invalid data character',
  'data:,%4': 'rfc2396: unexpected end of unescape sequence',
  'data:,%4g': 'rfc2396: invalid char 0x25 in unescape sequence',
  'data:;base64,aGk%3D': 'invalid data character',
  'data:;base64,aGk': 'illegal base64 data at input byte 0',
  'data:;base64,aGkhaG': 'illegal base64 data at input byte 4',
  'data:;base64,a===': 'illegal base64 data at input byte 1',
  'data:;base64,aG=k': 'illegal base64 data at input byte 2',
  'data:;base64,aGk=aGk=': 'illegal base64 data at input byte 4',
}

test('what Ignition refuses is refused in its words, and is not decoded', () => {
  for (const [url, fault] of Object.entries(faults)) {
    assert.equal(dataUrlFault(url), fault, url)
    if (fault !== undefined)
      assert.throws(() => decodeDataUrl(url), { code: 'IGNITION_INVALID', message: `broken data URL: ${fault}` })
  }
})
