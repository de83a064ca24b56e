import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf, hexOf } from '../oci/digest.ts'
import { parseReference } from '../oci/reference.ts'
import { formatMirrorTarget, parseMirrorTarget, tagFor, targetRepository } from './destination.ts'

const digest = digestOf('x')

test('a destination is a registry, and a path within it where one is named', () => {
  const readings = {
    'docker://lab.example': ['lab.example', ''],
    'docker://lab:8443/': ['lab:8443', ''],
    'docker://lab:8443/ocp/mirror': ['lab:8443', 'ocp/mirror'],
    'docker://lab.example/ocp/': ['lab.example', 'ocp'],
    'docker://[fd00::1]:5000/ocp': ['[fd00::1]:5000', 'ocp'],
  }
  for (const [text, [registry, path]] of Object.entries(readings)) {
    const target = parseMirrorTarget(text)
    assert.deepEqual([target.registry, target.path], [registry, path], text)
    assert.deepEqual(parseMirrorTarget(`docker://${formatMirrorTarget(target)}`), target)
  }
  assert.equal(targetRepository(parseMirrorTarget('docker://lab:5000'), 'a/b').repository, 'a/b')
  assert.equal(targetRepository(parseMirrorTarget('docker://lab:5000/ocp'), 'a/b').repository, 'ocp/a/b')
})

test('what is no destination is refused, with an example of one', () => {
  for (const text of [
    '',
    'lab/ocp',
    'https://lab',
    'docker://',
    'docker:///ocp',
    'docker://lab:5000/OCP',
    'docker://lab:5000/ocp:tag',
    `docker://lab:5000/ocp@${digest}`,
    'docker://lab:5000//ocp',
    'docker://la b',
    'docker://user:secret@lab/ocp',
    'docker://lab:5000/../ocp',
  ])
    assert.throws(() => parseMirrorTarget(text), { code: 'USAGE', hint: /docker:\/\/registry\.lab:8443\/ocp/ }, text)
})

test('a bare name is refused, since every client would read it as a path on Docker Hub', () => {
  for (const text of ['docker://lab', 'docker://lab/ocp', 'docker://index.docker.io/me'])
    assert.throws(() => parseMirrorTarget(text), { code: 'USAGE', message: /is a name on docker\.io/ }, text)
  assert.equal(parseMirrorTarget('docker://localhost/ocp').registry, 'localhost')
})

test('tags are those of oc-mirror', () => {
  assert.equal(tagFor(parseReference('quay.io/a:4.18.9-x86_64'), 'release'), '4.18.9-x86_64')
  assert.equal(tagFor(parseReference(`quay.io/a@${digest}`), 'release'), hexOf(digest))
  assert.equal(tagFor(parseReference('quay.io/a:1'), 'other'), '1')
  assert.equal(tagFor(parseReference(`quay.io/a:1@${digest}`), 'other'), '1')
  assert.equal(tagFor(parseReference(`quay.io/a@${digest}`), 'other'), `sha256-${hexOf(digest)}`)
  const long = digestOf('x', 'sha512')
  const tag = tagFor(parseReference(`quay.io/a@${long}`), 'other')
  assert.equal(tag, `sha512-${hexOf(long).slice(0, 64)}`, 'a sha512 in full is longer than a tag may be')
})
