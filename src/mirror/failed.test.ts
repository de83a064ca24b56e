import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { KnownError } from '../errors/known-error.ts'
import { digestOf } from '../oci/digest.ts'
import { parseReference } from '../oci/reference.ts'
import type { ResolvedImage } from './closure.ts'
import { readFailed, recordFailed, selectFailed } from './failed.ts'
import type { FailedImage } from './failures.ts'
import type { SelectedImage } from './selection.ts'
import { type Workspace, workspaceAt, writeWhole } from './workspace.ts'

const target = 'mirror.lab/ocp'

function image(name: string, tag = '1'): SelectedImage {
  const destination = parseReference(`${target}/${name}:${tag}`)
  return { source: parseReference(`quay.io/${name}:${tag}`), class: 'additional', destination, why: 'a test' }
}

function resolved(selected: SelectedImage, attachedTo?: string): ResolvedImage {
  const digest = digestOf(JSON.stringify(selected))
  return { selected, digest, manifests: [], ...(attachedTo !== undefined && { attachedTo: digestOf(attachedTo) }) }
}

function failure(selected: SelectedImage): FailedImage {
  return { image: selected, error: new KnownError('REGISTRY_FAILED', `${selected.source.repository}: answered 502`) }
}

const [a, b, c] = [image('team/a'), image('team/b'), image('team/c')]

async function emptyWorkspace(t: Parameters<typeof tempDir>[0]): Promise<Workspace> {
  return workspaceAt(await tempDir(t), '/')
}

test('what failed is read back for its target, and selects those images and no others', async (t) => {
  const workspace = await emptyWorkspace(t)
  await recordFailed(workspace, target, {
    failures: [failure(c), failure(a)],
    resolved: [a, b, c].map((one) => resolved(one)),
  })
  const failed = (await readFailed(workspace)).get(target) ?? []
  assert.deepEqual(
    failed.map(({ destination, code }) => [destination, code]),
    [
      ['mirror.lab/ocp/team/a:1', 'REGISTRY_FAILED'],
      ['mirror.lab/ocp/team/c:1', 'REGISTRY_FAILED'],
    ],
  )
  assert.deepEqual(selectFailed([a, b, c], failed), { images: [a, c], gone: [] })
})

test('a signature that failed is tried again with the image that it belongs to', async (t) => {
  const workspace = await emptyWorkspace(t)
  const signature = image('team/b', 'sha256-0123.sig')
  const all = [resolved(a), resolved(b), resolved(signature, 'b'), resolved(c)]
  await recordFailed(workspace, target, { failures: [failure(signature)], resolved: all })
  const failed = (await readFailed(workspace)).get(target) ?? []
  assert.deepEqual(selectFailed([a, b, c], failed).images, [b])
})

test('what failed and is no longer asked for is told, not tried', async (t) => {
  const workspace = await emptyWorkspace(t)
  await recordFailed(workspace, target, { failures: [failure(a)], resolved: [] })
  const failed = (await readFailed(workspace)).get(target) ?? []
  assert.deepEqual(selectFailed([b], failed), { images: [], gone: failed })
})

test('each run replaces the record of its own target, and the file goes with the last failure', async (t) => {
  const workspace = await emptyWorkspace(t)
  const path = join(workspace.state, 'failed.json')
  await recordFailed(workspace, target, { failures: [failure(a), failure(b)], resolved: [] })
  await recordFailed(workspace, 'other.lab', { failures: [failure(c)], resolved: [] })
  await recordFailed(workspace, target, { failures: [failure(b)], resolved: [] })
  const failed = await readFailed(workspace)
  assert.deepEqual([...failed.keys()].sort(), [target, 'other.lab'])
  assert.equal(failed.get(target)?.length, 1)
  await recordFailed(workspace, target, { failures: [], resolved: [] })
  assert.deepEqual([...(await readFailed(workspace)).keys()], ['other.lab'])
  await recordFailed(workspace, 'other.lab', { failures: [], resolved: [] })
  await assert.rejects(readFile(path), { code: 'ENOENT' })
})

test('a record that cannot be read counts as none', async (t) => {
  const workspace = await emptyWorkspace(t)
  await writeWhole(join(workspace.state, 'failed.json'), '{}')
  assert.equal((await readFailed(workspace)).size, 0)
  await writeFile(join(workspace.state, 'failed.json'), '{"version":1,"tar')
  assert.equal((await readFailed(workspace)).size, 0)
})
