import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { digestOf } from './digest.ts'
import { fileManifest, fileOf, isFileName, repositoryComponent } from './file-artifact.ts'
import { parseManifest } from './manifest.ts'
import { isRepositoryPath } from './reference.ts'

const file = { name: 'Boot image.ova', digest: digestOf('x'), size: 1 }

test('what is written of a file is read again, whatever its name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }).filter(isFileName), fc.nat(), (name, size) => {
      const { bytes, descriptor } = fileManifest({ ...file, name, size })
      const read = fileOf(parseManifest(bytes, descriptor.mediaType, 'test'))
      assert.equal(read?.name, name)
      assert.deepEqual([read?.digest, read?.size], [file.digest, size])
    }),
    { numRuns: 50 },
  )
})

test('every name gives a repository that registries take', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => isRepositoryPath(`files/${repositoryComponent(name)}`)),
  )
  for (const [name, expected] of [
    ['openshift-client-linux-4.18.9.tar.gz', 'openshift-client-linux-4.18.9.tar.gz'],
    ['RHCOS (x86_64).OVA', 'rhcos-x86_64-ova'],
    ['a__b--c..d', 'a__b--c-d'],
    ['.hidden.', 'hidden'],
    ['日本', 'file'],
  ])
    assert.equal(repositoryComponent(name ?? ''), expected)
})

test('a title that leads out of a directory makes an artifact no file', () => {
  for (const name of ['', '.', '..', '../etc/passwd', '/etc/passwd', 'a\\b', 'a\nb', 'x'.repeat(256)]) {
    assert.equal(isFileName(name), false, name)
    const { bytes, descriptor } = fileManifest({ ...file, name })
    assert.equal(fileOf(parseManifest(bytes, descriptor.mediaType, 'test')), undefined)
  }
})
