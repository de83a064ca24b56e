import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { SecretFiles } from './secret-files.ts'

test('links are read where they lead to files, and what has no end is not read', async (t) => {
  const root = await tempDir(t)
  const outside = join(await tempDir(t), 'token')
  await writeFile(outside, 'a-Secret-of-8')
  await symlink(outside, join(root, 'token'))
  await symlink('/dev/zero', join(root, 'password'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  await symlink('pipe', join(root, 'secret'))
  await symlink('kubeconfig', join(root, 'kubeconfig'))
  const hidden: string[] = []
  await new SecretFiles((value) => hidden.push(value)).read(root, { isOfCredentials: true })
  assert.deepEqual(hidden, ['a-Secret-of-8'])
})
