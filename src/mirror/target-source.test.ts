import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { testClient } from '../../testkit/test-client.ts'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import type { DoneImage } from './done.ts'
import { TargetPlaces, targetAsSource } from './target-source.ts'

const target = { registry: 'r.lab:8443', path: 'ocp' }

function done(source: string, destination: string): DoneImage {
  return { source, destination, digest: digestOf(source), class: 'additional', why: 'mirrored', attached: [] }
}

function placesOf(name: string, ...recorded: DoneImage[]): string[] {
  return new TargetPlaces(target, recorded).of(parseReference(name)).map(formatReference)
}

test('an image is looked for where it was mirrored to, then where mirrors put it', () => {
  const digest = digestOf('image')
  const recorded = [
    done(`quay.io/a/b:1@${digest}`, 'r.lab:8443/ocp/x:mine'),
    done('quay.io/a/b:2', 'r.lab:8443/ocp/y:2'),
  ]
  const byTag = placesOf('quay.io/a/b:1', ...recorded)
  assert.deepEqual(byTag.slice(0, 4), [
    'r.lab:8443/ocp/x:mine',
    'r.lab:8443/ocp/x:1',
    'r.lab:8443/ocp/y:1',
    'r.lab:8443/ocp/a/b:1',
  ])
  assert.ok(placesOf(`quay.io/a/b@${digest}`).includes(`r.lab:8443/ocp/openshift/release@${digest}`))
})

test('a name at the target stands for itself, also under another host name of the same registry', () => {
  assert.deepEqual(placesOf('r.lab:8443/elsewhere/x:1'), ['r.lab:8443/elsewhere/x:1'])
  assert.deepEqual(placesOf('10.0.0.5:8443/ocp/a/b:1'), ['r.lab:8443/ocp/a/b:1'])
})

test('what a source names is read from the target, and from nowhere else', async (t) => {
  const registry = await startScriptedRegistry(t)
  const here = { registry: registry.address, path: 'ocp' }
  const config = registry.addBlob('ocp/openshift/release-images', Buffer.from('{}'))
  const document = { schemaVersion: 2, mediaType: mediaTypes.ociManifest, config, layers: [] }
  const manifest = registry.addManifest('ocp/openshift/release-images', document, '4.18.9')
  const { client } = testClient(t)
  const source = targetAsSource(here, client, [done('quay.io/gone:1', `${registry.address}/ocp/gone:1`)])
  const release = parseReference('quay.io/openshift-release-dev/ocp-release:4.18.9')
  assert.equal((await source.resolve(release))?.digest, manifest.digest)
  assert.equal((await source.fetchManifest(release))?.descriptor.digest, manifest.digest)
  const chunks: Uint8Array[] = []
  for await (const chunk of source.fetchBlob(release, config)) chunks.push(chunk)
  assert.equal(Buffer.concat(chunks).toString(), '{}')
  assert.equal((await source.resolve(parseReference('quay.io/gone:1')))?.digest, digestOf('quay.io/gone:1'))
  assert.equal(await source.resolve(parseReference('quay.io/never:1')), undefined)
})
