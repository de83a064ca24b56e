import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeImage, makeMultiArch, makeReferrer, makeSignature } from '../../testkit/image.ts'
import { writeOcMirrorArchive } from '../../testkit/oc-mirror-archive.ts'
import { parseReference } from '../oci/reference.ts'
import { openOcMirrorArchive } from './oc-mirror-archive.ts'

function content() {
  const image = makeImage({ seed: 'one', tag: '1' })
  const list = makeMultiArch({ seed: 'list', architectures: ['amd64', 'arm64'], mediaTypes: 'docker', tag: '2' })
  const sbom = makeReferrer({ subject: image, artifactType: 'application/spdx+json', content: '{}' })
  return {
    image,
    list,
    sbom,
    signature: makeSignature(image),
    repositories: [
      { repository: 'team/app', images: [image, makeSignature(image), sbom] },
      { repository: 'team/list', images: [list] },
    ],
  }
}

async function read(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks))
}

for (const archiveBytes of [undefined, 3000, 500]) {
  test(`every image in tars of ${archiveBytes ?? 'any'} bytes is found by tag and by digest, with the bytes that it has`, async (t) => {
    const { repositories } = content()
    const { directory, tars } = await writeOcMirrorArchive(t, {
      content: repositories,
      ...(archiveBytes !== undefined && { archiveBytes }),
    })
    assert.equal(tars.length > 1, archiveBytes !== undefined)
    const archive = await openOcMirrorArchive(directory)
    assert.ok(archive)
    assert.deepEqual(archive.flaws, [])
    for (const { repository, images } of repositories) {
      const name = parseReference(`quay.io/${repository}`)
      for (const { manifests, blobs } of images) {
        for (const { descriptor, bytes, tag } of manifests) {
          const expected = { mediaType: descriptor.mediaType, digest: descriptor.digest, size: bytes.byteLength }
          assert.deepEqual(await archive.resolve({ ...name, digest: descriptor.digest }), expected)
          if (tag !== undefined) assert.deepEqual(await archive.resolve({ ...name, tag }), expected)
          const manifest = await archive.fetchManifest({ ...name, digest: descriptor.digest })
          assert.deepEqual(manifest?.bytes, Buffer.from(bytes))
        }
        for (const { descriptor, open } of blobs) {
          const bytes = await read(open() as AsyncIterable<Uint8Array>)
          assert.deepEqual(await read(archive.fetchBlob(name, descriptor)), bytes)
          assert.deepEqual(await read(archive.fetchBlob(name, descriptor, { offset: 7 })), bytes.subarray(7))
        }
      }
    }
  })
}
