import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { test } from 'node:test'
import { sourceFiles } from './source-files.ts'

const folders = ['src', 'test', 'testkit', 'tools', 'bench']
const forbidden = /^(?:utils?|helpers?|common|misc|shared|types|constants|index|manager|base)$/

async function allFiles() {
  return (await Promise.all(folders.map(sourceFiles))).flat()
}

test('every file and folder is named in kebab-case', async () => {
  const broken = (await allFiles()).filter(({ path }) =>
    path.split('/').some((part) => !/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test)?(?:\.ts)?$/.test(part)),
  )
  assert.deepEqual(
    broken.map(({ path }) => path),
    [],
  )
})

test('no file or folder has a name that says nothing', async () => {
  const broken = (await allFiles()).filter(({ path }) =>
    path.split('/').some((part) => forbidden.test(basename(part).replace(/(?:\.test)?\.ts$/, ''))),
  )
  assert.deepEqual(
    broken.map(({ path }) => path),
    [],
  )
})

test('the kit holds no tests', async () => {
  const broken = (await sourceFiles('testkit')).filter(({ path }) => path.endsWith('.test.ts'))
  assert.deepEqual(
    broken.map(({ path }) => path),
    [],
  )
})
