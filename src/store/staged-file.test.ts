import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { randomBytes } from '../../testkit/random-bytes.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { systemClock } from '../host/clock.ts'
import { digestOf } from '../oci/digest.ts'
import { BlobStore } from './blob-store.ts'
import { HashThread } from './hash-thread.ts'
import { StagedFile } from './staged-file.ts'

const mebibyte = 1024 * 1024

async function writeAll(staged: StagedFile, bytes: Uint8Array): Promise<void> {
  for (let start = 0; start < bytes.byteLength; start += 65_536)
    await staged.write(bytes.subarray(start, start + 65_536))
  await staged.settle()
}

test('a long file that was hashed, cut back and written on from there is proven by what is in it', async (t) => {
  const root = await tempDir(t)
  const store = await BlobStore.open(root, systemClock)
  const staged = StagedFile.create(store.stagingPath(), store)
  const good = randomBytes('good', 9 * mebibyte)
  await writeAll(staged, Buffer.concat([good.subarray(0, 5 * mebibyte), randomBytes('bad', 3 * mebibyte)]))
  // The thread works in order: after this answer it has hashed what was written.
  await store.hashing.finish({ path: join(root, 'missing'), size: 1, algorithm: 'sha256' })
  await staged.truncate(5 * mebibyte)
  assert.equal(staged.size, 5 * mebibyte)
  await writeAll(staged, good.subarray(5 * mebibyte))
  await store.commit(staged, digestOf(good))
  assert.equal(store.sizeOf(digestOf(good)), good.byteLength)
})

test('a long file is proven, and a wrong one refused, where the hash thread cannot start', async (t) => {
  const { names, paths } = await BlobStore.open(await tempDir(t), systemClock)
  const hashing = new HashThread(new URL('./not-there.ts', import.meta.url))
  const staged = StagedFile.create(paths.upload('session'), { names, hashing })
  const bytes = randomBytes('alone', 6 * mebibyte)
  await writeAll(staged, bytes)
  await staged.verify(digestOf(bytes))
  await assert.rejects(staged.verify(digestOf('else')), { code: 'BLOB_DIGEST_MISMATCH' })
  await staged.discard()
})
