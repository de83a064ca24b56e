import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { bootstrapImages } from './bootstrap-images.ts'

const matrix = fileURLToPath(new URL('../../../shared/data/installer/bootstrap-matrix.json', import.meta.url))

test('each version needs what its bootkube and its helpers ask the release image for', (t) => {
  if (!existsSync(matrix)) return t.skip('the shared data is not here')
  const { versions } = JSON.parse(readFileSync(matrix, 'utf8')) as {
    versions: readonly { version: string; images: readonly string[] }[]
  }
  assert.ok(versions.length >= 15)
  for (const { version, images } of versions) {
    const expected = images.map((name) => name.replace(' (OKD)', '')).sort()
    const { names, knownFor } = bootstrapImages(`${version.slice(1)}.0`)
    assert.deepEqual(names, expected, version)
    assert.equal(knownFor, version.slice(1))
  }
})

test('a version that is not known needs what the nearest one does, and says which that is', () => {
  assert.deepEqual(bootstrapImages('4.30.1'), bootstrapImages('4.22.0'))
  assert.deepEqual(bootstrapImages('5.0.0-ec.1'), bootstrapImages('4.22.0'))
  assert.equal(bootstrapImages('4.6.4').knownFor, '4.8')
})

test('platforms with virtual addresses of their own run four more images', () => {
  const without = new Set(bootstrapImages('4.18.9', { platform: 'aws' }).names)
  const more = bootstrapImages('4.18.9', { platform: 'vsphere' }).names.filter((name) => !without.has(name))
  assert.deepEqual(more, ['baremetal-runtimecfg', 'coredns', 'haproxy-router', 'keepalived-ipfailover'])
})
