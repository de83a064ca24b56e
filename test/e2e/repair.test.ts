import assert from 'node:assert/strict'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { verifyMirrored } from '../../src/flows/verify.ts'
import { workspaceAt } from '../../src/mirror/workspace.ts'
import { type Digest, hexOf } from '../../src/oci/digest.ts'
import { distinctBlobs } from '../../src/quickstart/push-sample.ts'
import { startDockerRegistry } from '../../testkit/docker-registry.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText, releaseName, startUpstream } from '../../testkit/upstream.ts'

/** A release at an embedded registry, and the means to break, verify and mend it. */
async function mirrored(t: TestContext) {
  const target = await startEmbeddedRegistry(t)
  const site = await mirroredTo(t, target.address)
  return { ...site, fileOf: (digest: Digest) => target.store.paths.blob(digest) }
}

async function mirroredTo(t: TestContext, address: string) {
  const upstream = await startUpstream(t)
  const { release, additional, registriesConf } = upstream
  const workspace = await tempDir(t)
  const mirror = () =>
    runMirror(t, {
      config: imageSetText({ release: releaseName(release), additional }),
      target: `docker://${address}/ocp`,
      registriesConf,
      workspace,
    })
  const { client: registry } = testClient(t)
  const { signal } = new AbortController()
  const verify = (deep: boolean) => verifyMirrored(workspaceAt(workspace, '/'), undefined, { registry, signal, deep })
  assert.equal((await mirror()).exitStatus, 0)
  return { ...upstream, mirror, verify }
}

type Mirrored = Awaited<ReturnType<typeof mirroredTo>> & { readonly fileOf: (digest: Digest) => string }

/** The file of a layer that only the first component has. */
function ownLayer({ release, fileOf }: Mirrored) {
  const [first, ...others] = release.components.map(({ image }) => image)
  assert.ok(first)
  const shared = new Set(distinctBlobs([...others, release.image]).map(({ descriptor }) => descriptor.digest))
  const own = first.blobs.find(({ descriptor }) => !shared.has(descriptor.digest))
  assert.ok(own)
  const { digest, size } = own.descriptor
  return { digest, size, path: fileOf(digest) }
}

test('a layer that is lost at the mirror is found, named, and moved again by the next run: nothing else is', async (t) => {
  const site = await mirrored(t)
  const layer = ownLayer(site)
  await rm(layer.path)
  assert.equal((await site.mirror()).report, undefined, 'a plain run trusts the tags')

  const { report, isNoted } = await site.verify(false)
  assert.equal(report.findings.length, 1)
  const [finding] = report.findings
  assert.equal(finding?.id, 'mirror.blob-missing')
  assert.match(finding?.summary ?? '', new RegExp(`${layer.digest}.*component ${site.release.components[0]?.name} of`))
  assert.equal(isNoted, true)

  const repair = await site.mirror()
  assert.deepEqual([repair.report?.pushedBlobs, repair.report?.pushedBytes], [1, layer.size])
  assert.deepEqual((await site.verify(true)).report.findings, [])
  assert.equal((await site.mirror()).report, undefined, 'after the repair there is nothing to do')
})

test('a changed byte at the mirror is found by --deep, and the next run replaces the blob', async (t) => {
  const site = await mirrored(t)
  const layer = ownLayer(site)
  const bytes = await readFile(layer.path)
  bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20)
  await writeFile(layer.path, bytes)
  assert.deepEqual((await site.verify(false)).report.findings, [], 'sizes alone do not tell')

  const { report } = await site.verify(true)
  assert.deepEqual(
    report.findings.map(({ id }) => id),
    ['mirror.blob-changed'],
  )
  await site.verify(false)
  const repair = await site.mirror()
  assert.deepEqual([repair.report?.pushedBlobs, repair.report?.pushedBytes], [1, layer.size])
  assert.deepEqual((await site.verify(true)).report.findings, [])
})

test('a blob that was cut short at the mirror is found by its size, and replaced', async (t) => {
  const site = await mirrored(t)
  const layer = ownLayer(site)
  await writeFile(layer.path, (await readFile(layer.path)).subarray(0, -1))
  assert.deepEqual(
    (await site.verify(false)).report.findings.map(({ id }) => id),
    ['mirror.blob-size'],
  )
  await site.mirror()
  assert.deepEqual((await site.verify(true)).report.findings, [])
})

test('a manifest with a changed byte at the mirror is found, and the next run replaces it', async (t) => {
  const site = await mirrored(t)
  const [first] = site.release.components
  assert.ok(first)
  const path = site.fileOf(first.image.digest)
  const bytes = await readFile(path)
  bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20)
  await writeFile(path, bytes)
  const [finding, ...others] = (await site.verify(false)).report.findings
  assert.deepEqual(others, [])
  assert.match(finding?.summary ?? '', new RegExp(`component ${first.name} of`))
  await site.mirror()
  assert.deepEqual((await site.verify(true)).report.findings, [])
})

test('a layer that images of two repositories share is mended in both', async (t) => {
  const site = await mirrored(t)
  const { release, fileOf } = site
  const above = new Set(release.image.blobs.map(({ descriptor }) => descriptor.digest))
  const shared = distinctBlobs(release.components.map(({ image }) => image)).find(({ descriptor }) =>
    above.has(descriptor.digest),
  )
  assert.ok(shared)
  await rm(fileOf(shared.descriptor.digest))
  assert.equal((await site.verify(false)).report.findings.length, 2, 'one a repository')
  assert.equal((await site.mirror()).report?.pushedBlobs, 1)
  assert.deepEqual((await site.verify(true)).report.findings, [])
})

test('a layer that docker-registry lost is found and moved again', async (t) => {
  const target = await startDockerRegistry(t)
  if (!target) return
  const blobs = join(target.root, 'data', 'docker', 'registry', 'v2', 'blobs', 'sha256')
  const fileOf = (digest: Digest) => join(blobs, hexOf(digest).slice(0, 2), hexOf(digest), 'data')
  const site = { ...(await mirroredTo(t, target.address)), fileOf }
  await rm(ownLayer(site).path)
  assert.deepEqual(
    (await site.verify(false)).report.findings.map(({ id }) => id),
    ['mirror.blob-missing'],
  )
  assert.equal((await site.mirror()).report?.pushedBlobs, 1)
  assert.deepEqual((await site.verify(true)).report.findings, [])
})

test('what broke stays a finding until it is mended, however often it is verified', async (t) => {
  const site = await mirrored(t)
  await rm(ownLayer(site).path)
  await site.verify(false)
  assert.equal((await site.verify(false)).report.findings.length, 1)
})

test('an image that was asked for and never arrived is missed by verification, until it arrives or is not wanted any more', async (t) => {
  const target = await startEmbeddedRegistry(t)
  const { additional, registriesConf } = await startUpstream(t)
  const workspace = await tempDir(t)
  const mirror = (names: readonly { readonly name: string }[]) =>
    runMirror(t, {
      config: imageSetText({ additional: names }),
      target: `docker://${target.address}/ocp`,
      registriesConf,
      workspace,
    })
  const { client: registry } = testClient(t)
  const { signal } = new AbortController()
  const verify = () => verifyMirrored(workspaceAt(workspace, '/'), undefined, { registry, signal })

  assert.equal((await mirror([...additional, { name: 'quay.io/nobody/nothing:v1' }])).exitStatus, 8)
  const { report } = await verify()
  assert.deepEqual(
    report.findings.map(({ id, summary }) => [id, summary.split(' ')[0]]),
    [['mirror.not-mirrored', 'quay.io/nobody/nothing:v1']],
  )

  assert.equal((await mirror(additional)).exitStatus, 0)
  assert.deepEqual((await verify()).report.findings, [])
})
