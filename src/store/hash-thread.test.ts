import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { randomBytes } from '../../testkit/random-bytes.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { digestOf } from '../oci/digest.ts'
import { HashThread } from './hash-thread.ts'

const run = promisify(execFile)

test('files that grow side by side get each its own digest, in either algorithm', async (t) => {
  const root = await tempDir(t)
  const hashing = new HashThread()
  const digests = (['sha256', 'sha512'] as const).map(async (algorithm) => {
    const path = join(root, algorithm)
    const pieces = [0, 1, 2].map((index) => randomBytes(`${algorithm} ${index}`, 700_001))
    let size = 0
    for (const piece of pieces) {
      await appendFile(path, piece)
      size += piece.byteLength
      hashing.advance({ path, size, algorithm })
    }
    assert.equal(await hashing.finish({ path, size, algorithm }), digestOf(Buffer.concat(pieces), algorithm))
    // Asked once more, and in the other algorithm, it is read again.
    assert.equal(await hashing.finish({ path, size, algorithm }), digestOf(Buffer.concat(pieces), algorithm))
    hashing.advance({ path, size: 700_001, algorithm: 'sha256' })
    assert.equal(await hashing.finish({ path, size, algorithm: 'sha512' }), digestOf(Buffer.concat(pieces), 'sha512'))
  })
  await Promise.all(digests)
})

test('what was hashed of a file that was cut back and written again does not count', async (t) => {
  const root = await tempDir(t)
  const path = join(root, 'file')
  const hashing = new HashThread()
  await writeFile(path, randomBytes('first', 500_000))
  hashing.advance({ path, size: 500_000, algorithm: 'sha256' })
  // Requests are worked off in their order: after this answer, the one before is done.
  await hashing.finish({ path: join(root, 'missing'), size: 1, algorithm: 'sha256' })
  const bytes = randomBytes('second', 600_000)
  await writeFile(path, bytes)
  hashing.forget(path)
  assert.equal(await hashing.finish({ path, size: 600_000, algorithm: 'sha256' }), digestOf(bytes))
})

test('a file that is missing or shorter than was said has no digest, and does no harm to others', async (t) => {
  const root = await tempDir(t)
  const hashing = new HashThread()
  const path = join(root, 'short')
  await writeFile(path, randomBytes('short', 1000))
  hashing.advance({ path: join(root, 'missing'), size: 1, algorithm: 'sha256' })
  hashing.advance({ path, size: 1000, algorithm: 'sha256' })
  await truncate(path, 10)
  assert.equal(await hashing.finish({ path, size: 1001, algorithm: 'sha256' }), undefined)
  assert.equal(await hashing.finish({ path: join(root, 'missing'), size: 1, algorithm: 'sha256' }), undefined)
  assert.equal(
    await hashing.finish({ path, size: 10, algorithm: 'sha256' }),
    digestOf(randomBytes('short', 1000).subarray(0, 10)),
  )
})

test('the thread keeps a process alive for as long as a digest is waited for, and no longer', async (t) => {
  const path = join(await tempDir(t), 'file')
  const bytes = randomBytes('alive', 3_000_000)
  await writeFile(path, bytes)
  const script = `
    import { HashThread } from ${JSON.stringify(new URL('./hash-thread.ts', import.meta.url).href)}
    const hashing = new HashThread()
    hashing.advance({ path: process.argv[1], size: 1, algorithm: 'sha256' })
    console.log(await hashing.finish({ path: process.argv[1], size: 3_000_000, algorithm: 'sha256' }))
    hashing.advance({ path: process.argv[1], size: 1, algorithm: 'sha256' })`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script, path])
  assert.equal(stdout.trim(), digestOf(bytes))
})
