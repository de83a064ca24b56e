import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../oci/digest.ts'
import { type CarriedFile, chooseFile, splitVersion } from './carried-files.ts'

function carried(name: string, tag: string, rest: Partial<CarriedFile> = {}): CarriedFile {
  return { name, tag, state: 'here', repository: `files/${name}`, place: 'archive', digest: digestOf(tag), ...rest }
}

test('a file is chosen by its name, by its repository, and by its version where there are several', () => {
  const files = [
    carried('oc', 'v1'),
    carried('oc', 'v2'),
    carried('a:b', 'v1'),
    carried('x', 'v1', { repository: 'my/x' }),
  ]
  assert.equal(chooseFile(files, 'oc:v2'), files[1])
  assert.equal(chooseFile(files, 'files/oc:v1'), files[0])
  assert.equal(chooseFile(files, 'a:b'), files[2])
  assert.equal(chooseFile(files, 'my/x'), files[3])
  assert.throws(() => chooseFile(files, 'oc'), { code: 'USAGE', message: /files\/oc:v1, files\/oc:v2$/ })
  assert.throws(() => chooseFile(files, 'oc:v3'), { code: 'FILE_ABSENT' })
  const client = [carried('openshift-client.tar.gz', 'v1')]
  assert.throws(() => chooseFile(client, 'openshift-clint.tar.gz'), {
    message: /did you mean "openshift-client.tar.gz"\?$/,
  })
})

test('one file under several tags is one file, and one whose bytes are not here says why', () => {
  const digest = digestOf('same')
  const files = [carried('boot', '4.18.1', { digest }), carried('boot', '4.18.9', { digest })]
  assert.equal(chooseFile(files, 'boot'), files[0])
  const away = [carried('boot', '4.18.1', { state: 'held' })]
  assert.throws(() => chooseFile(away, 'boot'), { code: 'FILE_ABSENT', message: /because the target had it already/ })
  assert.equal(chooseFile([...away, ...files], 'boot'), files[0])
})

test('a version stands behind the last colon, where it can be a tag', () => {
  assert.deepEqual(splitVersion('a:b:v1'), { name: 'a:b', tag: 'v1' })
  assert.deepEqual(splitVersion('a'), { name: 'a' })
  assert.deepEqual(splitVersion(':v1'), { name: ':v1' })
  assert.deepEqual(splitVersion('a: b'), { name: 'a: b' })
})
