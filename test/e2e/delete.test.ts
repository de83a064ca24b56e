import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../src/host/clock.ts'
import { hexOf } from '../../src/oci/digest.ts'
import type { Reference } from '../../src/oci/reference.ts'
import { BlobStore } from '../../src/store/blob-store.ts'
import { collectGarbage } from '../../src/store/collect-garbage.ts'
import { readStatistics } from '../../src/store/statistics.ts'
import { deleteSetText, runGenerate, runListed } from '../../testkit/delete-run.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { makeImage } from '../../testkit/image.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { mirroredSite } from '../../testkit/mirrored-site.ts'
import { peer } from '../../testkit/peers.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText, releaseName, startUpstream } from '../../testkit/upstream.ts'

for (const kind of ['embedded', 'docker'] as const) {
  test(`a release goes from the ${kind} registry without its upstream, and everything else stays whole`, async (t) => {
    const site = await mirroredSite(t, kind)
    if (!site) return
    const { upstream, newer, at, tags } = site
    await upstream.registry.close()
    const { release } = upstream
    const generated = await runGenerate(t, { ...at, config: deleteSetText({ release: releaseName(release) }) })
    assert.deepEqual([generated.exitStatus, generated.failures], [0, []])
    const others = new Set(newer.components.map(({ image }) => image.digest))
    const shared = release.components.filter(({ image }) => others.has(image.digest))
    const fates = Map.groupBy(generated.fates, ({ fate }) => fate)
    assert.equal(generated.fates.length, release.components.length + 1)
    assert.equal(fates.get('untagged')?.length, shared.length)
    assert.ok((await tags('openshift/release-images')).includes(release.tag), 'the first phase deletes nothing')

    const [list = ''] = generated.files
    const result = await runListed(t, { ...at, list })
    assert.deepEqual([result.exitStatus, result.failures], [0, []])
    assert.deepEqual(await tags('openshift/release-images'), [newer.tag])
    const left = (await tags('openshift/release')).filter((tag) => tag.startsWith(`${release.tag}-`))
    assert.equal(
      left.length,
      kind === 'docker' ? shared.length : 0,
      'only what the registry cannot untag is still named',
    )
    assert.equal(result.stuck.length, left.length)
    assert.deepEqual((await site.verify()).findings, [])
    assert.ok(!(await site.done()).some(({ destination }) => destination.includes(`:${release.tag}`)))
    const again = await runListed(t, { ...at, list })
    assert.deepEqual([again.exitStatus, again.manifests], [0, 0])

    const last = await runGenerate(t, { ...at, config: deleteSetText({ release: releaseName(newer) }), id: 'last' })
    await runListed(t, { ...at, list: last.files[0] ?? '' })
    assert.deepEqual(await tags('openshift/release'), [], 'tags that could not go before go with the image')
  })
}

test('with the embedded registry the disk is freed, and every image that stays can be read to its last byte', async (t) => {
  const site = await mirroredSite(t, 'embedded')
  if (!site) return
  const { upstream, at, root } = site
  const store = await BlobStore.open(root, systemClock)
  const before = readStatistics(store)
  const additional = upstream.additional.filter(({ destination }) => !destination.startsWith('extra/single'))
  const config = deleteSetText({ release: releaseName(upstream.release), additional })
  const { files, bytes } = await runGenerate(t, { ...at, config, withSignatures: true })
  await runListed(t, { ...at, list: files[0] ?? '' })
  const freed = await collectGarbage(store, { graceMs: 0 })
  assert.equal(freed.bytesFreed, bytes, 'what the first phase promised is what the disk gains')
  const after = readStatistics(store)
  assert.equal(before.uniqueBytes - after.uniqueBytes, bytes)
  assert.ok(bytes > 0 && after.uniqueBytes > 0)
  assert.equal(after.unreferencedBytes, 0)
  assert.deepEqual((await site.verify()).findings, [])
})

test("docker-registry's own garbage collection frees its disk afterwards, and breaks nothing that stays", async (t) => {
  const site = await mirroredSite(t, 'docker')
  const program = peer(t, 'docker-registry')
  if (!site || !program) return
  const { upstream, at, root } = site
  const before = bytesOf(root)
  const config = deleteSetText({ release: releaseName(upstream.release), additional: upstream.additional.slice(2) })
  const { files, bytes } = await runGenerate(t, { ...at, config, withSignatures: true })
  await runListed(t, { ...at, list: files[0] ?? '' })
  execFileSync(program, ['garbage-collect', join(root, 'config.yml')], { stdio: 'ignore' })
  assert.ok(before - bytesOf(root) >= bytes, `${before - bytesOf(root)} bytes freed, ${bytes} promised`)
  assert.deepEqual((await site.verify()).findings, [])
})

function bytesOf(root: string): number {
  return Number(execFileSync('du', ['-sb', root], { encoding: 'utf8' }).split('\t')[0])
}

test('signatures and referrers go with their images when asked, and stay otherwise', async (t) => {
  const site = await mirroredSite(t, 'embedded')
  if (!site) return
  const { upstream, at, tags } = site
  const signed = upstream.additional.find(({ destination }) => destination === 'extra/signed:3')
  const subject = upstream.additional.find(({ destination }) => destination === 'extra/subject:4')
  assert.ok(signed && subject)
  const signature = `sha256-${hexOf(signed.image.digest)}.sig`
  const config = deleteSetText({ additional: [signed, subject] })
  const without = await runGenerate(t, { ...at, config })
  assert.deepEqual([without.attached, without.manifests], [[], 2])
  const generated = await runGenerate(t, { ...at, config, withSignatures: true })
  const attached = generated.attached.map(({ item }) => item.imageReference)
  assert.equal(attached.length, 3)
  assert.ok(attached.includes(`${at.target}/extra/signed:${signature}`))
  assert.ok(attached.filter((name) => name.startsWith(`${at.target}/extra/subject@sha256:`)).length === 2)
  const result = await runListed(t, { ...at, list: generated.files[0] ?? '' })
  assert.deepEqual([result.exitStatus, result.manifests], [0, 5])
  assert.deepEqual([await tags('extra/signed'), await tags('extra/subject')], [[], []])
  assert.deepEqual((await site.verify()).findings, [])
})

test('what the last mirror asked for may be deleted, with a warning; the same configuration brings it again', async (t) => {
  const site = await mirroredSite(t, 'embedded')
  if (!site) return
  const { at, newer, tags } = site
  const { files, stillWanted } = await runGenerate(t, { ...at, config: deleteSetText({ release: releaseName(newer) }) })
  assert.equal(stillWanted.length, newer.components.length + 1)
  await runListed(t, { ...at, list: files[0] ?? '' })
  assert.deepEqual((await site.verify()).findings, [])
  await site.mirror(imageSetText({ release: releaseName(newer) }))
  assert.deepEqual(await tags('openshift/release-images'), [newer.tag, site.upstream.release.tag].sort())
  assert.deepEqual((await site.verify()).findings, [])
})

test('the list is the same for the same deletion, the cluster resources are left alone, and files may have a suffix', async (t) => {
  const site = await mirroredSite(t, 'embedded')
  if (!site) return
  const { at, upstream } = site
  const resources = join(at.workspace, 'working-dir', 'cluster-resources', 'idms-oc-mirror.yaml')
  const before = await readFile(resources, 'utf8')
  const config = deleteSetText({ release: releaseName(upstream.release), additional: upstream.additional, graph: true })
  const first = await runGenerate(t, { ...at, config })
  const text = await readFile(first.files[0] ?? '', 'utf8')
  const second = await runGenerate(t, { ...at, config, id: 'june' })
  assert.deepEqual(
    second.files.map((file) => file.slice(at.workspace.length)),
    ['/working-dir/delete/delete-images-june.yaml', '/working-dir/delete/delete-imageset-config-june.yaml'],
  )
  assert.equal(await readFile(second.files[0] ?? '', 'utf8'), text)
  assert.equal(await readFile(second.files[1] ?? '', 'utf8'), config)
  assert.match(
    text,
    /^ {2}imageReference: docker:\/\/[^/]+\/ocp\/openshift\/release:4\.18\.9-x86_64-agent-installer-ui$/m,
  )
  assert.match(text, /^ {2}type: ocpRelease$/m)
  assert.equal(await readFile(resources, 'utf8'), before)
  const graph = first.fates.find(({ item }) => item.item.type === 'cincinnatiGraph')
  assert.equal(graph?.fate, 'absent')
})

test('a deletion that is broken off says so, leaves no broken image, and is finished by running it again', async (t) => {
  const site = await mirroredSite(t, 'embedded')
  if (!site) return
  const { at, upstream, root, tags } = site
  const config = deleteSetText({ release: releaseName(upstream.release), additional: upstream.additional })
  const { files } = await runGenerate(t, { ...at, config, withSignatures: true })
  const [list = ''] = files
  for (const allowed of [1, 2, 3]) {
    const interrupted = new AbortController()
    let count = 0
    const onEvent = ({ type }: { type: string }) => {
      if (type === 'manifest.deleted') count += 1
      if (count === allowed) interrupted.abort(new Error('interrupted'))
    }
    await assert.rejects(runListed(t, { ...at, list, onEvent, signal: interrupted.signal }), /interrupted/)
    assert.deepEqual((await site.verify()).findings, [], 'the workspace claims only what is there')
  }
  const result = await runListed(t, { ...at, list })
  assert.equal(result.exitStatus, 0)
  for (const repository of ['extra/list', 'extra/attested', 'extra/signed', 'deep/er/zstd'])
    assert.deepEqual(await tags(repository), [], repository)
  await collectGarbage(await BlobStore.open(root, systemClock), { graceMs: 0 })
  const left = readStatistics(await BlobStore.open(root, systemClock)).repositories.map(({ name }) => name)
  assert.deepEqual(left, ['ocp/openshift/release', 'ocp/openshift/release-images'], 'children of indexes went too')
  assert.deepEqual((await site.verify()).findings, [])
})

test('a process that is killed between an index and its children leaves nothing that the next run does not find', async (t) => {
  const site = await mirroredSite(t, 'embedded')
  if (!site) return
  const { at, upstream, root } = site
  const listed = upstream.additional.find(({ destination }) => destination === 'extra/list:2')
  assert.ok(listed)
  const { files } = await runGenerate(t, { ...at, config: deleteSetText({ additional: [listed] }) })
  const [list = ''] = files
  const state = join(at.workspace, 'working-dir', 'sallyport')
  const copy = join(await tempDir(t), 'state')
  const killed = new AbortController()
  const onEvent: Parameters<typeof runListed>[1]['onEvent'] = (event) => {
    if (event.type !== 'manifest.deleted') return
    assert.equal(event.digest, listed.image.digest)
    // What is on the disk at this moment is all that a killed process leaves.
    cpSync(state, copy, { recursive: true })
    killed.abort(new Error('killed'))
  }
  await assert.rejects(runListed(t, { ...at, list, onEvent, signal: killed.signal }), /killed/)
  await rm(state, { recursive: true })
  await rm(join(copy, 'v1', 'lock'))
  await cp(copy, state, { recursive: true })
  const manifests = async () => {
    const { repositories } = readStatistics(await BlobStore.open(root, systemClock))
    return repositories.find(({ name }) => name === 'ocp/extra/list')?.manifests ?? 0
  }
  assert.equal(await manifests(), listed.image.manifests.length - 1)
  const result = await runListed(t, { ...at, list })
  assert.deepEqual([result.exitStatus, await manifests()], [0, 0])
  assert.deepEqual((await site.verify()).findings, [])
})

test('what somebody pushes between the plan and the deletion, and what it needs, stays', async (t) => {
  const site = await mirroredSite(t, 'embedded')
  if (!site) return
  const { at, upstream, address, tags } = site
  const listed = upstream.additional.find(({ destination }) => destination === 'extra/list:2')
  const [child] = listed?.image.manifests ?? []
  assert.ok(listed && child)
  const { files } = await runGenerate(t, { ...at, config: deleteSetText({ additional: [listed] }) })
  const pushed = { registry: address, repository: 'ocp/extra/list', tag: 'new' }
  const { client } = testClient(t)
  let asked = false
  const tagsOf = async (repository: Reference, signal?: AbortSignal) => {
    const names = await client.tags(repository, signal)
    if (!asked) await client.pushManifest(pushed, child)
    asked = true
    return names
  }
  const registry = new Proxy(client, {
    get: (its, name) => {
      if (name === 'tags') return tagsOf
      const value: unknown = Reflect.get(its, name)
      return typeof value === 'function' ? value.bind(its) : value
    },
  })
  const result = await runListed(t, { ...at, list: files[0] ?? '', registry })
  assert.deepEqual([result.exitStatus, await tags('extra/list')], [0, ['new']])
  assert.ok(await client.resolve({ ...pushed, digest: child.descriptor.digest }))
  assert.equal(await client.resolve({ ...pushed, tag: '2' }), undefined)
})

test('a registry that does not delete is one clear error, and the workspace forgets nothing', async (t) => {
  const upstream = await startUpstream(t)
  const target = await startScriptedRegistry(t, { deletes: 'none', hasReferrersApi: true })
  const at = { target: `docker://${target.address}/ocp`, workspace: await tempDir(t) }
  const config = imageSetText({ additional: upstream.additional })
  await runMirror(t, { ...at, registriesConf: upstream.registriesConf, config })
  const state = join(at.workspace, 'working-dir', 'sallyport', 'v1', 'done.json')
  const before = await readFile(state, 'utf8')
  const { files } = await runGenerate(t, { ...at, config: deleteSetText({ additional: upstream.additional }) })
  await assert.rejects(runListed(t, { ...at, list: files[0] ?? '' }), {
    code: 'REGISTRY_DELETE_REFUSED',
    hint: /REGISTRY_STORAGE_DELETE_ENABLED=true/,
  })
  assert.equal(await readFile(state, 'utf8'), before)
})

test('a release that nobody knows is a failure of its class, and other images go on', async (t) => {
  const site = await mirroredSite(t, 'embedded')
  if (!site) return
  const { at, upstream, newer } = site
  const [image] = upstream.additional
  assert.ok(image)
  const unknown = `quay.io/openshift-release-dev/ocp-release:4.11.1-x86_64`
  const config = deleteSetText({ release: unknown, additional: [image] })
  const result = await runGenerate(t, { ...at, config })
  assert.equal(result.exitStatus, 2)
  assert.match(result.failures[0]?.error.message ?? '', /4\.11\.1.*which images belong to this release cannot be told/)
  assert.equal(result.fates.length, 1)
  // oc-mirror keeps what a release names under its tag.
  const held = join(at.workspace, 'working-dir', 'hold-release', 'ocp-release')
  const references = await readFile(join(held, newer.tag, 'release-manifests', 'image-references'), 'utf8')
  await mkdir(join(held, '4.11.1-x86_64', 'release-manifests'), { recursive: true })
  await writeFile(join(held, '4.11.1-x86_64', 'release-manifests', 'image-references'), references)
  const known = await runGenerate(t, { ...at, config })
  assert.deepEqual([known.exitStatus, known.fates.length], [0, newer.components.length + 2])
})

test("lists of oc-mirror with its cache's names are taken for the target, and lists for another target are refused", async (t) => {
  const site = await mirroredSite(t, 'embedded')
  if (!site) return
  const { at, upstream, tags } = site
  const cli = upstream.release.components.find(({ name }) => name === 'agent-installer-ui')
  assert.ok(cli)
  const item = (reference: string) => ({
    imageName: `quay.io/openshift-release-dev/ocp-v4.0-art-dev@${cli.image.digest}`,
    imageReference: reference,
    type: 'ocpReleaseContent',
  })
  const list = join(at.workspace, 'list.yaml')
  const write = (reference: string) =>
    writeFile(list, JSON.stringify({ kind: 'DeleteImageList', items: [item(reference)] }))
  const tag = `${upstream.release.tag}-agent-installer-ui`
  await write(`docker://other.lab:8443/ocp/openshift/release:${tag}`)
  await assert.rejects(runListed(t, { ...at, list }), {
    code: 'CONFIG_INVALID',
    message: /not for docker:\/\/.*: it names docker:\/\/other\.lab/,
  })
  await write(`docker://localhost:55000/openshift/release:${tag}`)
  const dry = await runListed(t, { ...at, list, isDryRun: true })
  assert.equal(dry.fates[0]?.fate === 'absent', false)
  assert.ok((await tags('openshift/release')).includes(tag), 'a dry run deletes nothing')
  await runListed(t, { ...at, list })
  assert.ok(!(await tags('openshift/release')).includes(tag))
})

test('names that oc-mirror v1 gave are deleted only where the tag stands for that image', async (t) => {
  const upstream = await startUpstream(t)
  const target = await startScriptedRegistry(t)
  const image = makeImage({ seed: 'v1' })
  const manifest = JSON.parse(Buffer.from(image.manifests[0]?.bytes ?? []).toString('utf8')) as object
  const mine = target.addManifest('ocp/extra/mine', manifest, 'latest')
  target.addManifest('ocp/extra/other', { ...manifest, annotations: { other: 'yes' } }, 'latest')
  const additional = ['mine', 'other'].map((name) => ({ name: `quay.io/extra/${name}@${mine.digest}` }))
  const at = { target: `docker://${target.address}/ocp`, workspace: await tempDir(t) }
  const { fates } = await runGenerate(t, { ...at, config: deleteSetText({ additional }), v1Names: true })
  assert.deepEqual(
    fates.map(({ item, fate }) => [item.repository.repository, fate]),
    [
      ['ocp/extra/mine', 'deleted'],
      ['ocp/extra/other', 'kept'],
    ],
  )
  assert.equal(upstream.registry.requests.length, 0, 'no source is asked')
})

test('images are deleted under the names that the workspace gave them, where the list of wishes does not say', async (t) => {
  const upstream = await startUpstream(t)
  const { address } = await startEmbeddedRegistry(t)
  const at = { target: `docker://${address}/ocp`, workspace: await tempDir(t) }
  const name = 'quay.io/extra/single:1'
  const mirror = { additionalImages: [{ name, targetRepo: 'other/place', targetTag: 'mine' }] }
  const config = JSON.stringify({ kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1', mirror })
  await runMirror(t, { ...at, config, registriesConf: upstream.registriesConf })
  const { fates, files } = await runGenerate(t, { ...at, config: deleteSetText({ additional: [{ name }] }) })
  assert.deepEqual(
    fates.map(({ item, fate }) => [item.item.imageReference, fate]),
    [[`${at.target}/other/place:mine`, 'deleted']],
  )
  assert.equal((await runListed(t, { ...at, list: files[0] ?? '' })).manifests, 1)
})
