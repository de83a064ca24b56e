import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { GeneratedDeletion } from '../../src/flows/delete-generate.ts'
import { releaseSources, type SampleRelease } from '../../src/quickstart/sample-release.ts'
import { startClusterApi } from '../../testkit/cluster-api.ts'
import { deleteSetText, runGenerate, runListed } from '../../testkit/delete-run.ts'
import { type MirroredSite, mirroredSite } from '../../testkit/mirrored-site.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { imageSetText, releaseName } from '../../testkit/upstream.ts'

/** By `REPOSITORY:TAG` below the target: what happens to it, and the reason. */
function fatesOf({ fates }: Pick<GeneratedDeletion, 'fates'>): Record<string, string> {
  return Object.fromEntries(
    fates.map((one) => [
      one.item.item.imageReference.replace(/^docker:\/\/[^/]+\/ocp\//, ''),
      'why' in one ? `${one.fate}: ${one.why}` : one.fate,
    ]),
  )
}

async function scene(t: TestContext) {
  const site = await mirroredSite(t, 'embedded')
  assert.ok(site)
  const directory = await tempDir(t)
  const write = async (name: string, text: string) => {
    const path = join(directory, name)
    await writeFile(path, text)
    return path
  }
  const everything = deleteSetText({
    release: releaseName(site.upstream.release),
    additional: site.upstream.additional,
  })
  return { site, write, everything }
}

function releasePullspec({ image }: SampleRelease): string {
  return `${releaseSources.registry}/${releaseSources.images}@${image.digest}`
}

/** Carries the list out, and gives what is left of the additional images. */
async function left(t: TestContext, { at, tags }: MirroredSite, list: string): Promise<string[]> {
  await runListed(t, { ...at, list })
  const found: string[] = []
  for (const repository of [
    'extra/single',
    'extra/list',
    'extra/attested',
    'extra/signed',
    'extra/subject',
    'deep/er/zstd',
  ])
    for (const tag of await tags(repository)) found.push(`${repository}:${tag}`)
  return found
}

test('what another configuration selects at this target stays, under its own names', async (t) => {
  const { site, write, everything } = await scene(t)
  const { upstream, at } = site
  const additional = upstream.additional.filter(({ name }) => /list|zstd/.test(name))
  const isc = await write('other-isc.yaml', imageSetText({ additional }))
  const result = await runGenerate(t, { ...at, config: everything, keepFor: [isc] })
  const fates = fatesOf(result)
  assert.match(
    fates['extra/list:2'] ?? '',
    /^kept: in use by .*other-isc\.yaml \(additionalImages docker:\/\/quay\.io\/extra\/list:2\)/,
  )
  assert.match(fates['deep/er/zstd:5'] ?? '', /^kept/)
  assert.equal(fates['extra/signed:3'], 'deleted')
  const list = await readFile(result.files[0] ?? '', 'utf8')
  assert.ok(!list.includes('extra/list') && list.includes('extra/signed'), 'what is kept is not in the list')
  const names = await left(t, site, result.files[0] ?? '')
  assert.ok(
    names.includes('extra/list:2') && names.includes('deep/er/zstd:5') && !names.includes('extra/attested:latest'),
  )
  assert.deepEqual((await site.verify()).findings, [])
})

test('the release that a cluster runs keeps its components, also those that the release to be deleted shares with it', async (t) => {
  const { site, write, everything } = await scene(t)
  const { upstream, newer, at } = site
  const version = (release: SampleRelease) => ({
    kind: 'ClusterVersion',
    metadata: { name: 'version' },
    status: { desired: { image: releasePullspec(release) }, history: [{ image: releasePullspec(release) }] },
  })
  const running = await write('old.json', JSON.stringify(version(upstream.release)))
  const kept = fatesOf(await runGenerate(t, { ...at, config: everything, keepFor: [running] }))
  const own = upstream.release.components.filter(
    ({ image }) => !newer.components.some((one) => one.image.digest === image.digest),
  )
  for (const { name } of own)
    assert.match(
      kept[`openshift/release:4.18.9-x86_64-${name}`] ?? '',
      /^kept: in use by ClusterVersion version .*component of release 4\.18\.9/,
    )
  assert.match(kept['openshift/release-images:4.18.9-x86_64'] ?? '', /^kept: in use by ClusterVersion/)
  assert.equal(kept['extra/list:2'], 'deleted')

  const other = await write('new.json', JSON.stringify(version(newer)))
  const result = await runGenerate(t, { ...at, config: everything, keepFor: [other] })
  assert.equal(fatesOf(result)['openshift/release-images:4.18.9-x86_64'], 'deleted')
  await runListed(t, { ...at, list: result.files[0] ?? '', keepFor: [other] })
  assert.deepEqual((await site.verify()).findings, [])
})

test('images of pods and nodes stay, by whatever name the cluster has them; the second phase looks again', async (t) => {
  const { site, write, everything } = await scene(t)
  const { upstream, at, address } = site
  const find = (destination: string) => {
    const found = upstream.additional.find((one) => one.destination === destination)
    assert.ok(found)
    return found.image
  }
  const [, arm] = find('extra/list:2').manifests
  const pods = {
    kind: 'List',
    items: [
      { kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ image: `${address}/ocp/extra/signed:3` }] } },
      { kind: 'Pod', metadata: { name: 'q' }, spec: { containers: [{ image: 'quay.io/deep/er/zstd:5' }] } },
      {
        kind: 'Node',
        metadata: { name: 'n' },
        status: { images: [{ names: [`quay.io/extra/list@${arm?.descriptor.digest}`] }] },
      },
    ],
  }
  const file = await write('cluster.json', JSON.stringify(pods))
  const without = await runGenerate(t, { ...at, config: everything })
  const fates = fatesOf(await runGenerate(t, { ...at, config: everything, keepFor: [file], id: 'kept' }))
  assert.match(fates['extra/signed:3'] ?? '', /^kept: in use by Pod p/)
  assert.match(fates['deep/er/zstd:5'] ?? '', /^kept: in use by Pod q/)
  assert.match(fates['extra/list:2'] ?? '', /^kept: in use by Node n .* \(it holds sha256:/)
  assert.equal(fates['extra/attested:latest'], 'deleted')
  const result = await runListed(t, { ...at, list: without.files[0] ?? '', keepFor: [file] })
  assert.match(fatesOf(result)['extra/signed:3'] ?? '', /^kept: in use by Pod p/)
  const names = await left(t, site, (await write('none.yaml', 'kind: DeleteImageList')) ?? '')
  assert.deepEqual(
    names.filter((name) => !name.endsWith('.sig')),
    ['extra/list:2', 'extra/signed:3', 'deep/er/zstd:5'],
  )
})

test('a cluster is asked itself, page by page and only by GET, and one that does not answer in full stops everything', async (t) => {
  const { site, everything } = await scene(t)
  const { at, upstream } = site
  const pods = upstream.additional.map(({ name }) => ({
    metadata: { namespace: 'shop', name: 'web' },
    spec: { containers: [{ image: name.replace('docker://', '') }] },
  }))
  const lists = { '/api/v1/pods': pods, '/api/v1/nodes': [] }
  const api = await startClusterApi(t, { lists })
  const fates = fatesOf(await runGenerate(t, { ...at, config: everything, keepFor: [`kubeconfig:${api.kubeconfig}`] }))
  for (const { destination } of upstream.additional)
    assert.match(fates[destination] ?? '', /^kept: in use by Pod shop\/web/, destination)
  assert.ok(api.requests.every((request) => request.startsWith('GET ')))
  const closed = await startClusterApi(t, { lists, forbidden: ['/api/v1/nodes'] })
  const keepFor = [`kubeconfig:${closed.kubeconfig}`]
  await assert.rejects(runGenerate(t, { ...at, config: everything, keepFor }), { code: 'CLUSTER_UNREADABLE' })
})

test('where the components of a release in use are not known, no image of any release is deleted', async (t) => {
  const { site, write, everything } = await scene(t)
  const unknown = `quay.io/openshift-release-dev/ocp-release@sha256:${'1'.repeat(64)}`
  const version = { kind: 'ClusterVersion', metadata: { name: 'version' }, status: { desired: { image: unknown } } }
  const running = await write('cv.json', JSON.stringify(version))
  const fates = fatesOf(await runGenerate(t, { ...site.at, config: everything, keepFor: [running] }))
  for (const [name, fate] of Object.entries(fates))
    if (name.startsWith('openshift/'))
      assert.match(fate, /components are not known here: no image of any release/, name)
  assert.equal(fates['extra/list:2'], 'deleted')
})

test('a release that a cluster ran once may go, also where its history goes back further than anybody knows', async (t) => {
  const { site, write, everything } = await scene(t)
  const history = [
    releasePullspec(site.newer),
    releasePullspec(site.upstream.release),
    `quay.io/openshift-release-dev/ocp-release@sha256:${'1'.repeat(64)}`,
  ].map((image) => ({ state: 'Completed', image }))
  const version = { kind: 'ClusterVersion', metadata: { name: 'version' }, status: { history } }
  const keepFor = [await write('cv.json', JSON.stringify(version))]
  const result = await runGenerate(t, { ...site.at, config: everything, keepFor })
  assert.equal(fatesOf(result)['openshift/release-images:4.18.9-x86_64'], 'deleted')
  await runListed(t, { ...site.at, list: result.files[0] ?? '', keepFor })
  assert.deepEqual((await site.verify()).findings, [])
  // A node has images of it for a while.
  const names = [`quay.io/openshift-release-dev/ocp-release@sha256:${'2'.repeat(64)}`]
  const node = { kind: 'Node', metadata: { name: 'n' }, status: { images: [{ names }] } }
  const cached = [await write('node.json', JSON.stringify({ kind: 'List', items: [version, node] }))]
  const newest = deleteSetText({ additional: site.upstream.additional, release: releaseName(site.newer) })
  const allowed = fatesOf(await runGenerate(t, { ...site.at, config: newest, keepFor: cached }))
  assert.match(allowed['openshift/release-images:4.18.10-x86_64'] ?? '', /^kept: in use by ClusterVersion version/)
  // Until an update is completed, the release before it runs in parts.
  const updating = {
    ...version,
    status: { history: history.with(0, { state: 'Partial', image: history[0]?.image ?? '' }) },
  }
  await site.mirror(imageSetText({ release: releaseName(site.upstream.release) }))
  const during = [await write('during.json', JSON.stringify(updating))]
  const fates = fatesOf(await runGenerate(t, { ...site.at, config: everything, keepFor: during }))
  assert.match(fates['openshift/release-images:4.18.9-x86_64'] ?? '', /^kept: in use by ClusterVersion version/)
})

test('the components of a release are told by the target where the workspace was lost', async (t) => {
  const { site, write, everything } = await scene(t)
  const { at, upstream } = site
  await rm(join(at.workspace, 'working-dir', 'sallyport'), { recursive: true })
  await rm(join(at.workspace, 'working-dir', 'hold-release'), { recursive: true })
  const list = await write('images.txt', `# in use\n${releasePullspec(upstream.release)}\n`)
  const result = await runGenerate(t, { ...at, config: everything, keepFor: [list] })
  const fates = fatesOf(result)
  const components = Object.entries(fates).filter(([name]) => name.startsWith('openshift/release:'))
  assert.equal(components.length, upstream.release.components.length)
  assert.ok(components.every(([, fate]) => /^(?:kept|untagged)/.test(fate)))
})

test('what is given to be kept for and names no image, or says what to delete, is refused', async (t) => {
  const { site, write, everything } = await scene(t)
  const isc = {
    kind: 'ImageSetConfiguration',
    apiVersion: 'mirror.openshift.io/v2alpha1',
    mirror: { operators: [{ catalog: 'registry.redhat.io/redhat/redhat-operator-index:v4.18' }] },
  }
  const refusals: [string, string, RegExp][] = [
    ['empty.txt', '# nothing\n', /names no image/],
    ['pods.json', '{"kind": "List", "items": []}', /names no image/],
    ['disc.yaml', everything, /is a DeleteImageSetConfiguration: it says what to delete/],
    [
      'operators.yaml',
      JSON.stringify(isc, null, 1),
      /selects images that are not known here: nothing of the class operator was mirrored/,
    ],
    ['wrong.txt', 'quay.io/UPPER:1\n', /not an image reference/],
  ]
  for (const [name, text, message] of refusals) {
    const keepFor = [await write(name, text)]
    await assert.rejects(runGenerate(t, { ...site.at, config: everything, keepFor }), message, name)
  }
})
