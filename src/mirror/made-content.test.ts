import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContentSource } from '../oci/content.ts'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { parseReference } from '../oci/reference.ts'
import { type MadeImage, madeRegistry, rootOf, withMadeContent } from './made-content.ts'

const bytes = Buffer.from('made here')
const blob = { mediaType: 'application/octet-stream', digest: digestOf(bytes), size: bytes.byteLength }
const manifestBytes = Buffer.from('{"schemaVersion":2}')
const descriptor = {
  mediaType: mediaTypes.ociManifest,
  digest: digestOf(manifestBytes),
  size: manifestBytes.byteLength,
}

function made(overrides: Partial<MadeImage> = {}): MadeImage {
  return {
    reference: parseReference(`${madeRegistry}/files/a:1`),
    manifests: [{ descriptor, bytes: manifestBytes }],
    blobs: new Map([
      [
        blob.digest,
        async function* ({ offset = 0 }) {
          yield bytes.subarray(offset)
        },
      ],
    ]),
    ...overrides,
  }
}

/** A source that says what it was asked for, and has every blob. */
function recordingSource() {
  const asked: string[] = []
  const source: ContentSource = {
    resolve: async ({ registry }) => void asked.push(`resolve ${registry}`),
    resolveBeside: async ({ registry }) => void asked.push(`beside ${registry}`),
    fetchManifest: async ({ registry }) => void asked.push(`manifest ${registry}`),
    referrers: async ({ registry }) => {
      asked.push(`referrers ${registry}`)
      return []
    },
    async *fetchBlob({ registry }) {
      asked.push(`blob ${registry}`)
      yield bytes
    },
  }
  return { source, asked }
}

async function text(stream: AsyncIterable<Uint8Array>): Promise<string> {
  return Buffer.concat(await Array.fromAsync(stream)).toString()
}

test('a made image is resolved, read and resumed without a word to the source below', async () => {
  const { source, asked } = recordingSource()
  const content = withMadeContent(source, [made()])
  const reference = parseReference(`${madeRegistry}/files/a:1`)
  const root = await content.resolve(reference)
  assert.deepEqual(root, descriptor)
  assert.deepEqual(await content.fetchManifest({ ...reference, digest: descriptor.digest }), rootOf(made()))
  assert.equal(await text(content.fetchBlob(reference, blob, { offset: 5 })), 'here')
  assert.deepEqual(await content.referrers(reference, descriptor.digest), [])
  assert.equal(await content.resolveBeside(reference, 'x.sig'), undefined)
  assert.deepEqual(asked, [])
})

test('everything else is asked of the source below, blobs of the base by the name of the base', async () => {
  const { source, asked } = recordingSource()
  const base = parseReference('registry.access.redhat.com/ubi9/ubi:latest')
  const built = { descriptor, bytes: Buffer.from(JSON.stringify({ layers: [{ digest: digestOf('base') }] })) }
  const content = withMadeContent(source, [made({ base, manifests: [built] })])
  await content.resolve(base)
  await content.fetchManifest(base)
  await text(content.fetchBlob(parseReference(`${madeRegistry}/files/a:1`), { ...blob, digest: digestOf('base') }))
  const host = 'registry.access.redhat.com'
  assert.deepEqual(asked, [`resolve ${host}`, `manifest ${host}`, `blob ${host}`])
})

test('a made name that nobody made is unknown, and a blob without a base a known error', async () => {
  const { source, asked } = recordingSource()
  const content = withMadeContent(source, [made()])
  assert.equal(await content.resolve(parseReference(`${madeRegistry}/files/b:1`)), undefined)
  assert.equal(await content.resolve(parseReference(`${madeRegistry}/files/a:2`)), undefined)
  const other = { ...blob, digest: digestOf('other') }
  assert.throws(() => content.fetchBlob(parseReference(`${madeRegistry}/files/a:1`), other), { code: 'BLOB_UNKNOWN' })
  assert.deepEqual(asked, [])
})

test('a blob of an image that was made anew since is not asked of its base, and the message says so', () => {
  const { source, asked } = recordingSource()
  const base = parseReference('registry.access.redhat.com/ubi9/ubi:latest')
  const content = withMadeContent(source, [made({ base })])
  const former = { ...blob, digest: digestOf('made before') }
  const read = () => content.fetchBlob(parseReference(`${madeRegistry}/files/a:1`), former)
  assert.throws(read, { code: 'BLOB_UNKNOWN', hint: /made this image anew/ })
  assert.deepEqual(asked, [])
})
