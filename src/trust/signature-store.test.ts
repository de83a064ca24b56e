import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { startSignatureServer } from '../../testkit/signature-server.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'
import type { Digest } from '../oci/digest.ts'
import { SignatureStore, signatureStores } from './signature-store.ts'

const digest: Digest = `sha256:${'ab'.repeat(32)}`
const { signal } = new AbortController()
const [one, two] = [Buffer.from([0x90, 1]), Buffer.from([0x90, 2])]

function storeOf(t: TestContext, ...urls: readonly string[]) {
  const { client } = testWebClient(t, { limits: { retries: { attempts: 3, connectAttempts: 1 } } })
  return new SignatureStore({ client, stores: urls.flatMap((url) => signatureStores(url)) })
}

test('every signature of a release is read, up to the first that is not there', async (t) => {
  const server = await startSignatureServer(t)
  server.publish(digest, one, two)
  const signatures = await storeOf(t, server.url).readSignatures(digest, signal)
  assert.deepEqual(signatures, [
    { number: 1, bytes: one },
    { number: 2, bytes: two },
  ])
  const base = `/pub/signatures/openshift/release/sha256=${'ab'.repeat(32)}`
  assert.deepEqual(
    server.requests.map(({ method, path }) => `${method} ${path}`),
    [1, 2, 3].map((number) => `GET ${base}/signature-${number}`),
  )
})

test('a release without a signature has none, and a store that gives no answer is another thing', async (t) => {
  const server = await startSignatureServer(t)
  const store = storeOf(t, server.url)
  assert.deepEqual(await store.readSignatures(digest, signal), [])
  server.fault({ status: 503 })
  await assert.rejects(store.readSignatures(digest, signal), {
    code: 'SIGNATURE_UNAVAILABLE',
    message: /^Whether sha256:abab.* is signed cannot be found out: .*503/,
  })
})

test('a 503 that passes and an answer that is cut are asked for again', async (t) => {
  const server = await startSignatureServer(t)
  server.publish(digest, one, two)
  server.fault({ path: /signature-1$/, times: 2, status: 503 })
  server.fault({ path: /signature-2$/, times: 1, cutAfter: 1 })
  const signatures = await storeOf(t, server.url).readSignatures(digest, signal)
  assert.deepEqual(
    signatures.map(({ bytes }) => bytes),
    [one, two],
  )
})

test('a second store is asked where the first gives no answer, or has none; later the first one last', async (t) => {
  const [first, second] = [await startSignatureServer(t), await startSignatureServer(t)]
  second.publish(digest, one)
  const store = storeOf(t, first.url, second.url)
  assert.equal((await store.readSignatures(digest, signal)).length, 1)
  first.fault({ hangUp: true })
  assert.equal((await store.readSignatures(digest, signal)).length, 1)
  const asked = first.requests.length
  assert.equal((await store.readSignatures(digest, signal)).length, 1)
  assert.equal(first.requests.length, asked)
})

test('where one store says none and the other nothing, nothing is known', async (t) => {
  const [first, second] = [await startSignatureServer(t), await startSignatureServer(t)]
  await first.close()
  await assert.rejects(storeOf(t, first.url, second.url).readSignatures(digest, signal), {
    code: 'SIGNATURE_UNAVAILABLE',
  })
})

test('a page in place of a signature is no answer', async (t) => {
  const server = await startSignatureServer(t)
  server.fault({ status: 200, body: '<!DOCTYPE html><title>Sign in</title>' })
  await assert.rejects(storeOf(t, server.url).readSignatures(digest, signal), {
    code: 'SIGNATURE_UNAVAILABLE',
    message: /answered with a page, not with a signature/,
  })
})

test('a store that hides what is not there (403) ends the list, but does not begin it', async (t) => {
  const server = await startSignatureServer(t)
  server.publish(digest, one)
  server.fault({ path: /signature-2$/, status: 403 })
  const store = storeOf(t, server.url)
  assert.equal((await store.readSignatures(digest, signal)).length, 1)
  server.fault({ path: /signature-1$/, status: 403 })
  await assert.rejects(store.readSignatures(digest, signal), { code: 'SIGNATURE_UNAVAILABLE', message: /403/ })
})

test('a store without an end is not asked without end, and a signature without an end is not read', async (t) => {
  const server = await startSignatureServer(t)
  server.fault({ times: 100, status: 200, body: one })
  assert.equal((await storeOf(t, server.url).readSignatures(digest, signal)).length, 20)
  const large = await startSignatureServer(t)
  large.publish(digest, Buffer.alloc(60_000, 0x90))
  await assert.rejects(storeOf(t, large.url).readSignatures(digest, signal), { code: 'SIGNATURE_UNAVAILABLE' })
})

test('a directory is a store, by URL and by path; one that is not there gives no answer', async (t) => {
  const root = await tempDir(t)
  const folder = join(root, 'of store', `sha256=${'ab'.repeat(32)}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'signature-1'), one)
  for (const url of [join(root, 'of store'), pathToFileURL(join(root, 'of store')).href]) {
    assert.deepEqual(await storeOf(t, url).readSignatures(digest, signal), [{ number: 1, bytes: one }])
  }
  assert.deepEqual(await storeOf(t, root).readSignatures(digest, signal), [])
  await assert.rejects(storeOf(t, join(root, 'none')).readSignatures(digest, signal), { code: 'SIGNATURE_UNAVAILABLE' })
})

test('OCP_SIGNATURE_URL stands for the stores that are known; with or without a slash, and never for nonsense', async (t) => {
  assert.deepEqual(
    signatureStores().map(({ host }) => host),
    ['mirror.openshift.com', 'storage.googleapis.com'],
  )
  const server = await startSignatureServer(t)
  server.publish(digest, one)
  assert.equal((await storeOf(t, `${server.url}/`).readSignatures(digest, signal)).length, 1)
  for (const wrong of ['signatures', 'ftp://example.com/', 'example.com/signatures']) {
    assert.throws(() => signatureStores(wrong), { code: 'USAGE', message: new RegExp(`"${wrong}"`) })
  }
})

test('an interrupted question is not an unavailable store', async (t) => {
  const server = await startSignatureServer(t)
  const stop = new AbortController()
  stop.abort(new Error('stopped'))
  await assert.rejects(storeOf(t, server.url).readSignatures(digest, stop.signal), { message: 'stopped' })
})
