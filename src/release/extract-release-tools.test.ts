import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { makeIndex } from '../../testkit/image.ts'
import { isSignedMacho, signedMacho } from '../../testkit/macho.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { makeLayer } from '../../testkit/tar.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { tarFile } from '../archive/tar/ustar.ts'
import { systemClock } from '../host/clock.ts'
import { digestOf, hexOf } from '../oci/digest.ts'
import type { Reference } from '../oci/reference.ts'
import { sampleBytes } from '../quickstart/sample-bytes.ts'
import { type SampleImage, sampleImage } from '../quickstart/sample-image.ts'
import { payloadEntries } from '../quickstart/sample-payload.ts'
import { parseRegistriesConf } from '../registries/parse.ts'
import { withRegistriesConf } from '../remote/registries-conf-source.ts'
import { extractReleaseTools, type ToolsRequest } from './extract-release-tools.ts'
import { placeholderOf } from './patch-binary.ts'

const components = 'openshift-release-dev/ocp-v4.0-art-dev'
const releases = 'openshift-release-dev/ocp-release'

/** A program for an architecture, which prints nothing. */
function binary(architecture: string): Buffer {
  return Buffer.concat([
    Buffer.from(`#!/bin/sh\nexit 0\n${architecture}\n`),
    placeholderOf('image'),
    placeholderOf('version'),
    placeholderOf('architecture'),
  ])
}

function imageWith(files: Readonly<Record<string, Buffer>>, architecture: string): SampleImage {
  const entries = Object.entries(files).map(([path, content]) => tarFile(path, content))
  return sampleImage({ layers: [makeLayer(entries)], platform: { os: 'linux', architecture } })
}

/** A release for two architectures: an index of release images, whose components are indexes as well. */
function multiRelease() {
  const architectures = ['amd64', 'arm64']
  const installer = makeIndex({
    children: architectures.map((one) => imageWith({ 'usr/bin/openshift-install': binary(one) }, one)),
  })
  const payload = payloadEntries(
    [{ name: 'installer', reference: `quay.io/${components}@${installer.digest}`, seed: 'installer' }],
    { version: '4.18.9' },
  )
  const children = architectures.map((architecture) =>
    sampleImage({
      layers: [makeLayer([...payload, tarFile('own', architecture)])],
      platform: { os: 'linux', architecture },
    }),
  )
  return { installer, image: makeIndex({ children, tag: '4.18.9-multi' }) }
}

const amd64 = { os: 'linux', architecture: 'amd64' } as const
const plain: Reference = { registry: 'quay.io', repository: releases, tag: '4.18.9' }

/** A release, tagged 4.18.9, that names one component. */
function releaseOf(name: string, component: SampleImage, architecture = 'amd64'): Parameters<typeof pushAll>[2] {
  const reference = `quay.io/${components}@${component.digest}`
  const payload = payloadEntries([{ name, reference, seed: name }], { version: '4.18.9' })
  const platform = { os: 'linux', architecture }
  return [
    { repository: components, images: [component] },
    { repository: releases, images: [sampleImage({ layers: [makeLayer(payload)], platform, tag: '4.18.9' })] },
  ]
}

async function startSite(t: TestContext, content: Parameters<typeof pushAll>[2]) {
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  await pushAll(client, registry.address, content)
  registry.requests.length = 0
  const conf = `[[registry]]\nprefix = "quay.io"\nlocation = "${registry.address}"\ninsecure = true\n`
  const source = withRegistriesConf(client, parseRegistriesConf(conf, 'registries.conf'))
  const directory = await tempDir(t)
  const extract = (release: Reference, more: Partial<ToolsRequest> = {}) =>
    extractReleaseTools({
      source,
      release,
      commands: ['openshift-install'],
      platform: { os: 'linux', architecture: 'arm64' },
      directory,
      isForced: false,
      ...more,
    })
  return { registry, directory, extract, client }
}

async function multiSite(t: TestContext) {
  const release = multiRelease()
  const content = [
    { repository: components, images: [release.installer] },
    { repository: releases, images: [release.image] },
  ]
  return { release, ...(await startSite(t, content)) }
}

const tagged: Reference = { registry: 'quay.io', repository: releases, tag: '4.18.9-multi' }

test('of a release for several architectures the tool for the one that is asked for, told the digest of all of them', async (t) => {
  const { release, extract } = await multiSite(t)
  const { marks, tools } = await extract(tagged)
  assert.deepEqual(marks, {
    image: `quay.io/${releases}@${release.image.digest}`,
    version: '4.18.9',
    architecture: 'multi (linux/arm64)',
  })
  const [tool] = tools
  const text = await readFile(tool?.file ?? '', 'latin1')
  assert.match(text, /^#!\/bin\/sh\nexit 0\narm64\n/)
  assert.ok(text.includes('multi (linux/arm64)\0'))
  assert.equal(
    (await extract(tagged, { platform: { os: 'linux', architecture: 'amd64' }, isForced: true })).marks.architecture,
    'multi (linux/amd64)',
  )
})

test('an architecture that the release is not for is refused with those that it is for', async (t) => {
  const { extract } = await multiSite(t)
  await assert.rejects(extract(tagged, { architecture: 's390x' }), {
    code: 'RELEASE_ABSENT',
    message: /is for amd64, arm64/,
  })
})

test('the components of a release that is read from a mirror are found beside it', async (t) => {
  const { release, directory, extract, client, registry } = await multiSite(t)
  await pushAll(client, registry.address, [
    { repository: 'ocp/openshift/release-images', images: [release.image] },
    { repository: 'ocp/openshift/release', images: [release.installer] },
  ])
  const mirror = { registry: registry.address, repository: 'ocp/openshift/release-images' }
  const { marks } = await extract({ ...mirror, tag: '4.18.9-multi' })
  assert.equal(marks.image, `${mirror.registry}/${mirror.repository}@${release.image.digest}`)
  assert.deepEqual(await readdir(directory), ['openshift-install'])
  assert.ok(registry.requests.every(({ path }) => !path.includes(components) || path.includes('/blobs/uploads')))
})

test('an interruption in the middle of a tool leaves nothing behind', async (t) => {
  const large = Buffer.concat([binary('amd64'), ...sampleBytes('large', 2_000_000)])
  const installer = imageWith({ 'usr/bin/openshift-install': large }, 'amd64')
  const { registry, directory, extract } = await startSite(t, releaseOf('installer', installer))
  const layer = installer.blobs[0]?.descriptor.digest ?? ''
  registry.fault({ path: new RegExp(layer), stallAfter: 1_500_000 })
  const interrupted = new AbortController()
  const extracting = extract(plain, { signal: interrupted.signal, platform: amd64 })
  const rejected = assert.rejects(extracting)
  while ((await readdir(directory)).length === 0) await new Promise((resolve) => setImmediate(resolve))
  interrupted.abort(new Error('interrupted'))
  await rejected
  assert.deepEqual(await readdir(directory), [])
})

test('a tool that does not end is stopped, and its result is not known', async (t) => {
  const endless = Buffer.concat([Buffer.from('#!/bin/sh\nexec sleep 60\n'), placeholderOf('image')])
  const machine = { os: 'linux', architecture: 'arm64' } as const
  const installer = imageWith({ 'usr/bin/openshift-install': endless }, 'arm64')
  const { directory, extract } = await startSite(t, releaseOf('installer', installer, 'arm64'))
  const { tools } = await extract(plain, { check: { clock: systemClock, machine, timeoutMs: 50 } })
  assert.deepEqual(tools[0]?.check, { outcome: 'not-run', why: 'it did not end within 0.05 s' })
  // Its home is gone with it.
  assert.deepEqual(await readdir(directory), ['openshift-install'])
})

test('a tool for a Mac is signed again after it was told its release', async (t) => {
  const macTool = signedMacho({ content: placeholderOf('version') })
  const artifacts = imageWith({ 'usr/share/openshift/mac_arm64/oc': macTool }, 'amd64')
  const { directory, extract } = await startSite(t, releaseOf('cli-artifacts', artifacts))
  const platform = { os: 'mac', architecture: 'arm64' } as const
  const { tools } = await extract(plain, { commands: ['oc'], platform })
  assert.deepEqual(
    tools.map(({ signature, marks }) => [signature, marks]),
    [['remade', { version: '4.18.9' }]],
  )
  const written = await readFile(`${directory}/oc`)
  assert.equal(tools[0]?.sha256, hexOf(digestOf(written)))
  assert.ok(written.includes('4.18.9\0') && isSignedMacho(written))
})

test('a tool that is not where it is expected first is taken from where it is, and that is said', async (t) => {
  const artifacts = imageWith({ 'usr/share/openshift/linux_amd64/openshift-install': binary('amd64') }, 'amd64')
  const { extract } = await startSite(t, releaseOf('installer-artifacts', artifacts))
  const { tools, findings } = await extract(plain, { platform: amd64 })
  assert.equal(tools[0]?.from.image, 'installer-artifacts')
  assert.deepEqual(
    findings.map(({ id, evidence }) => [id, evidence]),
    [['release.tool-elsewhere', 'it has no image installer']],
  )
})

test('a tool for another machine is not run', async (t) => {
  const { extract } = await multiSite(t)
  const machine = { os: 'linux', architecture: 's390x' } as const
  const { tools } = await extract(tagged, { check: { clock: systemClock, machine } })
  assert.deepEqual(tools[0]?.check, { outcome: 'not-run', why: 'it is for linux/arm64' })
})
