import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../oci/digest.ts'
import { parseRoute } from './route.ts'

const digest = digestOf('')
const id = '00000000-0000-4000-8000-000000000000'

test('a name may contain the words of the protocol', () => {
  const name = 'blobs/uploads/manifests/tags'
  assert.deepEqual(parseRoute('GET', `/v2/${name}/tags/list`), { kind: 'tags', name })
  assert.deepEqual(parseRoute('GET', `/v2/${name}/blobs/${digest}`), { kind: 'blob', name, digest })
  assert.deepEqual(parseRoute('POST', `/v2/${name}/blobs/uploads/`), { kind: 'uploads', name })
  assert.deepEqual(parseRoute('PUT', `/v2/${name}/blobs/uploads/${id}`), { kind: 'upload', name, id })
  assert.deepEqual(parseRoute('GET', `/v2/${name}/manifests/list`), { kind: 'manifest', name, target: { tag: 'list' } })
  assert.deepEqual(parseRoute('GET', `/v2/${name}/referrers/${digest}`), { kind: 'referrers', name, digest })
})

test('no path leads out of the store', () => {
  const paths = ['../x', 'a/../../b', 'A', '_x', 'a//b', '%2e%2e/%2e%2e', 'a/./b', 'a%00b', '.hidden', 'a/_tags']
  for (const path of paths)
    assert.throws(() => parseRoute('GET', `/v2/${path}/tags/list`), { code: 'NAME_INVALID' }, path)
  for (const target of [`sha256:${'0'.repeat(63)}`, 'md5:00', 'sha256:..', `sha256:${'G'.repeat(64)}`])
    assert.throws(() => parseRoute('GET', `/v2/a/blobs/${target}`), { code: 'DIGEST_INVALID' }, target)
  assert.throws(() => parseRoute('GET', '/v2/a/blobs/uploads/..'), { code: 'BLOB_UPLOAD_UNKNOWN' })
  for (const path of ['/', '/v1/', '/v2/a', '/v2/a/b/c', '/v3/a/tags/list'])
    assert.equal(parseRoute('GET', path), undefined)
})

test('what can be no tag is not there for a reader, and wrong for a writer', () => {
  assert.throws(() => parseRoute('GET', '/v2/a/manifests/.x'), { code: 'MANIFEST_UNKNOWN' })
  assert.throws(() => parseRoute('PUT', '/v2/a/manifests/.x'), { code: 'MANIFEST_INVALID' })
})
