import assert from 'node:assert/strict'
import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'
import { KnownError } from '../errors/known-error.ts'
import { packChart } from './pack-chart.ts'

async function directoryOf(t: Cleanup, files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await tempDir(t)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
  return directory
}

async function namesIn(packed: Buffer): Promise<string[]> {
  const names: string[] = []
  const entries = extract()
  Readable.from([gunzipSync(packed)]).pipe(entries)
  for await (const entry of entries) {
    names.push(entry.header.name)
    entry.resume()
  }
  return names
}

const files = { 'Chart.yaml': 'name: app\nversion: 1.0.0\n', 'templates/pod.yaml': 'kind: Pod', 'values.yaml': 'a: 1' }

test('the same files give the same bytes, whenever and in whatever order they were written', async (t) => {
  const one = await directoryOf(t, files)
  const other = await directoryOf(t, Object.fromEntries(Object.entries(files).toReversed()))
  await utimes(join(other, 'values.yaml'), 1, 1)
  const packed = await packChart(one, 'app')
  assert.deepEqual(await packChart(other, 'app'), packed)
  assert.deepEqual(await namesIn(packed), ['app/Chart.yaml', 'app/templates/pod.yaml', 'app/values.yaml'])
})

test('what .helmignore names is left out, as Helm leaves it out', async (t) => {
  const ignore = '# comment\n.git/\n*.bak\n/only-here.txt\ndocs/*.md\n!docs/keep.md\n[xy].tmp\n'
  const directory = await directoryOf(t, {
    ...files,
    '.helmignore': ignore,
    '.git/config': '',
    'a.bak': '',
    'sub/b.bak': '',
    'only-here.txt': '',
    'sub/only-here.txt': '',
    'docs/gone.md': '',
    'docs/keep.md': '',
    'x.tmp': '',
    'z.tmp': '',
    'templates/.hidden.yaml': '',
  })
  assert.deepEqual(await namesIn(await packChart(directory, 'app')), [
    'app/.helmignore',
    'app/Chart.yaml',
    'app/docs/keep.md',
    'app/sub/only-here.txt',
    'app/templates/pod.yaml',
    'app/values.yaml',
    'app/z.tmp',
  ])
})

test('a link that leads nowhere is told, but for one that is ignored', async (t) => {
  const directory = await directoryOf(t, files)
  await symlink(join(directory, 'nowhere'), join(directory, 'link'))
  await assert.rejects(
    packChart(directory, 'app'),
    (error) => error instanceof KnownError && error.code === 'FILE_UNREADABLE' && /link/.test(error.message),
  )
  await writeFile(join(directory, '.helmignore'), 'link')
  await packChart(directory, 'app')
})
