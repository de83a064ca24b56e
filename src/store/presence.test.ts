import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { ifThere, isTaken, isThere } from './presence.ts'

test('a path that leads to nothing is an answer: no such name, a file on the way, a circle of links', async (t) => {
  const directory = await tempDir(t)
  await writeFile(join(directory, 'file'), 'text')
  await symlink('circle', join(directory, 'circle'))
  for (const name of ['absent', 'file/below', 'circle/below']) {
    const path = join(directory, name)
    assert.equal(await isThere(path), false, name)
    assert.equal(await isTaken(path), false, name)
    assert.equal(await ifThere(readFile(path)), undefined, name)
    assert.equal(await ifThere(readdir(path)), undefined, name)
  }
  assert.equal(await isThere(join(directory, 'file')), true)
  assert.equal(await ifThere(readFile(join(directory, 'file'), 'utf8')), 'text')
})

test('a link that leads nowhere takes a name, and nothing is there', async (t) => {
  const directory = await tempDir(t)
  await symlink('nowhere', join(directory, 'dangling'))
  await symlink('circle', join(directory, 'circle'))
  for (const name of ['dangling', 'circle']) {
    assert.equal(await isThere(join(directory, name)), false, name)
    assert.equal(await isTaken(join(directory, name)), true, name)
  }
})

test('what cannot be read for another reason is an error', async (t) => {
  const directory = await tempDir(t)
  await mkdir(join(directory, 'folder'))
  await assert.rejects(ifThere(readFile(join(directory, 'folder'))), { code: 'EISDIR' })
  await assert.rejects(isThere(join(directory, 'x'.repeat(256))), { code: 'ENAMETOOLONG' })
})
