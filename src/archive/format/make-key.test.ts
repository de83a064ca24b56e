import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { writeKeyFiles } from './make-key.ts'
import { loadSigningKey, loadVerifyKey, verifySignature } from './signature.ts'

test('a new key signs, its public half verifies, and only its owner reads it', async (t) => {
  const { secret, open, key } = await writeKeyFiles(join(await tempDir(t), 'site.pem'))
  assert.match(open, /site\.pub\.pem$/)
  assert.equal((await stat(secret)).mode & 0o777, 0o600)
  const signature = (await loadSigningKey(secret)).sign('text')
  assert.equal(signature.key, key)
  verifySignature(await loadVerifyKey(open), { text: 'text', signature, what: 'it' })
})

test('a key is never overwritten', async (t) => {
  const path = join(await tempDir(t), 'site.pem')
  await writeKeyFiles(path)
  const before = await readFile(path, 'utf8')
  await assert.rejects(writeKeyFiles(path), { code: 'USAGE', details: { file: path } })
  assert.equal(await readFile(path, 'utf8'), before)
})
