import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { IgnitionConfig, Resource } from './config.ts'
import { encodeDataUrl } from './data-url.ts'
import { type FetchResource, refuseRemote, renderConfig } from './render-config.ts'

function withFile(contents: string, config: IgnitionConfig['ignition']['config'] = {}): IgnitionConfig {
  return {
    ignition: { version: '3.2.0', config },
    storage: { files: [{ path: '/a', contents: { source: `data:,${contents}` } }] },
  }
}

function inline(config: IgnitionConfig): Resource {
  return { source: encodeDataUrl(JSON.stringify(config)) }
}

const sourceOfA = (config: IgnitionConfig) => config.storage?.files?.[0]?.contents?.source

test('children win over their parent, and later ones over earlier ones', async () => {
  const parent = withFile('parent', { merge: [inline(withFile('first')), inline(withFile('second'))] })
  assert.equal(sourceOfA(await renderConfig(parent, refuseRemote)), 'data:,second')
})

test('a child is rendered with its own children before it is merged', async () => {
  const child = withFile('child', { merge: [inline(withFile('grandchild'))] })
  assert.equal(
    sourceOfA(await renderConfig(withFile('parent', { merge: [inline(child)] }), refuseRemote)),
    'data:,grandchild',
  )
})

test('a replacement discards everything that stood before it', async () => {
  const parent: IgnitionConfig = {
    ...withFile('parent', { replace: inline(withFile('new')), merge: [inline(withFile('merged'))] }),
    passwd: { users: [{ name: 'core' }] },
  }
  const rendered = await renderConfig(parent, refuseRemote)
  assert.deepEqual([sourceOfA(rendered), rendered.passwd], ['data:,new', undefined])
})

test('what is fetched is decompressed, and proven by its hash', async () => {
  const text = JSON.stringify(withFile('fetched'))
  const fetch: FetchResource = async () => gzipSync(text)
  const resource = (hash: string) => ({ source: 'https://x/child', compression: 'gzip', verification: { hash } })
  const good = `sha512-${createHash('sha512').update(text).digest('hex')}`
  assert.equal(sourceOfA(await renderConfig(withFile('p', { merge: [resource(good)] }), fetch)), 'data:,fetched')
  await assert.rejects(renderConfig(withFile('p', { merge: [resource(`sha256-${'0'.repeat(64)}`)] }), fetch), {
    code: 'IGNITION_INVALID',
  })
})

test('without leave to fetch, what is elsewhere is named', async () => {
  await assert.rejects(renderConfig(withFile('p', { merge: [{ source: 's3://bucket/worker.ign' }] }), refuseRemote), {
    code: 'IGNITION_REMOTE',
    message: 'ignition.config.merge[0] is not in the config: it is at s3://bucket/worker.ign',
  })
})

test('a config that leads back to itself is refused, and one that never ends', async () => {
  const again: FetchResource = async ({ source }) =>
    Buffer.from(JSON.stringify(withFile('x', { replace: { source: source ?? '' } })))
  await assert.rejects(
    renderConfig(withFile('p', { merge: [{ source: 'https://x/a' }] }), again),
    /leads back to itself/,
  )
  const further: FetchResource = async ({ source }) =>
    Buffer.from(JSON.stringify(withFile('x', { merge: [{ source: `${source}a` }] })))
  await assert.rejects(renderConfig(withFile('p', { merge: [{ source: 'https://x/a' }] }), further), /more than 32/)
})

test('a child that is no config is refused', async () => {
  await assert.rejects(renderConfig(withFile('p', { merge: [{ source: 'data:,{}' }] }), refuseRemote), {
    code: 'IGNITION_INVALID',
  })
  const invalid = inline({ ignition: { version: '3.2.0' }, storage: { files: [{ path: 'relative' }] } })
  await assert.rejects(renderConfig(withFile('p', { merge: [invalid] }), refuseRemote), {
    message: 'ignition.config.merge[0] is not valid: $.storage.files.0.path: path not absolute',
  })
  await assert.rejects(renderConfig(withFile('p', { replace: { source: '' } }), refuseRemote), {
    code: 'IGNITION_INVALID',
  })
})
