import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { repositoryRoot } from './source-files.ts'

async function documented(): Promise<{ folder: string; isPlanned: boolean }[]> {
  const text = await readFile(join(repositoryRoot, 'ARCHITECTURE.md'), 'utf8')
  return [...text.matchAll(/^\| `src\/([a-z]+)\/` \|([^\n]*)$/gm)].map(([, folder = '', rest = '']) => ({
    folder,
    isPlanned: rest.includes('not there yet'),
  }))
}

test('ARCHITECTURE.md names every folder of src/, and no other as existing', async () => {
  const entries = await readdir(join(repositoryRoot, 'src'), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  // A folder without a file does not survive a checkout.
  const filled = await Promise.all(
    folders.map(async (name) => ((await readdir(join(repositoryRoot, 'src', name))).length > 0 ? [name] : [])),
  )
  const named = (await documented()).filter(({ isPlanned }) => !isPlanned).map(({ folder }) => folder)
  assert.deepEqual(named.sort(), filled.flat().sort())
})
