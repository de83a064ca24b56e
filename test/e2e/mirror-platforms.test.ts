/** Single platforms of images with several: the index as it is, with the wanted children only. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseImageSetConfiguration } from '../../src/config/image-set-configuration.ts'
import { diskToMirror } from '../../src/flows/disk-to-mirror.ts'
import { mirrorToDisk } from '../../src/flows/mirror-to-disk.ts'
import { verifyMirrored } from '../../src/flows/verify.ts'
import { parseMirrorTarget } from '../../src/mirror/destination.ts'
import { planMirror } from '../../src/mirror/plan.ts'
import { parsePlan, planLines } from '../../src/mirror/plan-file.ts'
import { resolvedImagesOf } from '../../src/mirror/planned-images.ts'
import { workspaceAt } from '../../src/mirror/workspace.ts'
import { digestOf } from '../../src/oci/digest.ts'
import type { SampleImage } from '../../src/quickstart/sample-image.ts'
import { releaseSources } from '../../src/quickstart/sample-release.ts'
import { parseRegistriesConf } from '../../src/registries/parse.ts'
import { withRegistriesConf } from '../../src/remote/registries-conf-source.ts'
import { runGenerate, runListed } from '../../testkit/delete-run.ts'
import { startDockerRegistry } from '../../testkit/docker-registry.ts'
import { FakeClock } from '../../testkit/fake-clock.ts'
import { makeAttestation, makeImage, makeIndex, makeMultiArch } from '../../testkit/image.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { makeRelease } from '../../testkit/release-payload.ts'
import { pushAll, releaseContent } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { testRegistry } from '../../testkit/test-registry.ts'
import { startUpstream } from '../../testkit/upstream.ts'

const amd64 = { os: 'linux', architecture: 'amd64' }
const arm64 = { os: 'linux', architecture: 'arm64' }
type Platforms = readonly (typeof amd64)[]

const listed = makeMultiArch({ seed: 'listed', architectures: ['amd64', 'arm64', 's390x'], tag: '1' })
const only = makeIndex({ children: [makeImage({ seed: 'only', platform: arm64 })], tag: '1' })

function configText(platforms?: Platforms): string {
  const additionalImages = ['listed', 'only'].map((name) => ({
    name: `quay.io/team/${name}:1`,
    ...(platforms && { platforms }),
  }))
  const kind = 'ImageSetConfiguration'
  return JSON.stringify({ kind, apiVersion: 'mirror.openshift.io/v2alpha1', mirror: { additionalImages } })
}

async function upstreamWith(t: TestContext) {
  const content = [
    { repository: 'team/listed', images: [listed] },
    { repository: 'team/only', images: [only] },
  ]
  return startUpstream(t, { release: { components: 1 }, images: { content, additional: [] } })
}

async function site(t: TestContext, address: string) {
  const { registriesConf } = await upstreamWith(t)
  const at = { target: `docker://${address}/ocp`, workspace: await tempDir(t) }
  const { client } = testClient(t)
  const mirror = (platforms?: Platforms) => runMirror(t, { ...at, registriesConf, config: configText(platforms) })
  const verify = async () => {
    const options = { registry: client, signal: new AbortController().signal, deep: true }
    return (await verifyMirrored(workspaceAt(at.workspace, '/'), undefined, options)).report.findings
  }
  return { mirror, verify, there: (image: SampleImage) => platformsAt(t, `${address}/ocp/team/listed`, image) }
}

/** The architectures of an index whose images are there; undefined where the index is not. */
async function platformsAt(t: TestContext, place: string, image: SampleImage) {
  const { client } = testClient(t)
  const [registry = '', ...path] = place.split('/')
  const repository = path.join('/')
  const root = await client.fetchManifest({ registry, repository, tag: '1' })
  if (!root) return undefined
  assert.equal(digestOf(root.bytes), image.digest)
  const children = image.manifests.slice(0, -1)
  const found = await Promise.all(
    children.map(({ descriptor }) => client.resolve({ registry, repository, digest: descriptor.digest })),
  )
  const { manifests } = JSON.parse(Buffer.from(root.bytes).toString('utf8'))
  return manifests.flatMap(({ platform }: { platform: typeof amd64 }, index: number) =>
    found[index] ? [platform.architecture] : [],
  )
}

test('the index keeps its digest, and has the wanted platforms only; that is whole, until others are wanted', async (t) => {
  const { mirror, verify, there } = await site(t, (await testRegistry(t)).address)
  const first = await mirror([amd64])
  assert.equal(first.exitStatus, 0)
  assert.deepEqual(await there(listed), ['amd64'])
  assert.deepEqual(await verify(), [])
  const again = await mirror([amd64])
  assert.deepEqual([again.proven, again.plan.totals.manifests], [2, 0])

  assert.equal((await mirror([amd64, arm64])).exitStatus, 0)
  assert.deepEqual(await there(listed), ['amd64', 'arm64'])
  assert.deepEqual(await verify(), [])
  // Fewer than are there already: nothing to do.
  assert.equal((await mirror([arm64])).plan.totals.manifests, 0)
  assert.equal((await mirror()).exitStatus, 0)
  assert.deepEqual(await there(listed), ['amd64', 'arm64', 's390x'])
  assert.deepEqual(await verify(), [])
})

test('an image that is not there for any wanted platform comes whole', async (t) => {
  const { address } = await testRegistry(t)
  const { mirror } = await site(t, address)
  assert.equal((await mirror([amd64])).exitStatus, 0)
  assert.deepEqual(await platformsAt(t, `${address}/ocp/team/only`, only), ['arm64'])
})

test('what of a sparse index is lost at the target is found, and brought again', async (t) => {
  const { address } = await testRegistry(t)
  const { mirror, verify } = await site(t, address)
  await mirror([amd64])
  const [child] = listed.manifests
  assert.ok(child)
  await testClient(t).client.deleteManifest({
    registry: address,
    repository: 'ocp/team/listed',
    digest: child.descriptor.digest,
  })
  assert.deepEqual(
    (await verify()).map(({ id }) => id),
    ['mirror.manifest-missing'],
  )
  await mirror([amd64])
  assert.deepEqual(await verify(), [])
})

for (const [name, start] of [
  ['sallyport', async (t: TestContext) => testRegistry(t, { sparseIndex: 'refuse' })],
  ['docker-registry', startDockerRegistry],
] as const) {
  test(`a registry that refuses such an index is told, with what would help (${name})`, async (t) => {
    const registry = await start(t)
    if (!registry) return
    const { mirror, there } = await site(t, registry.address)
    const { failures, exitStatus } = await mirror([amd64])
    assert.deepEqual(
      failures.map(({ error, image }) => [error.code, image.destination.repository]),
      [['REGISTRY_SPARSE_REFUSED', 'ocp/team/listed']],
    )
    assert.match(failures[0]?.error.hint ?? '', /Take platforms out of the configuration.*FEATURE_SPARSE_INDEX/)
    assert.equal(exitStatus, 8)
    assert.equal(await there(listed), undefined)
    assert.equal((await mirror()).exitStatus, 0)
    assert.deepEqual(await there(listed), ['amd64', 'arm64', 's390x'])
  })
}

test('a plan of single platforms is written, read and carried out as it is', async (t) => {
  const { mirror } = await site(t, (await testRegistry(t)).address)
  const { plan } = await mirror([amd64])
  const read = parsePlan([...planLines(plan)].join(''), 'plan.json')
  assert.deepEqual(read, plan)
  assert.ok(read.manifests.some(({ isSparse }) => isSparse))
  assert.deepEqual(
    read.images.map(({ platforms }) => platforms),
    [['linux/amd64'], ['linux/amd64']],
  )
  assert.deepEqual(
    planMirror(read.target, resolvedImagesOf(read), () => false),
    plan,
  )
})

test('attestations of the wanted platforms come with them', async (t) => {
  const children = [makeImage({ seed: 'x', platform: amd64 }), makeImage({ seed: 'y', platform: arm64 })]
  const index = makeIndex({ children: [...children, ...children.map(makeAttestation)], tag: '1' })
  const content = [
    { repository: 'team/listed', images: [index] },
    { repository: 'team/only', images: [only] },
  ]
  const { registriesConf } = await startUpstream(t, { release: { components: 1 }, images: { content, additional: [] } })
  const { address } = await testRegistry(t)
  const at = { target: `docker://${address}/ocp`, workspace: await tempDir(t) }
  const { exitStatus } = await runMirror(t, { ...at, registriesConf, config: configText([arm64]) })
  assert.equal(exitStatus, 0)
  const { client } = testClient(t)
  const repository = { registry: address, repository: 'ocp/team/listed' }
  const found = await Promise.all(
    index.manifests.map(({ descriptor }) => client.resolve({ ...repository, digest: descriptor.digest })),
  )
  assert.deepEqual(
    found.map((one) => one !== undefined),
    [false, true, false, true, true],
  )
})

test('a release for several architectures, with one of them: mirrored, and deleted without its source', async (t) => {
  const { registry, registriesConf, release: amd } = await upstreamWith(t)
  const arm = makeRelease({ seed: 'arm', components: 2, architecture: 'arm64' })
  const both = makeIndex({ children: [amd.image, arm.image], tag: '4.18.9-multi' })
  const { client } = testClient(t)
  await pushAll(client, registry.address, [
    ...releaseContent(arm),
    { repository: releaseSources.images, images: [both] },
  ])
  const target = await testRegistry(t)
  const platform = { release: `${releaseSources.registry}/${releaseSources.images}:4.18.9-multi` }
  const config = (kind: string, section: object) =>
    JSON.stringify({ kind, apiVersion: 'mirror.openshift.io/v2alpha1', ...section })
  const at = { target: `docker://${target.address}/ocp`, workspace: await tempDir(t) }
  const wanted = config('ImageSetConfiguration', { mirror: { platform: { ...platform, platforms: [amd64] } } })
  const { exitStatus } = await runMirror(t, { ...at, registriesConf, config: wanted })
  assert.equal(exitStatus, 0)
  const images = { registry: target.address, repository: 'ocp/openshift/release-images' }
  assert.equal((await client.resolve({ ...images, tag: '4.18.9-multi' }))?.digest, both.digest)
  assert.equal(await client.resolve({ ...images, digest: arm.image.digest }), undefined)

  const other = { ...at, workspace: await tempDir(t) }
  const unwanted = config('DeleteImageSetConfiguration', { delete: { platform } })
  const { files, failures } = await runGenerate(t, { ...other, config: unwanted })
  assert.deepEqual(failures, [])
  await runListed(t, { ...other, list: files[0] ?? '' })
  assert.deepEqual((await client.tags(images)) ?? [], [])
})

test('an archive carries the wanted platforms, and further ones when they are asked for', async (t) => {
  const { registriesConf } = await upstreamWith(t)
  const conf = parseRegistriesConf(await readFile(registriesConf, 'utf8'), 'registries.conf')
  const { client } = testClient(t)
  const { address } = await testRegistry(t)
  const directory = await tempDir(t)
  const connected = workspaceAt(join(await tempDir(t), 'connected'), '/')
  const closed = workspaceAt(join(await tempDir(t), 'closed'), '/')
  const common = { signal: new AbortController().signal, onEvent: () => undefined, clock: new FakeClock() }
  const carry = async (platforms?: Platforms) => {
    const configuration = configText(platforms)
    const config = parseImageSetConfiguration({ file: 'isc.yaml', text: configuration })
    const source = withRegistriesConf(client, conf)
    const written = await mirrorToDisk({
      ...{ ...common, config, configuration, directory, source, workspace: connected },
      ...{ volumeBytes: 512 * 4096, base: {} },
    })
    const target = parseMirrorTarget(`docker://${address}/ocp`)
    await diskToMirror({ ...common, directory, workspace: closed, registry: client, target })
    return written
  }
  const first = await carry([amd64])
  assert.equal(first.exitStatus, 0)
  assert.deepEqual(await platformsAt(t, `${address}/ocp/team/listed`, listed), ['amd64'])
  assert.equal((await carry([amd64])).archive, undefined)
  const second = await carry()
  assert.equal(second.archive?.record.kind, 'increment')
  assert.deepEqual(await platformsAt(t, `${address}/ocp/team/listed`, listed), ['amd64', 'arm64', 's390x'])
})
