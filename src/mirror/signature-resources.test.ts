import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import type { Digest } from '../oci/digest.ts'
import { parseSignatureConfigMaps } from '../openshift/signature-config-map.ts'
import { writeSignatureConfigMaps } from './signature-resources.ts'
import { workspaceAt } from './workspace.ts'

const older: Digest = `sha256:${'ab'.repeat(32)}`
const newer: Digest = `sha256:${'cd'.repeat(32)}`
const [one, two] = [Buffer.from('one'), Buffer.from('two')]

test('a later release joins the earlier ones, in both files; a run with nothing new touches nothing', async (t) => {
  const workspace = workspaceAt(await tempDir(t), '/')
  assert.deepEqual(await writeSignatureConfigMaps(workspace, new Map()), [])
  await writeSignatureConfigMaps(workspace, new Map([[older, [one]]]))
  const paths = await writeSignatureConfigMaps(workspace, new Map([[newer, [two]]]))
  assert.deepEqual(
    paths.map((path) => path.slice(workspace.clusterResources.length + 1)),
    ['signature-configmap.yaml', 'signature-configmap.json'],
  )
  for (const path of paths) {
    assert.deepEqual(
      parseSignatureConfigMaps(await readFile(path, 'utf8'), path),
      new Map([
        [older, [one]],
        [newer, [two]],
      ]),
    )
  }
  const before = await Promise.all(paths.map(async (path) => (await stat(path)).ino))
  assert.deepEqual(await writeSignatureConfigMaps(workspace, new Map([[older, [one]]])), paths)
  assert.deepEqual(await Promise.all(paths.map(async (path) => (await stat(path)).ino)), before)
  assert.deepEqual((await readdir(workspace.clusterResources)).length, 2)
})

test('what only one of the two files holds is in both afterwards', async (t) => {
  const workspace = workspaceAt(await tempDir(t), '/')
  const [yaml = '', json = ''] = await writeSignatureConfigMaps(workspace, new Map([[older, [one]]]))
  const onlyHere = (await readFile(json, 'utf8')).replaceAll('ab'.repeat(32), 'ef'.repeat(32))
  await writeFile(json, onlyHere)
  await writeSignatureConfigMaps(workspace, new Map([[newer, [two]]]))
  const digests = [...parseSignatureConfigMaps(await readFile(yaml, 'utf8'), yaml).keys()]
  assert.deepEqual(digests, [older, newer, `sha256:${'ef'.repeat(32)}`])
})

test('a file that is not understood stops the run, and stays as it is', async (t) => {
  const workspace = workspaceAt(await tempDir(t), '/')
  const [yaml = ''] = await writeSignatureConfigMaps(workspace, new Map([[older, [one]]]))
  await writeFile(yaml, 'kind: Secret\n')
  await assert.rejects(writeSignatureConfigMaps(workspace, new Map([[newer, [two]]])), { code: 'CONFIG_INVALID' })
  assert.equal(await readFile(yaml, 'utf8'), 'kind: Secret\n')
})
