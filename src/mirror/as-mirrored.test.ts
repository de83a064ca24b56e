import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../oci/digest.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { asMirrored } from './as-mirrored.ts'
import type { DoneImage } from './done.ts'
import type { ContentClass, SelectedImage } from './selection.ts'

const selected = (source: string, destination: string, of: ContentClass = 'additional'): SelectedImage => ({
  source: parseReference(source),
  destination: parseReference(destination),
  class: of,
  why: 'asked for',
})

const done = (source: string, destination: string, of: ContentClass = 'additional'): DoneImage => ({
  source,
  destination,
  digest: digestOf(source),
  class: of,
  why: 'mirrored',
  attached: [],
})

const places = (image: SelectedImage, ...recorded: DoneImage[]) =>
  asMirrored([image], recorded).map(({ destination }) => formatReference(destination))

test('an image that was mirrored under its expected name, or never, keeps it', () => {
  const image = selected('quay.io/a/b:1', 'r.lab/ocp/a/b:1')
  assert.deepEqual(places(image), ['r.lab/ocp/a/b:1'])
  const recorded = [done('quay.io/a/b:1', 'r.lab/ocp/a/b:1'), done('quay.io/a/b:1', 'r.lab/ocp/x:2')]
  assert.deepEqual(places(image, ...recorded), ['r.lab/ocp/a/b:1'])
})

test('otherwise it is found under every name that it was given', () => {
  const image = selected('quay.io/a/b:1', 'r.lab/ocp/a/b:1')
  const recorded = [done('quay.io/a/b:1', 'r.lab/ocp/a-b:1'), done('quay.io/a/b:1', 'r.lab/ocp/x:2')]
  assert.deepEqual(places(image, ...recorded, done('quay.io/a/c:1', 'r.lab/ocp/c:1')), [
    'r.lab/ocp/a-b:1',
    'r.lab/ocp/x:2',
  ])
})

test('the component of a release is never taken for that of another, though it is the same image', () => {
  const source = `quay.io/dev@${digestOf('cli')}`
  const image = selected(source, 'r.lab/ocp/openshift/release:4.18.9-cli', 'release')
  const other = done(source, 'r.lab/ocp/openshift-release:4.18.10-cli', 'release')
  assert.deepEqual(places(image, other), ['r.lab/ocp/openshift/release:4.18.9-cli'])
  const folded = done(source, 'r.lab/ocp/openshift-release:4.18.9-cli', 'release')
  assert.deepEqual(places(image, other, folded), ['r.lab/ocp/openshift-release:4.18.9-cli'])
})
