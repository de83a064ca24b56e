import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { asNobody } from '../../../testkit/as-nobody.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { removeTree } from './tree-removal.ts'

test('directories that their owner may not write to, nor read, are removed with what is in them', (t) =>
  asNobody(async () => {
    const root = await tempDir(t)
    const tree = join(root, 'cache')
    await mkdir(join(tree, 'module', 'package'), { recursive: true })
    await writeFile(join(tree, 'module', 'package', 'file'), '', { mode: 0o444 })
    await chmod(join(tree, 'module', 'package'), 0)
    await chmod(join(tree, 'module'), 0o555)
    await chmod(tree, 0o555)
    assert.equal(await removeTree(tree), undefined)
    assert.deepEqual(await readdir(root), [])
    assert.equal(await removeTree(tree), undefined)
  }))

test('what belongs to somebody else is named', async (t) => {
  if (process.geteuid?.() !== 0) return t.skip('only root can make what belongs to somebody else')
  const root = await tempDir(t)
  await chmod(root, 0o755)
  const theirs = join(root, 'of-a-container')
  await mkdir(theirs)
  await writeFile(join(theirs, 'file'), '')
  assert.equal(await asNobody(() => removeTree(theirs)), `${theirs} cannot be removed (EPERM)`)
})
