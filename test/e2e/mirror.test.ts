import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { digestOf, hexOf } from '../../src/oci/digest.ts'
import { blobsOf, childrenOf, parseManifest } from '../../src/oci/manifest.ts'
import { mediaTypes } from '../../src/oci/media-type.ts'
import { releaseSources, type SampleRelease } from '../../src/quickstart/sample-release.ts'
import { startDockerRegistry } from '../../testkit/docker-registry.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { makeImage, makeIndex } from '../../testkit/image.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { snapshotRegistry } from '../../testkit/registry-snapshot.ts'
import { makeRelease } from '../../testkit/release-payload.ts'
import { type ScriptedRegistry, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import {
  blobsOfContent,
  imageSetText,
  releaseName,
  startUpstream,
  type Upstream,
  writeRegistriesConf,
} from '../../testkit/upstream.ts'

function everything(upstream: Upstream): string {
  return imageSetText({ release: releaseName(upstream.release), additional: upstream.additional })
}

/** What must be at the target: `REPOSITORY:TAG` in oc-mirror's names, and the digest. */
function expectedTags({ release, additional, content }: Upstream): Record<string, string> {
  const [signed, signature] = content.find(({ repository }) => repository === 'extra/signed')?.images ?? []
  assert.ok(signed && signature)
  return Object.fromEntries([
    [`ocp/openshift/release-images:${release.tag}`, release.image.digest],
    ...release.components.map(({ name, image }) => [`ocp/openshift/release:${release.tag}-${name}`, image.digest]),
    ...additional.map(({ destination, image }) => [`ocp/${destination}`, image.digest]),
    [`ocp/extra/signed:sha256-${hexOf(signed.digest)}.sig`, signature.digest],
  ])
}

/** Artifacts that hang on another image are under no tag. */
function expectedReferrers({ content }: Upstream): string[] {
  const [, ...referrers] = content.find(({ repository }) => repository === 'extra/subject')?.images ?? []
  assert.equal(referrers.length, 2)
  return referrers.map(({ digest }) => `ocp/extra/subject@${digest}`)
}

/** How often each blob was asked for, by digest. */
function blobReads({ requests }: ScriptedRegistry): Map<string, number> {
  const reads = requests.filter(({ method, path }) => method === 'GET' && /\/blobs\/sha256:/.test(path))
  return new Map([...Map.groupBy(reads, ({ path }) => path.split('/').at(-1) ?? '')].map(([k, v]) => [k, v.length]))
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0)
}

for (const kind of ['embedded', 'docker'] as const) {
  test(`a release and images of every kind arrive byte for byte at the ${kind} registry, under oc-mirror's names`, async (t) => {
    const upstream = await startUpstream(t)
    const target = kind === 'embedded' ? await startEmbeddedRegistry(t) : await startDockerRegistry(t)
    if (!target) return
    const { registriesConf } = upstream
    const result = await runMirror(t, {
      config: everything(upstream),
      target: `docker://${target.address}/ocp`,
      registriesConf,
      workspace: await tempDir(t),
    })
    assert.deepEqual([result.exitStatus, result.failures], [0, []])

    const referrers = expectedReferrers(upstream)
    const snapshot = await snapshotRegistry(`http://${target.address}`, referrers)
    const tags = Object.entries(snapshot).filter(([name]) => /:[^/@ ]+$/.test(name) && !/[@ ]/.test(name))
    // docker-registry has no referrers API: the fallback tag of distribution-spec is there in its place.
    const fallbacks = tags.filter(([name]) => /:sha256-[0-9a-f]{64}$/.test(name) && name.includes('extra/subject'))
    assert.equal(fallbacks.length, kind === 'docker' ? 2 : 0)
    const named = Object.fromEntries(tags.filter((tag) => !fallbacks.includes(tag)))
    assert.deepEqual(named, Object.fromEntries(Object.entries(expectedTags(upstream)).sort()))
    for (const name of referrers) assert.ok(snapshot[name], name)
    for (const [name, digest] of Object.entries(snapshot)) {
      const wanted = /(?:@| blob )(sha256:\w+)$/.exec(name)?.[1]
      if (wanted) assert.ok(digest.endsWith(wanted), `${name} is ${digest}`)
    }
  })
}

test('every unique blob is read once and written once, the payload layer that is looked into included', async (t) => {
  const upstream = await startUpstream(t)
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const { registriesConf } = upstream
  const result = await runMirror(t, {
    config: everything(upstream),
    target: `docker://${target.address}/ocp`,
    registriesConf,
    workspace: await tempDir(t),
  })
  const unique = blobsOfContent(upstream.content)
  const reads = blobReads(upstream.registry)
  assert.deepEqual([...reads.keys()].sort(), [...unique.keys()].sort())
  assert.deepEqual(
    [...reads.values()].filter((count) => count !== 1),
    [],
  )
  const blobWrites = target.requests.filter(
    ({ method, path }) => /^(?:PUT|PATCH)$/.test(method) && path.includes('/blobs/'),
  )
  assert.equal(blobWrites.length, unique.size)
  assert.equal(sum(blobWrites.map(({ bytesIn }) => bytesIn)), sum(unique.values()))
  assert.equal(result.report?.pushedBytes, sum(unique.values()))
  assert.ok((result.report?.mountedBlobs ?? 0) > 0, 'blobs that two repositories share are mounted')
})

test('a tag appears at the target only after everything below it, and an index after its children', async (t) => {
  const upstream = await startUpstream(t)
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const { registriesConf } = upstream
  await runMirror(t, {
    config: everything(upstream),
    target: `docker://${target.address}/ocp`,
    registriesConf,
    workspace: await tempDir(t),
  })
  const there = new Set<string>()
  for (const { method, path } of target.requests) {
    const [, repository = '', kind, name = ''] =
      /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)$/.exec(path.split('?')[0] ?? '') ?? []
    const query = new URL(path, 'http://x').searchParams
    if (method === 'PUT' && path.includes('/blobs/uploads/'))
      there.add(`${path.slice(4).split('/blobs/')[0]} ${query.get('digest')}`)
    if (method === 'POST' && query.has('mount')) there.add(`${path.slice(4).split('/blobs/')[0]} ${query.get('mount')}`)
    if (method !== 'PUT' || kind !== 'manifests') continue
    const digest = target.content.tags.get(`${repository}:${name}`) ?? name
    const stored = target.content.manifests.get(`${repository}@${digest}`)
    assert.ok(stored)
    const manifest = parseManifest(stored.bytes, stored.mediaType, path)
    for (const { digest: needed } of [...childrenOf(manifest), ...blobsOf(manifest)])
      assert.ok(there.has(`${repository} ${needed}`), `${path} came before ${needed}`)
    there.add(`${repository} ${digest}`)
  }
  const puts = target.requests.filter(({ method, path }) => method === 'PUT' && path.includes('/manifests/'))
  const firstTag = puts.findIndex(({ path }) => !path.includes('/sha256:'))
  assert.deepEqual(
    puts.slice(firstTag).filter(({ path }) => path.includes('/sha256:')),
    [],
  )
})

test('a second run asks one question per repository and one per tag, and moves nothing', async (t) => {
  const upstream = await startUpstream(t)
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const { registriesConf } = upstream
  const run = {
    config: everything(upstream),
    target: `docker://${target.address}/ocp`,
    registriesConf,
    workspace: await tempDir(t),
  }
  await runMirror(t, run)
  upstream.registry.requests.length = 0
  target.requests.length = 0
  const again = await runMirror(t, run)
  assert.deepEqual([again.exitStatus, again.report, again.plan.totals.images], [0, undefined, 0])
  assert.equal(again.proven, 1 + upstream.release.components.length + upstream.additional.length)

  const repositories = new Set(Object.keys(expectedTags(upstream)).map((name) => name.split(':')[0]))
  // A new process finds out once how each host is spoken to.
  const isQuestion = ({ path }: { path: string }) => path !== '/v2/'
  assert.ok(target.requests.filter((request) => !isQuestion(request)).length <= 1)
  assert.deepEqual(
    target.requests
      .filter(isQuestion)
      .map(({ method, path }) => `${method} ${path.split('?')[0]}`)
      .sort(),
    [...repositories].map((repository) => `GET /v2/${repository}/tags/list`).sort(),
  )
  const tags = ['extra/single', 'extra/list', 'extra/attested', 'extra/subject', 'deep/er/zstd', releaseSources.images]
  assert.deepEqual(
    upstream.registry.requests
      .filter(isQuestion)
      .map(({ method, path }) => `${method} ${path.split('/manifests/')[0]}`)
      .sort(),
    tags.map((repository) => `HEAD /v2/${repository}`).sort(),
  )
})

test('a tag that moved at its source, and one that was removed from the target, are mirrored again', async (t) => {
  const upstream = await startUpstream(t)
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const { registriesConf } = upstream
  const run = {
    config: everything(upstream),
    target: `docker://${target.address}/ocp`,
    registriesConf,
    workspace: await tempDir(t),
  }
  await runMirror(t, run)
  const moved = makeImage({ seed: 'moved', tag: '1' })
  await pushAll(testClient(t).client, upstream.registry.address, [{ repository: 'extra/single', images: [moved] }])
  target.content.tags.delete('ocp/extra/list:2')
  const again = await runMirror(t, run)
  assert.equal(target.content.tags.get('ocp/extra/single:1'), moved.digest)
  assert.equal(target.content.tags.get('ocp/extra/list:2'), expectedTags(upstream)['ocp/extra/list:2'])
  assert.equal(again.plan.totals.images, 2)
})

test('a dry run moves nothing, writes the mapping alone, and its plan is what the run then does', async (t) => {
  const upstream = await startUpstream(t)
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const { registriesConf } = upstream
  const workspace = await tempDir(t)
  const run = { config: everything(upstream), target: `docker://${target.address}/ocp`, registriesConf, workspace }
  const dry = await runMirror(t, { ...run, request: { isDryRun: true } })
  assert.deepEqual(
    target.requests.filter(({ method }) => !/^(?:GET|HEAD)$/.test(method)),
    [],
  )
  assert.deepEqual(dry.files, [join(workspace, 'working-dir', 'dry-run', 'mapping.txt')])
  assert.ok(!(await readdir(join(workspace, 'working-dir'))).includes('cluster-resources'))
  const mapping = await readFile(dry.files[0] ?? '', 'utf8')
  assert.ok(
    mapping.includes(
      `docker://${releaseName(upstream.release)}=docker://${target.address}/ocp/openshift/release-images:${upstream.release.tag}\n`,
    ),
  )
  assert.equal(dry.plan.totals.bytes, sum(blobsOfContent(upstream.content).values()))

  const real = await runMirror(t, run)
  assert.deepEqual(real.plan, dry.plan)
  assert.equal(sum(blobReads(upstream.registry).values()), blobsOfContent(upstream.content).size)
})

test('cluster resources name every source once, and keep what an earlier run wrote', async (t) => {
  const upstream = await startUpstream(t)
  const target = await startEmbeddedRegistry(t)
  const { registriesConf, additional } = upstream
  const workspace = await tempDir(t)
  const base = { target: `docker://${target.address}/ocp`, registriesConf, workspace }
  await runMirror(t, { ...base, config: imageSetText({ release: releaseName(upstream.release) }) })
  const resources = join(workspace, 'working-dir', 'cluster-resources')
  const first = await readFile(join(resources, 'idms-oc-mirror.yaml'), 'utf8')
  const { files } = await runMirror(t, { ...base, config: imageSetText({ additional }), request: { icsp: true } })
  assert.deepEqual((await readdir(resources)).sort(), [
    'idms-oc-mirror.yaml',
    'imageContentSourcePolicy.yaml',
    'itms-oc-mirror.yaml',
  ])
  assert.equal(files.length, 3)
  const idms = await readFile(join(resources, 'idms-oc-mirror.yaml'), 'utf8')
  assert.ok(idms.endsWith(first), 'the release set of the first run is kept')
  assert.match(idms, /name: idms-generic-0/)
  assert.match(first, /source: quay\.io\/openshift-release-dev\/ocp-v4\.0-art-dev\n/)
  assert.match(first, new RegExp(`- ${target.address}/ocp/openshift/release\\n`))
  await runMirror(t, { ...base, config: everything(upstream) })
  assert.equal(await readFile(join(resources, 'idms-oc-mirror.yaml'), 'utf8'), idms, 'the same again changes nothing')
})

test('images that blockedImages names are left out, and said to be', async (t) => {
  const upstream = await startUpstream(t)
  const target = await startEmbeddedRegistry(t)
  const { registriesConf, additional } = upstream
  const config = imageSetText({ additional, blocked: ['extra/s.*:', '/zstd'] })
  const result = await runMirror(t, {
    config,
    target: `docker://${target.address}`,
    registriesConf,
    workspace: await tempDir(t),
  })
  assert.deepEqual(result.blocked.map(({ source }) => source.repository).sort(), [
    'deep/er/zstd',
    'extra/signed',
    'extra/single',
    'extra/single',
    'extra/subject',
  ])
  const snapshot = await snapshotRegistry(target.url)
  const repositories = new Set(Object.keys(snapshot).map((name) => name.split(/[@: ]/)[0]))
  assert.deepEqual([...repositories], ['extra/attested', 'extra/list'])
})

test('a release named by digest is tagged with the hex of it, as oc-mirror does', async (t) => {
  const upstream = await startUpstream(t, { images: { content: [], additional: [] } })
  const target = await startEmbeddedRegistry(t)
  const { release, registriesConf } = upstream
  const { digest } = release.image
  const config = imageSetText({ release: `${releaseSources.registry}/${releaseSources.images}@${digest}` })
  await runMirror(t, { config, target: `docker://${target.address}`, registriesConf, workspace: await tempDir(t) })
  const snapshot = await snapshotRegistry(target.url)
  assert.equal(snapshot[`openshift/release-images:${hexOf(digest)}`], digest)
  const [component] = release.components
  assert.equal(snapshot[`openshift/release:${hexOf(digest)}-${component?.name}`], component?.image.digest)
})

test('blobs that are named by sha512 arrive under sha512', async (t) => {
  const source = await startEmbeddedRegistry(t)
  const target = await startEmbeddedRegistry(t)
  const { client } = testClient(t)
  const at = { registry: source.address, repository: 'extra/long' }
  const bytes = Buffer.from('a layer')
  const layer = { mediaType: mediaTypes.ociLayerTar, digest: digestOf(bytes, 'sha512'), size: bytes.byteLength }
  const config = { mediaType: mediaTypes.ociConfig, digest: digestOf('{}', 'sha512'), size: 2 }
  for (const [blob, content] of [
    [layer, bytes],
    [config, Buffer.from('{}')],
  ] as const)
    await client.pushBlob(at, blob, async function* () {
      yield content
    })
  const mediaType = mediaTypes.ociManifest
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, config, layers: [layer] }))
  const digest = digestOf(manifest)
  const descriptor = { mediaType, digest, size: manifest.byteLength }
  await client.pushManifest({ ...at, digest }, { descriptor, bytes: manifest })
  const result = await runMirror(t, {
    config: imageSetText({ additional: [{ name: `quay.io/extra/long@${digest}` }] }),
    target: `docker://${target.address}`,
    registriesConf: await writeRegistriesConf(t, source.address),
    workspace: await tempDir(t),
  })
  assert.deepEqual(result.failures, [])
  for (const path of [`manifests/${digest}`, `blobs/${layer.digest}`, `blobs/${config.digest}`])
    assert.equal((await fetch(`${target.url}/v2/extra/long/${path}`)).status, 200, path)
})

test('of a release that is an index, the components of every architecture arrive', async (t) => {
  const releases = ['amd64', 'arm64'].map((architecture) =>
    makeRelease({ architecture, seed: architecture, components: 3 }),
  )
  const index = makeIndex({ children: releases.map(({ image }) => withoutTag(image)), tag: '4.18.9-multi' })
  const content = [
    { repository: releaseSources.components, images: releases.flatMap(componentsOf) },
    { repository: releaseSources.images, images: [index] },
  ]
  const source = await startEmbeddedRegistry(t)
  await pushAll(testClient(t).client, source.address, content)
  const target = await startEmbeddedRegistry(t)
  const result = await runMirror(t, {
    config: imageSetText({ release: `${releaseSources.registry}/${releaseSources.images}:4.18.9-multi` }),
    target: `docker://${target.address}`,
    registriesConf: await writeRegistriesConf(t, source.address),
    workspace: await tempDir(t),
  })
  assert.deepEqual(result.failures, [])
  const digests = new Set(Object.values(await snapshotRegistry(target.url)))
  for (const { digest } of releases.flatMap(componentsOf)) assert.ok(digests.has(digest), digest)
  assert.ok(digests.has(index.digest))
})

function componentsOf({ components }: SampleRelease) {
  return components.map(({ image }) => image)
}

function withoutTag(image: SampleRelease['image']): SampleRelease['image'] {
  return { ...image, manifests: image.manifests.map(({ tag: _, ...manifest }) => manifest) }
}
