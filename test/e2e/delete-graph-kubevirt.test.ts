/** Deletion of what a release brings beside its components: the graph image, and KubeVirt disks. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { releaseSources } from '../../src/quickstart/sample-release.ts'
import { runGenerate, runListed } from '../../testkit/delete-run.ts'
import { makeImage } from '../../testkit/image.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { testRegistry } from '../../testkit/test-registry.ts'
import { releaseName, startUpstream } from '../../testkit/upstream.ts'

const components = `${releaseSources.registry}/${releaseSources.components}`

function configText(kind: 'ImageSetConfiguration' | 'DeleteImageSetConfiguration', platform: object): string {
  const section = kind === 'ImageSetConfiguration' ? 'mirror' : 'delete'
  return JSON.stringify({ kind, apiVersion: 'mirror.openshift.io/v2alpha1', [section]: { platform } }, null, 1)
}

/** A mirror of a release with its disks for two architectures, and a graph image. */
async function site(t: TestContext) {
  const disks = { s390x: makeImage({ seed: 'disk/s390x' }), x86_64: makeImage({ seed: 'disk/x86_64' }) }
  const architectures = Object.entries(disks).map(([architecture, { digest }]) => [
    architecture,
    { artifacts: {}, images: { kubevirt: { image: `${components}:disk`, 'digest-ref': `${components}@${digest}` } } },
  ])
  const stream = JSON.stringify({ stream: 'rhcos-4.18', architectures: Object.fromEntries(architectures) })
  const upstream = await startUpstream(t, {
    release: { components: 3, bootImages: JSON.stringify({ kind: 'ConfigMap', data: { stream } }) },
    images: { content: [{ repository: releaseSources.components, images: Object.values(disks) }], additional: [] },
  })
  const registry = await testRegistry(t)
  const at = { target: `docker://${registry.address}/ocp`, workspace: await tempDir(t) }
  const { registriesConf, release } = upstream
  const platform = { release: releaseName(release), kubeVirtContainer: true }
  const mirror = async (more: object) => {
    const config = configText('ImageSetConfiguration', { ...platform, ...more })
    const { exitStatus } = await runMirror(t, { ...at, registriesConf, config })
    assert.equal(exitStatus, 0)
  }
  const { client } = testClient(t)
  const graph = makeImage({ seed: 'graph', tag: 'latest' })
  await pushAll(client, registry.address, [{ repository: 'ocp/openshift/graph-image', images: [graph] }])
  const tags = async (repository: string) =>
    (await client.tags({ registry: registry.address, repository: `ocp/openshift/${repository}` })) ?? []
  const remove = async (more: object, keepFor: readonly string[] = []) => {
    const config = configText('DeleteImageSetConfiguration', { ...platform, ...more })
    const { files, failures, fates } = await runGenerate(t, { ...at, config, keepFor })
    return { failures, fates, result: await runListed(t, { ...at, list: files[0] ?? '', keepFor }) }
  }
  return { at, mirror, tags, remove, release, platform }
}

test('disks and graph image go with their release', async (t) => {
  const { mirror, tags, remove, release } = await site(t)
  await mirror({ architectures: ['amd64', 's390x'] })
  const disk = `${release.tag}-kube-virt-container`
  assert.ok((await tags('release')).includes(`${disk}-s390x`))
  const { failures, result } = await remove({ architectures: ['amd64', 's390x'], graph: true })
  assert.deepEqual([failures, result.failures], [[], []])
  assert.deepEqual([await tags('release'), await tags('release-images'), await tags('graph-image')], [[], [], []])
})

test('disks go whatever architectures the deletion names: the workspace knows which there are', async (t) => {
  const { mirror, tags, remove } = await site(t)
  await mirror({ architectures: ['amd64', 's390x'] })
  await remove({})
  assert.deepEqual(await tags('release'), [])
  assert.deepEqual(await tags('graph-image'), ['latest'])
})

test('without a word about them, disks and graph image stay', async (t) => {
  const { mirror, tags, remove, release } = await site(t)
  await mirror({})
  await remove({ kubeVirtContainer: false })
  assert.deepEqual(await tags('release'), [`${release.tag}-kube-virt-container`])
  assert.deepEqual(await tags('graph-image'), ['latest'])
})

test('a disk or graph image that another configuration asks for is kept', async (t) => {
  const { mirror, tags, remove, release, platform } = await site(t)
  await mirror({})
  const kept = join(await tempDir(t), 'other.yaml')
  await writeFile(kept, configText('ImageSetConfiguration', { ...platform, graph: true }))
  const { fates } = await remove({ graph: true }, [kept])
  assert.deepEqual([...new Set(fates.map(({ fate }) => fate))], ['kept'])
  assert.equal(fates.length, 1 + 3 + 1 + 1)
  assert.ok((await tags('release')).includes(`${release.tag}-kube-virt-container`))
  assert.deepEqual(await tags('graph-image'), ['latest'])
})
