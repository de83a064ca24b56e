import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { digestOf } from './digest.ts'
import { blobsOf, childrenOf, maxManifestBytes, parseManifest } from './manifest.ts'
import { mediaTypes } from './media-type.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const config = { mediaType: mediaTypes.ociConfig, digest: digestOf('config'), size: 6 }
const layer = { mediaType: mediaTypes.ociLayerGzip, digest: digestOf('layer'), size: 5 }
const child = { mediaType: mediaTypes.ociManifest, digest: digestOf('child'), size: 7 }

function parse(document: unknown, mediaType?: string) {
  return parseManifest(
    Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)),
    mediaType,
    'quay.io/a:1',
  )
}

test('an image has its config and layers as blobs, an index has children', () => {
  const image = parse({ schemaVersion: 2, mediaType: mediaTypes.ociManifest, config, layers: [layer] })
  assert.deepEqual([blobsOf(image).map(({ digest }) => digest), childrenOf(image)], [[config.digest, layer.digest], []])
  const index = parse({ schemaVersion: 2, mediaType: mediaTypes.dockerList, manifests: [child] })
  assert.deepEqual([blobsOf(index), childrenOf(index).map(({ digest }) => digest)], [[], [child.digest]])
})

test('a document without a media type is what its transport says, else what it looks like', () => {
  assert.equal(
    parse({ config, layers: [] }, `${mediaTypes.dockerManifest}; charset=utf-8`).mediaType,
    mediaTypes.dockerManifest,
  )
  assert.equal(parse({ config, layers: [] }).mediaType, mediaTypes.ociManifest)
  assert.equal(parse({ manifests: [] }, 'application/json').mediaType, mediaTypes.ociIndex)
  assert.equal(parse({ mediaType: mediaTypes.ociIndex, manifests: [] }, mediaTypes.ociManifest).kind, 'index')
})

test('layers that stay at their URLs are no blobs to move', () => {
  const foreign = {
    ...layer,
    mediaType: 'application/vnd.docker.image.rootfs.foreign.diff.tar.gzip',
    urls: ['https://x'],
  }
  assert.deepEqual(
    blobsOf(parse({ config, layers: [foreign, layer] })).map(({ mediaType }) => mediaType),
    [config.mediaType, layer.mediaType],
  )
})

const refused: Readonly<Record<string, unknown>> = {
  'text that is no JSON': '<html>',
  'a list': [],
  null: 'null',
  'an object of no kind': {},
  'Docker schema 1': { schemaVersion: 1, fsLayers: [] },
  'an unknown media type': { mediaType: 'application/vnd.helm', config, layers: [] },
  'a layer without a size': { config, layers: [{ ...layer, size: undefined }] },
  'a negative size': { config, layers: [{ ...layer, size: -1 }] },
  'a size that is no whole number': { config, layers: [{ ...layer, size: 0.5 }] },
  'a digest with a path in it': { config, layers: [{ ...layer, digest: 'sha256:../../etc/passwd' }] },
  'an image without a config': { mediaType: mediaTypes.ociManifest, layers: [] },
  'more bytes than a registry takes': { config, layers: [], annotations: { x: 'x'.repeat(maxManifestBytes) } },
}
for (const [what, document] of Object.entries(refused)) {
  test(`${what} is refused, and the message names the image`, () => {
    assert.throws(() => parse(document), {
      code: 'MANIFEST_INVALID',
      message: /^quay\.io\/a:1: not an image manifest: /,
    })
  })
}

test('whatever JSON comes, the answer is a manifest or a known error', () => {
  const descriptor = fc.record(
    { mediaType: fc.anything(), digest: fc.anything(), size: fc.anything() },
    { requiredKeys: [] },
  )
  const document = fc.oneof(
    fc.anything(),
    fc.record(
      {
        mediaType: fc.constantFrom(...Object.values(mediaTypes)),
        config: descriptor,
        layers: fc.array(descriptor),
        manifests: fc.array(descriptor),
      },
      { requiredKeys: [] },
    ),
  )
  fc.assert(
    fc.property(document, (value) => {
      try {
        parse(JSON.stringify(value) ?? '')
      } catch (error) {
        assert.equal((error as Error & { code?: string }).code, 'MANIFEST_INVALID')
      }
    }),
  )
})

/** Real manifests: those that are none say why. */
const expectedRefusals = [
  /schema1/,
  /v2s1/,
  /by-docker/,
  /rekor-payload/,
  /-config(?:\.|-extra)/,
  /dir-img-modified-manifest-manifest/,
  /noo-bundle-image-728191/,
]

test('manifests that other projects test with are read, or refused for a reason', (t) => {
  const folder = join(data, 'oci', 'manifests')
  if (!existsSync(folder)) return t.skip('the shared data is not here')
  const read: string[] = []
  for (const name of readdirSync(folder)) {
    try {
      const manifest = parseManifest(readFileSync(join(folder, name)), undefined, name)
      assert.ok(blobsOf(manifest).length + childrenOf(manifest).length > 0 || manifest.kind === 'index', name)
      read.push(name)
    } catch (error) {
      const { code, message } = error as Error & { code?: string }
      assert.equal(code, 'MANIFEST_INVALID', `${name}: ${message}`)
      assert.ok(
        expectedRefusals.some((pattern) => pattern.test(name)),
        `${name} was refused: ${message}`,
      )
    }
  }
  assert.ok(read.length >= 25, `only ${read.length} were read`)
})

test('every manifest of the image layouts of oc-mirror is read, down to its blobs', (t) => {
  const folder = join(data, 'mirror', 'oc-mirror', 'oci')
  if (!existsSync(folder)) return t.skip('the shared data is not here')
  let manifests = 0
  for (const layout of readdirSync(folder).filter((name) => existsSync(join(folder, name, 'index.json')))) {
    const visit = (bytes: Buffer, origin: string) => {
      const manifest = parseManifest(bytes, undefined, origin)
      manifests += 1
      for (const { digest } of childrenOf(manifest)) {
        const path = join(folder, layout, 'blobs', ...digest.split(':'))
        if (existsSync(path)) visit(readFileSync(path), `${layout}@${digest}`)
      }
    }
    visit(readFileSync(join(folder, layout, 'index.json')), layout)
  }
  assert.ok(manifests > 20, `only ${manifests} were read`)
})
