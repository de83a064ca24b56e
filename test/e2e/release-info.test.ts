/** `sallyport release info` as a process: at a registry, at a mirror, in archives; whole and with faults. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tarFile } from '../../src/archive/tar/ustar.ts'
import { sampleImage } from '../../src/quickstart/sample-image.ts'
import { sampleLayer } from '../../src/quickstart/sample-layer.ts'
import { releaseSources, type SampleRelease } from '../../src/quickstart/sample-release.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { makeImage } from '../../testkit/image.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { makeMultiRelease } from '../../testkit/multi-release.ts'
import { makeRelease } from '../../testkit/release-payload.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { pushAll, releaseContent } from '../../testkit/seed.ts'
import { makeLayer } from '../../testkit/tar.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { blobsOfContent, imageSetText, releaseName, startUpstream, type Upstream } from '../../testkit/upstream.ts'

const nothing = { content: [], additional: [] }
const components = ['cli', 'cluster-bootstrap', 'coredns', 'etcd', 'hyperkube', 'pod', 'rhel-coreos']

interface Document {
  readonly version: string
  readonly digest: string
  readonly architectures: readonly string[]
  readonly origin: string
  readonly created: string
  readonly versions: readonly { name: string; version: string }[]
  readonly metadata: { previous: readonly string[] }
  readonly sizes: { unique: number; shared: number; unknown: number }
  readonly components: readonly {
    readonly name: string
    readonly reference: string
    readonly digest: string
    readonly place?: string
    readonly bytes?: number
    readonly isForBootstrap: boolean
    readonly problem?: { readonly code: string; readonly message: string }
  }[]
}

function start(t: TestContext, release: Parameters<typeof makeRelease>[0] = {}): Promise<Upstream> {
  return startUpstream(t, { release: { components, ...release }, images: nothing })
}

function info({ registriesConf }: Pick<Upstream, 'registriesConf'>, ...args: readonly string[]) {
  return runCli(['release', 'info', '--registries-conf', registriesConf, '--retry-times', '0', ...args])
}

async function documentOf(upstream: Pick<Upstream, 'registriesConf'>, ...args: readonly string[]): Promise<Document> {
  const { stdout, stderr } = await info(upstream, '--json', ...args)
  assert.ok(stdout.startsWith('{"name"'), `${stdout}${stderr}`)
  return JSON.parse(stdout) as Document
}

/** A registries.conf of a closed side: quay.io leads nowhere. */
async function closedConf(t: TestContext): Promise<{ registriesConf: string }> {
  const registriesConf = join(await tempDir(t), 'registries.conf')
  await writeFile(registriesConf, '[[registry]]\nprefix = "quay.io"\nlocation = "127.0.0.1:9"\ninsecure = true\n')
  return { registriesConf }
}

test('a release named by its version alone: what it is, what leads to it, what it is made of, and what that weighs', async (t) => {
  const upstream = await start(t)
  const found = await documentOf(upstream, '4.18.9')
  assert.equal(found.digest, upstream.release.image.digest)
  assert.deepEqual([found.version, found.architectures, found.created], ['4.18.9', ['amd64'], '2024-01-01T00:00:00Z'])
  assert.deepEqual(found.metadata.previous.slice(-2), ['4.18.7', '4.18.8'])
  assert.deepEqual(
    found.versions.map(({ name, version }) => [name, version]),
    [
      ['kubernetes', '1.31.9'],
      ['machine-os', '418.94.202401010009-0'],
    ],
  )
  assert.deepEqual(
    found.components.map(({ name, digest }) => [name, digest]),
    upstream.release.components.map(({ name, image }) => [name, image.digest]),
  )
  const blobs = blobsOfContent(releaseContent(upstream.release))
  assert.equal(
    found.sizes.unique,
    [...blobs.values()].reduce((sum, size) => sum + size, 0),
  )
  assert.equal(found.sizes.unknown, 0)
})

test('of the release image no layer below the payload is read, and each manifest is asked for once', async (t) => {
  const upstream = await start(t)
  const { status } = await info(upstream, '4.18.9')
  assert.equal(status, 0)
  const asked = upstream.registry.requests.filter(({ path }) => path !== '/v2/').map(({ path }) => path)
  assert.equal(new Set(asked).size, asked.length)
  assert.equal(asked.filter((path) => path.includes('/manifests/')).length, components.length + 1)
  // The payload layer and the config.
  assert.equal(asked.filter((path) => path.includes('/blobs/')).length, 2)
})

test('pullspecs come from the payload alone: no component is asked for', async (t) => {
  const upstream = await start(t)
  const cli = upstream.release.components.find(({ name }) => name === 'cli')?.image.digest
  const one = await info(upstream, '4.18.9', '--image', 'cli')
  assert.equal(one.stdout, `quay.io/openshift-release-dev/ocp-v4.0-art-dev@${cli}\n`)
  assert.equal((await info(upstream, '--image-for=cli', '4.18.9')).stdout, one.stdout)
  const all = await info(upstream, '4.18.9', '--pullspecs')
  assert.match(all.stdout, new RegExp(`^ {2}cli +quay.io/openshift-release-dev/ocp-v4.0-art-dev@${cli}$`, 'm'))
  assert.ok(!upstream.registry.requests.some(({ path }) => path.includes(releaseSources.components)))
  const none = await info(upstream, '4.18.9', '--image', 'clii')
  assert.deepEqual([none.status, /Release 4\.18\.9 has no component "clii"/.test(none.stderr)], [64, true])
})

test('for people: head, upgrade edges in runs, and a table that marks what the bootstrap host pulls', async (t) => {
  const upstream = await start(t)
  const { stdout } = await info(upstream, '4.18.9')
  const lines = stdout.split('\n')
  assert.equal(lines[0], 'Release 4.18.9 for linux/amd64')
  assert.ok(lines.includes('  4.18  4.18.6 to 4.18.8'), stdout)
  assert.ok(lines.includes('  errata      https://errata.example.com/4.18.9'), stdout)
  const marked = lines.filter((line) => line.startsWith('* ')).map((line) => line.split(/\s+/)[1])
  assert.deepEqual(marked, ['cluster-bootstrap', 'etcd', 'hyperkube', 'pod'])
  upstream.registry.requests.length = 0
  const bootstrap = await info(upstream, '4.18.9', '--bootstrap', '--platform', 'vsphere')
  // The release image and the five that are printed.
  assert.equal(upstream.registry.requests.filter(({ path }) => path.includes('/manifests/')).length, 6)
  assert.match(bootstrap.stdout, /^The bootstrap host pulls 6 images: the release image itself and\n/)
  assert.match(bootstrap.stdout, /^\* coredns /m)
  assert.doesNotMatch(bootstrap.stdout, /rhel-coreos/)
})

test('a release at a mirror is found there whole, though the payload names quay.io', async (t) => {
  const upstream = await start(t)
  const mirror = await startEmbeddedRegistry(t)
  const mirrored = await runMirror(t, {
    config: imageSetText({ release: releaseName(upstream.release) }),
    target: `docker://${mirror.address}/ocp`,
    workspace: await tempDir(t),
    registriesConf: upstream.registriesConf,
  })
  assert.equal(mirrored.exitStatus, 0)
  const closed = await closedConf(t)
  const name = `${mirror.address}/ocp/openshift/release-images:4.18.9-x86_64`
  const there = await documentOf(closed, name, '--src-tls-verify=false')
  const { origin: _, ...direct } = await documentOf(upstream, '4.18.9')
  assert.deepEqual(
    new Set(there.components.map(({ place }) => place)),
    new Set([`${mirror.address}/ocp/openshift/release`]),
  )
  assert.deepEqual(there.sizes, direct.sizes)
  const text = await info(closed, name, '--src-tls-verify=false')
  assert.match(text.stdout, /^ {2}found in +127\.0\.0\.1:\d+\/ocp\/openshift\/release: 7 components$/m)
})

test('a component that the registry lacks is named; the others are told, and the exit status is 1', async (t) => {
  const upstream = await start(t)
  const etcd = upstream.release.components.find(({ name }) => name === 'etcd')?.image.digest ?? ''
  upstream.registry.fault({ path: new RegExp(`manifests/${etcd}`), status: 404 })
  const found = await documentOf(upstream, '4.18.9')
  const problems = found.components.filter(({ problem }) => problem !== undefined)
  assert.deepEqual(
    problems.map(({ name, problem }) => [name, problem?.code]),
    [['etcd', 'MANIFEST_UNKNOWN']],
  )
  assert.equal(found.sizes.unknown, 1)
  assert.ok(found.components.filter(({ bytes }) => bytes !== undefined).length === components.length - 1)
  const text = await info(upstream, '4.18.9')
  assert.equal(text.status, 1)
  assert.match(text.stdout, /^1 of 7 components could not be had whole:$/m)
  assert.ok(
    text.stdout.includes(`etcd: ${etcd} is neither in quay.io/${releaseSources.components} nor in`),
    text.stdout,
  )
  assert.match(text.stdout, /^ {2}size +at least /m)
})

test('a mirror that lacks a component says where it was looked for, and that the origin is out of reach', async (t) => {
  const upstream = await start(t)
  const { release, registry } = upstream
  const [cli, ...others] = release.components
  await pushAll(testClient(t).client, registry.address, [
    { repository: 'ocp/openshift/release-images', images: [release.image] },
    { repository: 'ocp/openshift/release', images: others.map(({ image }) => image) },
  ])
  const name = `${registry.address}/ocp/openshift/release-images:4.18.9-x86_64`
  const { status, stdout } = await info(await closedConf(t), name, '--src-tls-verify=false')
  assert.equal(status, 1)
  const mirror = `${registry.address}/ocp/openshift`
  const where = `neither in ${mirror}/release nor in ${mirror}/release-images; `
  assert.ok(stdout.includes(`MANIFEST_UNKNOWN: cli: ${cli?.image.digest} is ${where}`), stdout)
  assert.match(stdout, /; .*127\.0\.0\.1:9.*$/m)
  assert.match(stdout, /^1 of 7 components/m)
})

test('a payload that is cut, or altered on the way, is refused with its own code', async (t) => {
  const upstream = await start(t)
  const payload = upstream.release.image.blobs.at(-2)?.descriptor
  assert.ok(payload)
  const path = new RegExp(`blobs/${payload.digest}`)
  upstream.registry.fault({ path, cutAfter: 1000, ignoreRange: true })
  const cut = await info(upstream, '4.18.9', '--json')
  assert.equal(cut.status, 1)
  assert.match(cut.stdout, /"code":"(?:REGISTRY_UNREACHABLE|REGISTRY_FAILED|BLOB_SIZE_MISMATCH)"/)
  const other = await start(t)
  other.registry.fault({ path, change: (body) => Buffer.from(body).fill(0x41, 600, 601) })
  const altered = await info(other, '4.18.9', '--json')
  assert.equal(altered.status, 1)
  assert.match(altered.stdout, /"code":"(?:BLOB_DIGEST_MISMATCH|PAYLOAD_INVALID)"/)
})

test('an image that is no release image is said to be none', async (t) => {
  const upstream = await start(t)
  const { client } = testClient(t)
  const image = makeImage({ seed: 'web', tag: '1' })
  await pushAll(client, upstream.registry.address, [{ repository: 'web/server', images: [image] }])
  const { status, stderr } = await info(upstream, 'quay.io/web/server:1')
  assert.equal(status, 1)
  assert.match(
    stderr,
    /quay\.io\/web\/server@sha256:[0-9a-f]+ is no release image: it has no release-manifests\/image-references/,
  )
  const absent = await info(upstream, '4.18.77')
  assert.deepEqual([absent.status, /4\.18\.77-x86_64: there is no such image/.test(absent.stderr)], [1, true])
})

test('a multi payload is told for every architecture, or for one of them', async (t) => {
  const upstream = await start(t)
  const multi = makeMultiRelease({ architectures: ['amd64', 'arm64'], components: ['cli', 'etcd'] })
  await pushAll(testClient(t).client, upstream.registry.address, multi.content)
  const all = await documentOf(upstream, '4.18.9', '--arch', 'multi')
  assert.deepEqual(all.architectures, ['amd64', 'arm64'])
  assert.equal(all.digest, multi.image.digest)
  assert.deepEqual(
    all.components.map(({ name, digest }) => [name, digest]),
    multi.components.map(({ name, image }) => [name, image.digest]),
  )
  const pullspec = 'quay.io/openshift-release-dev/ocp-release:4.18.9-multi'
  const one = await documentOf(upstream, pullspec, '--arch', 'aarch64')
  assert.deepEqual(one.architectures, ['arm64'])
  const bytes = ({ components: [first] }: Document) => first?.bytes ?? 0
  assert.ok(bytes(one) > 0 && bytes(one) < bytes(all))
  const none = await info(upstream, pullspec, '--arch', 's390x')
  assert.deepEqual([none.status, /is for amd64, arm64, not for s390x/.test(none.stderr)], [1, true])
})

test('layers above the payload are no hindrance; without release-metadata no layer below is read for it', async (t) => {
  const upstream = await start(t, { layersAbovePayload: 2 })
  assert.equal((await documentOf(upstream, '4.18.9')).components.length, components.length)
  const references = { kind: 'ImageStream', metadata: { name: '4.1.0' }, spec: { tags: [imageTag('cli', upstream)] } }
  const payload = makeLayer([tarFile('release-manifests/image-references', JSON.stringify(references))])
  const below = sampleLayer({ seed: 'below', sizeBytes: 1000 })
  const bare = sampleImage({ layers: [below, payload], tag: 'bare' })
  const content = [{ repository: releaseSources.images, images: [bare] }]
  await pushAll(testClient(t).client, upstream.registry.address, content)
  upstream.registry.requests.length = 0
  const { status, stdout } = await info(upstream, 'quay.io/openshift-release-dev/ocp-release:bare')
  assert.equal(status, 0)
  assert.match(stdout, /^Release 4\.1\.0 for linux\/amd64\n/)
  assert.match(stdout, /^No release-metadata: /m)
  assert.ok(!upstream.registry.requests.some(({ path }) => path.includes(below.descriptor.digest)))
})

function imageTag(name: string, { release }: Upstream): object {
  const digest = release.components.find((one) => one.name === name)?.image.digest
  return { name, from: { kind: 'DockerImage', name: `quay.io/${releaseSources.components}@${digest}` } }
}

function withRelease(upstream: Upstream, t: TestContext, release: SampleRelease): Promise<void> {
  return pushAll(testClient(t).client, upstream.registry.address, releaseContent(release))
}

test('what an upgrade changes, and the bytes that it costs', async (t) => {
  const upstream = await start(t)
  const after = ['console', ...components.filter((name) => name !== 'coredns')]
  const newer = makeRelease({ version: '4.18.10', components: after, revisions: { cli: 'fixed', etcd: 'fixed' } })
  await withRelease(upstream, t, newer)
  const { status, stdout } = await info(upstream, '4.18.9', '--diff', '4.18.10', '--json')
  assert.equal(status, 0)
  const diff = JSON.parse(stdout)
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name)
  assert.deepEqual([names(diff.added), names(diff.removed)], [['console'], ['coredns']])
  assert.deepEqual(names(diff.changed), ['cli', 'etcd'])
  assert.deepEqual([diff.unchanged, diff.isEdge, diff.unknown], [4, true, []])
  const held = blobsOfContent(releaseContent(upstream.release))
  const wanted = [...blobsOfContent(releaseContent(newer))].filter(([digest]) => !held.has(digest))
  assert.deepEqual([diff.newBlobs, diff.newBytes], [wanted.length, wanted.reduce((sum, [, size]) => sum + size, 0)])
  const text = await info(upstream, '4.18.9', '--diff', '4.18.10')
  assert.match(text.stdout, /^ {2}edge +yes: 4\.18\.10 can be upgraded to from 4\.18\.9$/m)
  assert.match(text.stdout, /^ {2}kubernetes +1\.31\.9 -> 1\.31\.10$/m)
  assert.match(
    text.stdout,
    /^ {2}cli +sha256:\w{12} -> \w{12} .*https:\/\/github\.com\/openshift\/oc\/compare\/\w{12}\.\.\.\w{12}$/m,
  )
  const back = await info(upstream, '4.18.10', '--diff', '4.18.9')
  assert.match(back.stdout, /^ {2}edge +no, only back: 4\.18\.10 can be upgraded to from 4\.18\.9$/m)
})
