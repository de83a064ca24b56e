import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { systemClock } from '../host/clock.ts'
import { thisProcess } from '../host/processes.ts'
import { type Digest, digestOf } from '../oci/digest.ts'
import { BlobStore } from './blob-store.ts'
import { StagedFile } from './staged-file.ts'

function descriptorOf(bytes: Uint8Array, digest: Digest = digestOf(bytes)) {
  return { mediaType: 'application/octet-stream', digest, size: bytes.byteLength }
}

async function* pieces(bytes: Uint8Array, size = 60_000): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += size) yield bytes.subarray(start, start + size)
}

test('what is put under its digest is there, byte for byte, and nothing is left in staging', async (t) => {
  const store = await BlobStore.open(await tempDir(t), systemClock)
  for (const [size, algorithm] of [
    [0, 'sha256'],
    [10, 'sha512'],
    [3_000_001, 'sha256'],
  ] as const) {
    const bytes = randomBytes(size)
    const digest = digestOf(bytes, algorithm)
    await store.put(descriptorOf(bytes, digest), pieces(bytes), 'test')
    assert.equal(store.sizeOf(digest), size)
    assert.deepEqual(await readFile(store.paths.blob(digest)), bytes)
  }
  assert.deepEqual(await readdir(store.paths.staging), [])
})

test('altered, short and long content is refused and leaves nothing behind', async (t) => {
  const store = await BlobStore.open(await tempDir(t), systemClock)
  const bytes = randomBytes(100_000)
  const altered = Buffer.from(bytes)
  altered[50_000] = (altered[50_000] ?? 0) ^ 1
  const descriptor = descriptorOf(bytes)
  await assert.rejects(store.put(descriptor, pieces(altered), 'test'), { code: 'BLOB_DIGEST_MISMATCH' })
  await assert.rejects(store.put(descriptor, pieces(bytes.subarray(1)), 'test'), { code: 'BLOB_SIZE_MISMATCH' })
  await assert.rejects(store.put(descriptor, pieces(Buffer.concat([bytes, bytes])), 'test'), {
    code: 'BLOB_SIZE_MISMATCH',
  })
  assert.equal(store.sizeOf(descriptor.digest), undefined)
  assert.deepEqual(await readdir(store.paths.staging), [])
})

test('a blob cannot be seen before it is proven', async (t) => {
  const store = await BlobStore.open(await tempDir(t), systemClock)
  const bytes = randomBytes(2_000_000)
  const staged = StagedFile.create(store.stagingPath(), store)
  await staged.write(bytes)
  await staged.settle()
  assert.equal(store.open(digestOf(bytes)), undefined)
  await store.commit(staged, digestOf(bytes))
  assert.equal(store.sizeOf(digestOf(bytes)), 2_000_000)
})

test('files and directories are for the owner alone, whatever the umask', async (t) => {
  const root = join(await tempDir(t), 'new')
  const old = process.umask(0)
  t.after(() => process.umask(old))
  const store = await BlobStore.open(root, systemClock)
  const bytes = randomBytes(10)
  await store.put(descriptorOf(bytes), pieces(bytes), 'test')
  assert.equal((await stat(root)).mode & 0o777, 0o700)
  assert.equal((await stat(store.paths.blob(digestOf(bytes)))).mode & 0o777, 0o600)
})

test('what a dead process left in staging is removed, what a living or distant one writes is not', async (t) => {
  const root = await tempDir(t)
  const clock = new FakeClock({ now: systemClock.now() })
  const { staging } = (await BlobStore.open(root, clock)).paths
  const { host, pid } = thisProcess()
  const names = {
    dead: `${host}~999999999~a`,
    alive: `${host}~${pid}~b`,
    distant: 'elsewhere~1~c',
    old: 'elsewhere~1~d',
  }
  for (const name of Object.values(names)) await writeFile(join(staging, name), 'x')
  await utimes(join(staging, names.old), 0, 0)
  await BlobStore.open(root, clock)
  assert.deepEqual((await readdir(staging)).sort(), [names.alive, names.distant].sort())
})

test('what a killed garbage collection had taken away is back after the next start', async (t) => {
  const root = await tempDir(t)
  const store = await BlobStore.open(root, systemClock)
  const bytes = randomBytes(10)
  await store.put(descriptorOf(bytes), pieces(bytes), 'test')
  store.takeAway(digestOf(bytes))
  assert.equal(store.sizeOf(digestOf(bytes)), undefined)
  assert.equal((await BlobStore.open(root, systemClock)).sizeOf(digestOf(bytes)), 10)
})

test('a store of another layout is refused, and left as it is', async (t) => {
  const root = await tempDir(t)
  await writeFile(join(root, 'store.json'), '{"layout":99}\n')
  await assert.rejects(BlobStore.open(root, systemClock), { code: 'STORE_CORRUPT' })
  assert.equal(await readFile(join(root, 'store.json'), 'utf8'), '{"layout":99}\n')
})
