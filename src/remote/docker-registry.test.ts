/** The client against CNCF distribution 2.8, with the quirks that it has (see each test). */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import bcrypt from 'bcryptjs'
import { testCertificate } from '../../testkit/certificates.ts'
import { startDockerRegistry } from '../../testkit/docker-registry.ts'
import { describeBytes } from '../../testkit/scripted-registry.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import type { OpenBlob, UploadSession } from '../oci/content.ts'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'

const limits = { monolithicBytes: 100_000, chunkBytes: 1_000_000 }

const open = (bytes: Uint8Array): OpenBlob =>
  async function* (offset) {
    for (let position = offset; position < bytes.byteLength; position += 65_536) {
      yield bytes.subarray(position, position + 65_536)
    }
  }

test('blobs of every size go in, come out, and are mounted', async (t) => {
  const registry = await startDockerRegistry(t)
  if (registry === undefined) return
  const { client } = testClient(t, { limits })
  const at = { registry: registry.address, repository: 'a/b' }
  const other = { ...at, repository: 'c/d' }
  for (const size of [0, 1, 50_000, 1_000_000, 3_500_001]) {
    const bytes = randomBytes(size)
    const blob = describeBytes(bytes)
    assert.equal(await client.hasBlob(at, blob), false)
    await client.pushBlob(at, blob, open(bytes))
    assert.equal(await client.blobSize(at, blob.digest), size)
    assert.equal(await client.mountBlob(other, blob, at), true)
    assert.equal(await client.mountBlob({ ...at, repository: 'e' }, blob, { ...at, repository: 'none' }), false)
    const chunks: Uint8Array[] = []
    await client.fetchBlob(other, blob, { offset: Math.floor(size / 2) }).forEachChunk((chunk) => {
      chunks.push(chunk)
      return undefined
    })
    assert.deepEqual(Buffer.concat(chunks), bytes.subarray(Math.floor(size / 2)))
  }
})

test('an upload that another process left in the middle is gone on with', async (t) => {
  const registry = await startDockerRegistry(t)
  if (registry === undefined) return
  const bytes = randomBytes(4_500_000)
  const blob = describeBytes(bytes)
  const at = { registry: registry.address, repository: 'a/b' }
  const sessions: UploadSession[] = []
  const stop = new AbortController()
  const { client: first } = testClient(t, { limits })
  const interrupted = first.pushBlob(at, blob, open(bytes), {
    signal: stop.signal,
    onSession: (session) => {
      if (sessions.push(session) === 4) stop.abort(new Error('killed'))
    },
  })
  await assert.rejects(interrupted, /killed/)
  const session = sessions.at(-1)
  assert.ok(session !== undefined)
  const offsets: number[] = []
  const counted: OpenBlob = (offset, signal) => {
    offsets.push(offset)
    return open(bytes)(offset, signal)
  }
  const { client: second } = testClient(t, { limits })
  await second.pushBlob(at, blob, counted, { session })
  assert.ok((offsets[0] ?? 0) >= 3_000_000, String(offsets))
  assert.equal(await second.blobSize(at, blob.digest), bytes.byteLength)
})

test('manifests, tags and referrers, which it keeps by tag because it has no referrers API', async (t) => {
  const registry = await startDockerRegistry(t)
  if (registry === undefined) return
  const { client } = testClient(t, { limits })
  const at = { registry: registry.address, repository: 'a/b' }
  const config = Buffer.from('{}')
  const configBlob = describeBytes(config, mediaTypes.ociConfig)
  await client.pushBlob(at, configBlob, open(config))
  const pack = (document: object) => {
    const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: mediaTypes.ociManifest, ...document }))
    return { bytes, descriptor: describeBytes(bytes, mediaTypes.ociManifest) }
  }
  const image = pack({ config: configBlob, layers: [] })
  const signature = pack({ config: configBlob, layers: [], subject: image.descriptor })
  assert.equal(await client.tags(at), undefined)
  await client.pushManifest({ ...at, tag: 'v1' }, image)
  await client.pushManifest(at, signature)
  assert.deepEqual(await client.resolve({ ...at, tag: 'v1' }), image.descriptor)
  assert.deepEqual((await client.fetchManifest({ ...at, digest: image.descriptor.digest }))?.bytes, image.bytes)
  const referrers = await client.referrers(at, image.descriptor.digest)
  assert.deepEqual(
    referrers.map(({ digest }) => digest),
    [signature.descriptor.digest],
  )
  assert.ok((await client.tags(at))?.includes('v1'))
  const orphan = pack({ config: describeBytes(randomBytes(3)), layers: [] })
  await assert.rejects(client.pushManifest(at, orphan), /answered 400: MANIFEST_BLOB_UNKNOWN/)
  await assert.rejects(
    client.fetchBlob(at, { ...configBlob, digest: digestOf('x') }).forEachChunk(() => undefined),
    { code: 'BLOB_UNKNOWN' },
  )
})

test('TLS from a private authority, and a password', async (t) => {
  const { tls, ca } = await testCertificate(t)
  const directory = await tempDir(t)
  const [certificate, key, caFile] = ['server.crt', 'server.key', 'ca.crt'].map((name) => join(directory, name))
  if (certificate === undefined || key === undefined || caFile === undefined)
    throw new Error('three names, three paths')
  await writeFile(certificate, tls.cert)
  await writeFile(key, tls.key)
  await writeFile(caFile, ca)
  const htpasswd = `admin:${await bcrypt.hash('open-sesame', 4)}\n`
  const registry = await startDockerRegistry(t, { htpasswd, tls: { certificate, key } })
  if (registry === undefined) return
  const options = { limits, tls: { certsDirs: [], caFile }, isInsecure: () => false }
  const find = (password: string) => async () =>
    ({ kind: 'password', username: 'admin', password, key: registry.address }) as const
  const { client } = testClient(t, { ...options, credentials: { find: find('open-sesame') } })
  const bytes = randomBytes(2_500_000)
  const at = { registry: registry.address, repository: 'a/b' }
  await client.pushBlob(at, describeBytes(bytes), open(bytes))
  assert.equal(await client.hasBlob(at, describeBytes(bytes)), true)
  const { client: stranger } = testClient(t, { ...options, credentials: { find: find('wrong') } })
  await assert.rejects(stranger.ping(registry.address), { code: 'REGISTRY_UNAUTHORIZED' })
})
