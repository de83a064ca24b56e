/** What oc-mirror left in a directory, mirrored without a network to its source, against mirroring from the source itself. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { parseImageSetConfiguration } from '../../src/config/image-set-configuration.ts'
import { mirrorToMirror } from '../../src/flows/mirror-to-mirror.ts'
import { openOcMirrorSource } from '../../src/flows/oc-mirror-source.ts'
import { parseMirrorTarget } from '../../src/mirror/destination.ts'
import { workspaceAt } from '../../src/mirror/workspace.ts'
import { startDockerRegistry } from '../../testkit/docker-registry.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { goTar } from '../../testkit/go-tar.ts'
import { makeImage, makeIndex, makeSignature } from '../../testkit/image.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { cachedContent, writeOcMirrorArchive } from '../../testkit/oc-mirror-archive.ts'
import { snapshotRegistry } from '../../testkit/registry-snapshot.ts'
import { makeRelease } from '../../testkit/release-payload.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { pushAll } from '../../testkit/seed.ts'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText, imagesOfEveryKind, releaseName, startUpstream, type Upstream } from '../../testkit/upstream.ts'

interface Mirrored {
  readonly upstream: Upstream
  readonly config: string
  /** What mirroring straight from the upstream puts at a target. */
  readonly expected: Readonly<Record<string, string>>
}

async function mirrorDirectly(t: TestContext): Promise<Mirrored> {
  const upstream = await startUpstream(t)
  const config = imageSetText({ release: releaseName(upstream.release), additional: upstream.additional })
  const target = await startEmbeddedRegistry(t)
  const { registriesConf } = upstream
  const workspace = await tempDir(t)
  const result = await runMirror(t, { config, target: `docker://${target.address}/ocp`, registriesConf, workspace })
  assert.deepEqual([result.exitStatus, result.failures], [0, []])
  const expected = await snapshot(target, upstream)
  assert.ok(Object.keys(expected).length > 50 && !Object.values(expected).some((value) => value.startsWith('status')))
  return { upstream, config, expected }
}

function snapshot({ address }: { address: string }, { content }: Upstream) {
  const images = content.find(({ repository }) => repository === 'extra/subject')?.images ?? []
  return snapshotRegistry(
    `http://${address}`,
    images.map(({ digest }) => `ocp/extra/subject@${digest}`),
  )
}

interface Load {
  readonly directory: string
  /** Text of a configuration; default: the one in the archive. */
  readonly config?: string
  /** `HOST[:PORT]/PATH` */
  readonly target: string
  readonly workspace: string
}

/** Loads what is in `directory`; the target is the only registry that is ever asked. */
async function load(t: Cleanup, { directory, config, target, workspace }: Load) {
  const { client } = testClient(t)
  const at = parseMirrorTarget(`docker://${target}`)
  const opened = await openOcMirrorSource({
    directory,
    target: at,
    registry: client,
    config: config === undefined ? undefined : parseImageSetConfiguration({ file: 'isc.yaml', text: config }),
  })
  assert.ok(opened)
  const result = await mirrorToMirror({
    ...opened,
    isLocalSource: true,
    target: at,
    workspace: workspaceAt(workspace, '/'),
    registry: client,
    signal: new AbortController().signal,
    onEvent: () => undefined,
  })
  return { ...opened, result }
}

async function mirrorFrom(t: Cleanup, directory: string, config?: string) {
  const target = await startEmbeddedRegistry(t)
  const workspace = await tempDir(t)
  const loaded = await load(t, {
    directory,
    target: `${target.address}/ocp`,
    workspace,
    ...(config !== undefined && { config }),
  })
  return { ...loaded, target }
}

for (const archiveBytes of [undefined, 20_000]) {
  test(`archives of oc-mirror in ${archiveBytes === undefined ? 'one file' : 'many files'} give what their source gives`, async (t) => {
    const { upstream, config, expected } = await mirrorDirectly(t)
    const content = cachedContent(upstream)
    const { directory, tars } = await writeOcMirrorArchive(t, {
      content,
      configuration: config,
      ...(archiveBytes !== undefined && { archiveBytes }),
    })
    assert.equal(tars.length > 3, archiveBytes !== undefined)
    const { target, result, findings } = await mirrorFrom(t, directory)
    assert.deepEqual([result.exitStatus, result.failures, findings], [0, [], []])
    assert.deepEqual(await snapshot(target, upstream), expected)
    assert.deepEqual((await readdir(directory)).length, tars.length, 'nothing was written beside the archives')
  })
}

test('the cache of oc-mirror gives what its source gives', async (t) => {
  const { upstream, config, expected } = await mirrorDirectly(t)
  const { cache } = await writeOcMirrorArchive(t, { content: cachedContent(upstream) })
  for (const directory of [cache, join(cache, 'docker', 'registry', 'v2')]) {
    const { target, result } = await mirrorFrom(t, directory, config)
    assert.deepEqual([result.exitStatus, result.failures], [0, []])
    assert.deepEqual(await snapshot(target, upstream), expected)
  }
})

test('an image with a name of its own at the target is found under it', async (t) => {
  const image = makeImage({ seed: 'renamed', tag: 'one' })
  const { directory } = await writeOcMirrorArchive(t, { content: [{ repository: 'other/app', images: [image] }] })
  const additionalImages = [{ name: 'quay.io/team/app:1', targetRepo: 'other/app', targetTag: 'one' }]
  const config = JSON.stringify({ ...JSON.parse(imageSetText({})), mirror: { additionalImages } })
  const { target, result } = await mirrorFrom(t, directory, config)
  assert.deepEqual([result.exitStatus, result.failures], [0, []])
  const { 'ocp/other/app:one': digest } = await snapshotRegistry(`http://${target.address}`)
  assert.equal(digest, image.digest)
})

test('what CNCF distribution stored is read as it lies, and from tars of every format that tar writes', async (t) => {
  const { upstream, config, expected } = await mirrorDirectly(t)
  const registry = await startDockerRegistry(t)
  if (!registry) return
  await pushAll(testClient(t).client, registry.address, cachedContent(upstream))
  process.kill(registry.pid, 'SIGKILL')
  const storage = join(registry.root, 'data')
  const fromCache = await mirrorFrom(t, storage, config)
  assert.deepEqual([fromCache.result.exitStatus, fromCache.result.failures], [0, []])
  assert.deepEqual(await snapshot(fromCache.target, upstream), expected)
  for (const format of ['gnu', 'pax', 'ustar', 'oldgnu']) {
    const directory = await tempDir(t)
    const archive = join(directory, 'mirror_000001.tar')
    const skipped = format === 'ustar' ? ['--exclude=_layers'] : []
    await promisify(execFile)('tar', [`--format=${format}`, ...skipped, '-C', storage, '-cf', archive, './docker'])
    const { target, result, findings } = await mirrorFrom(t, directory, config)
    assert.deepEqual([result.exitStatus, result.failures, findings], [0, [], []], format)
    assert.deepEqual(await snapshot(target, upstream), expected, format)
  }
})

test("what Go's library writes is read, also under names that only a pax header can hold", async (t) => {
  const long = [...'abcd'].map((letter) => letter.repeat(55)).join('/')
  const [image, deep] = [makeImage({ seed: 'go', tag: '1' }), makeImage({ seed: 'deep', tag: 'v'.repeat(128) })]
  const { cache } = await writeOcMirrorArchive(t, {
    content: [
      { repository: 'team/app', images: [image] },
      { repository: long, images: [deep] },
    ],
  })
  const directory = await tempDir(t)
  if (!(await goTar(t, cache, join(directory, 'mirror_000001.tar')))) return
  const additional = [{ name: 'quay.io/team/app:1' }, { name: `quay.io/${long}:${'v'.repeat(128)}` }]
  const { target, result, findings } = await mirrorFrom(t, directory, imageSetText({ additional }))
  assert.deepEqual([result.exitStatus, result.failures, findings], [0, [], []])
  const held = await snapshotRegistry(`http://${target.address}`)
  assert.deepEqual([held['ocp/team/app:1'], held[`ocp/${long}:${'v'.repeat(128)}`]], [image.digest, deep.digest])
})

test('an archive that carries only what is new is loaded after another one, whoever loaded that', async (t) => {
  const base = makeImage({ seed: 'base', tag: '1', layers: 3 })
  const listed = makeIndex({ children: [base, makeImage({ seed: 'other' })], tag: '2' })
  const release = makeRelease()
  const earlier = [
    { repository: 'team/app', images: [base, makeSignature(base)] },
    ...cachedContent({ release, additional: [], content: [] }),
  ]
  const history = earlier.flatMap(({ images }) => images).flatMap(({ manifests, blobs }) => [...manifests, ...blobs])
  const { directory } = await writeOcMirrorArchive(t, {
    content: [...earlier, { repository: 'team/app', images: [listed] }],
    history: history.map(({ descriptor }) => descriptor.digest),
  })
  const additional = ['1', '2'].map((tag) => ({ name: `quay.io/team/app:${tag}` }))
  const config = imageSetText({ release: releaseName(release), additional })
  const target = await startEmbeddedRegistry(t)
  const at = { directory, config, target: `${target.address}/ocp` }
  const alone = (await load(t, { ...at, workspace: await tempDir(t) })).result
  assert.ok(alone.failures.length > 0)
  for (const { error } of alone.failures) {
    assert.equal(error.code, 'BLOB_UNKNOWN')
    assert.match(`${error.message} ${error.hint}`, /no file of oc-mirror.*Load the earlier archives first/)
  }
  const loadedBefore = earlier.map((one) => ({ ...one, repository: `ocp/${one.repository}` }))
  await pushAll(testClient(t).client, target.address, loadedBefore)
  const { result } = await load(t, { ...at, workspace: await tempDir(t) })
  assert.deepEqual([result.exitStatus, result.failures], [0, []])
  const carried = new Set(listed.blobs.map(({ descriptor }) => descriptor.digest))
  for (const { descriptor } of base.blobs) carried.delete(descriptor.digest)
  assert.equal(result.report?.pushedBlobs, carried.size)
  const held = await snapshotRegistry(`http://${target.address}`)
  assert.equal(held['ocp/team/app:2'], listed.digest)
  assert.equal(held[`ocp/openshift/release-images:${release.tag}`], release.image.digest)
})

test('from an archive that is cut everything whole arrives, and what does not is named with the file', async (t) => {
  const { upstream, config, expected } = await mirrorDirectly(t)
  const { directory, tars } = await writeOcMirrorArchive(t, { content: cachedContent(upstream), archiveBytes: 30_000 })
  const cut = tars[Math.floor(tars.length / 2)] ?? ''
  await truncate(cut, Math.floor((await stat(cut)).size / 2))
  const { target, result, findings } = await mirrorFrom(t, directory, config)
  assert.deepEqual(
    findings.map(({ where }) => where?.file),
    [cut],
  )
  assert.ok(result.failures.length > 0 && result.exitStatus !== 0)
  const lost = result.failures.filter(({ error }) => !error.message.includes(`${basename(cut)} at byte `))
  assert.deepEqual(lost, [])
  const held = await snapshot(target, upstream)
  const tags = (names: object) => Object.keys(names).filter((name) => /^[^@ ]+$/.test(name))
  assert.ok(tags(held).length > 0 && tags(held).length < tags(expected).length)
  for (const name of tags(held)) assert.equal(held[name], expected[name])
})

test('sallyport mirror --from a directory of oc-mirror needs no configuration, writes nothing there and says what is wrong', async (t) => {
  const images = imagesOfEveryKind()
  const release = makeRelease()
  const configuration = imageSetText({ release: releaseName(release), additional: images.additional })
  const { directory, tars } = await writeOcMirrorArchive(t, {
    content: cachedContent({ release, ...images }),
    configuration,
  })
  const last = join(directory, 'mirror_000002.tar')
  await writeFile(last, '')
  const before = await readdir(directory)
  const target = await startEmbeddedRegistry(t)
  const workspace = ['--workspace', `file://${await tempDir(t)}`]
  const mirror = (from: string) =>
    runCli([
      'mirror',
      '--from',
      `file://${from}`,
      ...workspace,
      '--dest-tls-verify=false',
      `docker://${target.address}/ocp`,
    ])
  const { status, stdout, stderr } = await mirror(directory)
  assert.equal(status, 0, stdout + stderr)
  assert.ok(`${stdout}${stderr}`.includes(`${last}: at byte 0: the file is empty`), stdout + stderr)
  assert.deepEqual(await readdir(directory), before)
  const held = await snapshotRegistry(`http://${target.address}`)
  assert.equal(held[`ocp/openshift/release-images:${release.tag}`], release.image.digest)
  await rename(tars[0] ?? '', join(directory, 'mirror_seq1_000000.tar'))
  await rm(last)
  const v1 = await mirror(directory)
  assert.equal(v1.status, 1)
  assert.match(v1.stderr, /ARCHIVE_INVALID[\s\S]*mirror_seq1_000000\.tar: this archive was written by oc-mirror v1/)
})
