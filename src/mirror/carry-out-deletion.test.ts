import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ScriptedRegistryOptions, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import type { Cleanup } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { type Digest, digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { carryOut } from './carry-out-deletion.ts'
import { planDeletion, type Unwanted } from './plan-deletion.ts'
import { readRepository } from './repository-state.ts'

const name = 'ocp/extra'
const config = { mediaType: mediaTypes.ociConfig, digest: digestOf('{}'), size: 2 }
const image = (seed: string) => ({
  schemaVersion: 2,
  mediaType: mediaTypes.ociManifest,
  config,
  layers: [],
  annotations: { seed },
})

async function setUp(t: Cleanup, options: ScriptedRegistryOptions = {}) {
  const registry = await startScriptedRegistry(t, { hasReferrersApi: true, ...options })
  const { client } = testClient(t)
  const repository = { registry: registry.address, repository: name }
  const signal = new AbortController().signal
  const remove = async (...tags: string[]) => {
    const items = tags.map((tag): Unwanted => ({ name: { tag } }))
    const reading = { registry: client, manifests: client, signal, digests: [], referrersOf: [] }
    const state = await readRepository(repository, reading)
    const rules = { usedBy: () => undefined, tagUsedBy: () => undefined, withAttachments: false }
    const plan = planDeletion(state, items, rules)
    const said: string[] = []
    const note = (what: string) => (digest: Digest) => void said.push(`${what} ${digest}`)
    const options = {
      registry: client,
      signal,
      onBegun: note('begun'),
      onDeleted: note('deleted'),
      onRefused: note('refused'),
    }
    return { said, run: () => carryOut({ repository, state, plan }, options) }
  }
  const deletions = () =>
    registry.requests.filter(({ method }) => method === 'DELETE').map(({ path }) => path.split('/').at(-1))
  return { registry, client, repository, remove, deletions }
}

test('an index goes before its children, also where the registry is slow to answer', async (t) => {
  const { registry, remove, deletions } = await setUp(t)
  const children = ['a', 'b', 'c'].map((seed) => registry.addManifest(name, image(seed)))
  const index = registry.addManifest(
    name,
    { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests: children },
    '1',
  )
  registry.fault({ method: 'DELETE', times: 2, status: 503 })
  const { run } = await remove('1')
  const result = await run()
  assert.equal(result.deleted.size, 4)
  assert.deepEqual([...new Set(deletions())][0], index.digest)
  assert.equal(deletions().lastIndexOf(index.digest), 2)
})

test('children stay where their index could not be deleted, and others go on', async (t) => {
  const { registry, client, repository, remove } = await setUp(t)
  const child = registry.addManifest(name, image('a'))
  const index = registry.addManifest(
    name,
    { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests: [child] },
    '1',
  )
  const other = registry.addManifest(name, image('b'), '2')
  registry.fault({ method: 'DELETE', path: new RegExp(index.digest), status: 403 })
  const { run, said } = await remove('1', '2')
  const result = await run()
  assert.deepEqual([...result.deleted], [other.digest])
  assert.deepEqual([...result.failures.keys()].sort(), [index.digest, child.digest].sort())
  assert.deepEqual([...result.tags], ['2'])
  assert.ok(await client.resolve({ ...repository, digest: child.digest }))
  assert.ok(said.includes(`refused ${index.digest}`))
})

test('a registry that takes the image with a tag gets it back under its other names, and no further tag is tried', async (t) => {
  const { registry, client, repository, remove, deletions } = await setUp(t, { deletes: 'image-of-tag' })
  const { digest } = registry.addManifest(name, image('a'), 'keep')
  for (const tag of ['drop', 'gone']) registry.content.tags.set(`${name}:${tag}`, digest)
  const { run } = await remove('drop', 'gone')
  const { stuck } = await run()
  assert.equal((await client.resolve({ ...repository, tag: 'keep' }))?.digest, digest)
  assert.equal((await client.resolve({ ...repository, tag: 'gone' }))?.digest, digest)
  assert.deepEqual(
    [...stuck].map(([tag, why]) => [tag, /deletes the image with its tag/.test(why)]),
    [['gone', true]],
  )
  assert.deepEqual(deletions(), ['drop'])
})

test('tags that a registry keeps for a manifest that is gone are taken away one by one', async (t) => {
  const { registry, client, repository, remove } = await setUp(t, { deletes: 'dangling' })
  const { digest } = registry.addManifest(name, image('a'), '1')
  registry.content.tags.set(`${name}:2`, digest)
  const { run } = await remove('1', '2')
  const result = await run()
  assert.deepEqual([[...result.tags], result.stuck.size], [['1', '2'], 0])
  assert.deepEqual(await client.tags(repository), undefined)
})

test('a registry that deletes nothing stops everything at once', async (t) => {
  const { registry, remove, deletions } = await setUp(t, { deletes: 'none' })
  for (let index = 0; index < 40; index += 1) registry.addManifest(name, image(`${index}`), `t${index}`)
  const { run, said } = await remove(...Array.from({ length: 40 }, (_, index) => `t${index}`))
  await assert.rejects(run(), { code: 'REGISTRY_DELETE_REFUSED' })
  assert.ok(deletions().length <= 16, `${deletions().length} requests`)
  assert.equal(
    said.filter((one) => one.startsWith('begun')).length,
    said.filter((one) => one.startsWith('refused')).length,
  )
})
