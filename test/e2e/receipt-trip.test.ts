/** The way of receipts: two sites load one archive, and each gets next what it, and only it, does not hold. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { BaseOptions } from '../../src/archive/history/archive-base.ts'
import { readReceipt } from '../../src/archive/history/receipt-file.ts'
import { parseImageSetConfiguration } from '../../src/config/image-set-configuration.ts'
import { diskToMirror } from '../../src/flows/disk-to-mirror.ts'
import { makeReceipt } from '../../src/flows/make-receipt.ts'
import { mirrorToDisk } from '../../src/flows/mirror-to-disk.ts'
import { parseMirrorTarget } from '../../src/mirror/destination.ts'
import { workspaceAt } from '../../src/mirror/workspace.ts'
import { parseRegistriesConf } from '../../src/registries/parse.ts'
import { withRegistriesConf } from '../../src/remote/registries-conf-source.ts'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText, releaseName, startUpstream } from '../../testkit/upstream.ts'

const common = () => ({ clock: new FakeClock(), signal: new AbortController().signal, onEvent: () => undefined })

async function connectedSide(t: TestContext) {
  const upstream = await startUpstream(t)
  const configuration = imageSetText({ release: releaseName(upstream.release), additional: upstream.additional })
  const conf = parseRegistriesConf(await readFile(upstream.registriesConf, 'utf8'), 'registries.conf')
  const workspace = workspaceAt(await tempDir(t), '/')
  const source = withRegistriesConf(testClient(t).client, conf)
  const config = parseImageSetConfiguration({ file: 'isc.yaml', text: configuration })
  const write = async (base: BaseOptions) => {
    upstream.registry.requests.length = 0
    const directory = await tempDir(t)
    const volumeBytes = 16 * 1024 * 1024
    const request = { ...common(), config, configuration, source, workspace, directory, volumeBytes, base }
    const { archive, proven } = await mirrorToDisk(request)
    const read = upstream.registry.requests.filter(({ method, path }) => method === 'GET' && path.includes('/blobs/'))
    return { directory, proven, record: archive?.record, blobsRead: read.length }
  }
  return { write, images: 1 + upstream.release.components.length + upstream.additional.length }
}

async function closedSide(t: TestContext) {
  const registry = await startScriptedRegistry(t, { hasReferrersApi: true })
  const { client } = testClient(t)
  const target = parseMirrorTarget(`docker://${registry.address}/ocp`)
  const workspace = workspaceAt(await tempDir(t), '/')
  const load = (directory: string) => diskToMirror({ ...common(), registry: client, target, workspace, directory })
  const receipt = async () => {
    const made = await makeReceipt({ ...common(), workspace, target, registry: client, isFull: false })
    const path = join(await tempDir(t), 'receipt.json')
    await writeFile(path, made.text)
    return { receipt: await readReceipt(path), absent: made.absent }
  }
  return { name: `${registry.address}/ocp`, content: registry.content, load, receipt }
}

test('each site gets what its receipt does not name, and nothing else', async (t) => {
  const [{ write, images }, near, far] = await Promise.all([connectedSide(t), closedSide(t), closedSide(t)])
  const first = await write({})
  assert.equal(first.record?.kind, 'full')
  for (const site of [near, far]) {
    const [loaded] = await site.load(first.directory)
    assert.equal(loaded?.result.exitStatus, 0)
  }

  const complete = await near.receipt()
  assert.equal(complete.absent.size, 0)
  assert.deepEqual(complete.receipt.held.except, [])
  const nothing = await write({ receipt: complete.receipt })
  assert.deepEqual([nothing.record, nothing.proven, nothing.blobsRead], [undefined, images, 0])

  const [lost = ''] = [...near.content.links].filter((link) => link.startsWith('ocp/extra/single@'))
  near.content.links.delete(lost)
  near.content.blobs.delete(lost.slice(lost.indexOf('@') + 1))
  const lacking = await near.receipt()
  assert.deepEqual([...lacking.absent.keys()], [lost.slice(lost.indexOf('@') + 1)])

  const second = await write({ receipt: lacking.receipt })
  assert.deepEqual([second.record?.kind, second.record?.sequence, second.record?.target], ['increment', 2, near.name])
  assert.deepEqual([second.record?.totals.blobs, second.record?.totals.manifests, second.blobsRead], [1, 0, 1])
  await assert.rejects(far.load(second.directory), { code: 'ARCHIVE_OTHER_TARGET' })
  await near.load(second.directory)
  const mended = await near.receipt()
  assert.deepEqual([mended.absent.size, mended.receipt.archives, mended.receipt.held.except], [0, '1-2', []])

  const forFar = await write({ receipt: (await far.receipt()).receipt })
  assert.deepEqual([forFar.record, forFar.blobsRead], [undefined, 0])
})
