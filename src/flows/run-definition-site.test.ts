import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { defineSiteRun, siteDefinitionAt } from './run-definition-site.ts'

test('the site of a run is the file here; where there is none here nor there, the one that is to be put here', async (t) => {
  const root = await tempDir(t)
  const [here, there] = [join(root, 'here'), join(root, 'there')]
  for (const directory of [here, there]) await mkdir(directory)
  const definition = { kind: 'disconnected', file: join(there, 'sallyport.yaml'), text: '' } as const
  const fileHere = async () => (await siteDefinitionAt(definition, here)).file
  assert.equal(await fileHere(), join(here, 'sallyport.yaml'))
  await writeFile(definition.file, '')
  assert.equal(await fileHere(), definition.file)
  await writeFile(definition.file, 'kind: Site # of somebody else')
  assert.equal(await fileHere(), join(here, 'sallyport.yaml'), 'another machine may have another there')
  await writeFile(join(here, 'sallyport.yaml'), '')
  assert.equal(await fileHere(), join(here, 'sallyport.yaml'))
})

test('a site that is there and cannot be read is told as that, and is no site that is absent', async (t) => {
  const root = await tempDir(t)
  await mkdir(join(root, 'sallyport.yaml'))
  const definition = { kind: 'disconnected', file: join(root, 'other', 'sallyport.yaml'), text: '' } as const
  const { file } = await siteDefinitionAt(definition, root)
  assert.equal(file, join(root, 'sallyport.yaml'))
  await assert.rejects(defineSiteRun(file), { name: 'KnownError', message: /it is a directory/ })
})
