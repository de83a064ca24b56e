import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type LoadedSite, loadedSite } from '../../testkit/loaded-site.ts'
import { parseMirrorTarget } from '../mirror/destination.ts'
import { makeReceipt, type ReceiptRequest } from './make-receipt.ts'

function receiptFor(site: LoadedSite, request: Partial<ReceiptRequest> = {}) {
  const { workspace, location, client } = site
  const target = parseMirrorTarget(location)
  const signal = new AbortController().signal
  return makeReceipt({ workspace, target, registry: client, isFull: false, signal, ...request })
}

test('what is at the target is acknowledged, and every digest was asked for where it is needed', async (t) => {
  const site = await loadedSite(t)
  const { receipt, absent } = await receiptFor(site)
  assert.equal(absent.size, 0)
  assert.deepEqual([receipt.held.count, receipt.held.except], [site.carried.length, []])
  const asked = site.registry.requests.map(({ method, path }) => `${method} ${path}`)
  assert.ok(asked.every((line) => line.startsWith('HEAD /v2/ocp/sample/')))
  for (const digest of site.carried)
    assert.ok(
      asked.some((line) => line.endsWith(digest)),
      digest,
    )
  for (const tag of ['web/manifests/1', 'tool/manifests/2'])
    assert.ok(
      asked.some((line) => line.endsWith(tag)),
      tag,
    )
  assert.equal(new Set(asked).size, asked.length)
})

test('a blob, a manifest and a tag that somebody deleted are excepted, and told by name', async (t) => {
  const site = await loadedSite(t)
  const { content } = site.registry
  const [link] = [...content.links].filter((name) => name.startsWith('ocp/sample/web@'))
  const [manifest] = [...content.manifests.keys()].filter((name) => name.startsWith('ocp/sample/tool@'))
  assert.ok(link && manifest)
  content.links.delete(link)
  content.manifests.delete(manifest)
  content.tags.delete('ocp/sample/web:1')
  const { receipt, absent } = await receiptFor(site)
  const doomed = [...absent].filter(
    ([digest, place]) => place.endsWith(`@${manifest.split('@')[1]}`) && !manifest.endsWith(digest),
  )
  assert.equal(absent.size, 3 + doomed.length)
  assert.equal(receipt.held.except.length, absent.size)
  const told = [...absent].filter(([digest]) => !doomed.some(([one]) => one === digest))
  const places = told.map(([, place]) => place.slice(place.indexOf('/') + 1))
  assert.deepEqual(places.sort(), ['ocp/sample/tool:2', 'ocp/sample/web:1', link])
})

test('blobs of an image that was deleted are not held, although the registry has them until it collects its garbage', async (t) => {
  const site = await loadedSite(t)
  const { content } = site.registry
  const [manifest] = [...content.manifests.keys()].filter((name) => name.startsWith('ocp/sample/tool@'))
  assert.ok(manifest)
  content.manifests.delete(manifest)
  content.tags.delete('ocp/sample/tool:2')
  const { absent } = await receiptFor(site)
  const blobs = [...absent].filter(([digest]) => !manifest.endsWith(digest))
  assert.ok(blobs.length > 0)
  for (const [digest] of blobs) assert.ok(site.registry.content.links.has(`ocp/sample/tool@${digest}`), digest)
})

test('a registry that does not answer is no registry without content', async (t) => {
  const site = await loadedSite(t)
  site.registry.fault({ path: /blobs/, status: 503 })
  await assert.rejects(receiptFor(site), { code: 'REGISTRY_FAILED' })
})

test('without a check nothing is asked for', async (t) => {
  const site = await loadedSite(t)
  const { receipt } = await receiptFor(site, { registry: undefined })
  assert.equal(receipt.held.count, site.carried.length)
  assert.deepEqual(site.registry.requests, [])
})

test('a target that nothing was loaded into has no receipt', async (t) => {
  const site = await loadedSite(t)
  await assert.rejects(receiptFor(site, { target: parseMirrorTarget('docker://registry.other/ocp') }), {
    code: 'RECEIPT_INVALID',
    message: 'No archive was loaded into registry.other/ocp from this workspace',
  })
})
