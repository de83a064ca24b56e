import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../oci/digest.ts'
import { formatReference } from '../oci/reference.ts'
import { parseMirrorTarget } from './destination.ts'
import type { ChosenBundle, ChosenBundles } from './select-operators.ts'
import { operatorImagesToDelete } from './select-operators-to-delete.ts'
import type { SelectedImage } from './selection.ts'

const target = parseMirrorTarget('docker://reg.lab/ocp')
const image = (name: string) => `quay.io/a/${name}@${digestOf(name)}`

function bundle(name: string, ...related: string[]): ChosenBundle {
  return {
    name,
    package: 'a',
    image: image(name),
    relatedImages: related.map((one) => ({ name: '', image: image(one) })),
  }
}

function of(catalog: string, ...bundles: ChosenBundle[]): ChosenBundles {
  return { catalog, bundles }
}

function names(images: readonly SelectedImage[]): string[] {
  return images.map(({ source }) => formatReference(source))
}

test('what a version that stays names as well is not deleted with one that goes, and it is told who needs it', () => {
  const [old, current] = [bundle('a.v1', 'proxy', 'operator-1'), bundle('a.v2', 'proxy', 'operator-2')]
  const unwanted = [of('index:v4.18', old)]
  const { images, shared } = operatorImagesToDelete({ unwanted, mirrored: [of('index:v4.18', old, current)], target })
  assert.deepEqual(names(images), [image('a.v1'), image('operator-1')])
  assert.deepEqual(names(shared.map((one) => one.image)), [image('proxy')])
  assert.match(shared[0]?.usedBy ?? '', /bundle a\.v2 of package a in index:v4\.18/)
})

test('a bundle of the same name in another catalog stays with what it needs', () => {
  const old = bundle('a.v1', 'operator-1')
  const mirrored = [of('index:v4.18', old), of('index:v4.19', old)]
  const { images, shared } = operatorImagesToDelete({ unwanted: [of('index:v4.18', old)], mirrored, target })
  assert.deepEqual(images, [])
  assert.deepEqual(names(shared.map((one) => one.image)), [image('a.v1'), image('operator-1')])
  const both = operatorImagesToDelete({ unwanted: mirrored, mirrored, target })
  assert.deepEqual(names(both.images), [image('a.v1'), image('operator-1')])
})
