import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeRelease } from '../../testkit/release-payload.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll, releaseContent } from '../../testkit/seed.ts'
import { testClient } from '../../testkit/test-client.ts'
import { blobsOfContent, writeRegistriesConf } from '../../testkit/upstream.ts'
import { loadRegistriesConf } from '../config/registries-conf.ts'
import { releaseSources } from '../quickstart/sample-release.ts'
import { withRegistriesConf } from '../remote/registries-conf-source.ts'
import { readPathShares } from './path-contents.ts'

test('each release of a path is measured against those before it, and the path counts every blob once', async (t) => {
  const registry = await startScriptedRegistry(t)
  const made = [makeRelease({ seed: 'one', version: '4.18.1' }), makeRelease({ seed: 'two', version: '4.18.9' })]
  const contents = made.map(releaseContent)
  const { client } = testClient(t)
  await pushAll(client, registry.address, contents.flat())
  const { conf } = await loadRegistriesConf({ path: await writeRegistriesConf(t, registry.address), env: {} })
  const source = withRegistriesConf(client, conf)
  const releases = made.map(({ image, version }) => ({
    version,
    payload: `${releaseSources.registry}/${releaseSources.images}@${image.digest}`,
    metadata: {},
  }))
  const read = { source, architecture: 'amd64', signal: t.signal }
  const bytesOf = (parts: typeof contents) =>
    [...blobsOfContent(parts.flat()).values()].reduce((sum, size) => sum + size, 0)
  const shares = await readPathShares(releases, read)
  const [first, second] = shares.releases
  assert.equal(first?.components, 12)
  assert.equal(first?.bytes, bytesOf(contents.slice(0, 1)))
  assert.equal(first?.newBytes, first?.bytes)
  assert.equal(second?.newBytes, bytesOf(contents) - bytesOf(contents.slice(0, 1)))
  assert.equal(shares.bytes, bytesOf(contents))
  const again = await readPathShares([...releases.slice(0, 1), ...releases.slice(0, 1)], read)
  assert.deepEqual([again.releases[1]?.newBytes, again.releases[1]?.newImages], [0, 0])
})
