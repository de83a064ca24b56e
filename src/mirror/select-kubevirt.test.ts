import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeRelease } from '../../testkit/release-payload.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll, releaseContent } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { digestOf, hexOf } from '../oci/digest.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { bootImagesFile } from '../openshift/release-payload.ts'
import { releaseSources } from '../quickstart/sample-release.ts'
import { LocalContent } from './local-content.ts'
import { kubeVirtOf, selectKubeVirt } from './select-kubevirt.ts'
import { namedRelease, readRelease, selectRelease } from './select-release.ts'
import { workspaceAt } from './workspace.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const target = { registry: 'lab', path: 'ocp' }
const release = namedRelease(parseReference('quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64'))
const art = 'quay.io/openshift-release-dev/ocp-v4.0-art-dev'

/** A ConfigMap whose stream has a disk for each of these architectures. */
function bootImages(architectures: readonly string[]): string {
  const images = (architecture: string) => ({
    kubevirt: { release: '9.6', image: `${art}:disk`, 'digest-ref': `${art}@${digestOf(architecture)}` },
  })
  const stream = {
    stream: 'rhcos-4.18',
    architectures: Object.fromEntries(
      ['aarch64', 'ppc64le', 's390x', 'x86_64'].map((one) => [
        one,
        { artifacts: {}, images: architectures.includes(one) ? images(one) : {} },
      ]),
    ),
  }
  return JSON.stringify({
    kind: 'ConfigMap',
    metadata: { name: 'coreos-bootimages' },
    data: { stream: JSON.stringify(stream) },
  })
}

function choose(text: string | undefined, architectures?: readonly string[]) {
  const payload = { version: '4.18.9', components: [], ...(text !== undefined && { bootImages: text }) }
  const { images, unreadable } = kubeVirtOf(release, payload, { architectures, target })
  for (const { error } of unreadable) throw error
  return images.map(({ source, destination }) => [formatReference(source), destination.tag])
}

test('the tag is that of oc-mirror: with the architecture only where several are mirrored', () => {
  const text = bootImages(['s390x', 'x86_64'])
  const x86 = `${art}@${digestOf('x86_64')}`
  const s390x = `${art}@${digestOf('s390x')}`
  const plain = '4.18.9-x86_64-kube-virt-container'
  assert.deepEqual(choose(text), [[x86, plain]])
  // There is no disk for arm64: it does not count.
  assert.deepEqual(choose(text, ['amd64', 'arm64']), [[x86, plain]])
  assert.deepEqual(choose(text, ['s390x']), [[s390x, plain]])
  assert.deepEqual(choose(text, ['multi']), [
    [s390x, `${plain}-s390x`],
    [x86, `${plain}-x86_64`],
  ])
  assert.deepEqual(choose(bootImages(['x86_64']), ['multi']), [[x86, `${plain}-x86_64`]])
})

test('disks of further streams come under names of their own, and the same one only once', () => {
  const disk = (name: string) => ({ image: `${art}:disk`, 'digest-ref': `${art}@${digestOf(name)}` })
  const stream = (name: string, architectures: readonly string[]) => ({
    stream: name,
    architectures: Object.fromEntries(
      architectures.map((one) => [one, { images: { kubevirt: disk(`${name}/${one}`) } }]),
    ),
  })
  const [nine, ten] = [stream('9', ['x86_64', 's390x']), stream('10', ['x86_64'])]
  const data = { stream: JSON.stringify(nine), streams: JSON.stringify({ 'rhel-9': nine, 'rhel-10': ten }) }
  const text = JSON.stringify({ kind: 'ConfigMap', data })
  const tag = '4.18.9-x86_64-kube-virt-container'
  assert.deepEqual(choose(text), [
    [`${art}@${digestOf('9/x86_64')}`, tag],
    [`${art}@${digestOf('10/x86_64')}`, `${tag}-rhel-10`],
  ])
  assert.deepEqual(
    choose(text, ['multi']).map(([, name]) => name),
    [`${tag}-x86_64`, `${tag}-s390x`, `${tag}-rhel-10-x86_64`],
  )
})

test('a release without the disk says what it lacks, and for which architectures it has one', () => {
  assert.throws(() => choose(undefined), {
    code: 'PAYLOAD_INVALID',
    message: /no release-manifests\/0000_50_installer/,
  })
  assert.throws(() => choose(bootImages(['x86_64']), ['arm64', 'ppc64le']), {
    code: 'PAYLOAD_INVALID',
    message: /have one for x86_64, and not for aarch64, ppc64le/,
  })
  assert.throws(() => choose('kind: ConfigMap\ndata: {stream: nonsense}\n'), { code: 'PAYLOAD_INVALID' })
})

test('the disk of a real release is found in its ConfigMap', (t) => {
  const path = join(data, 'mirror/oc-mirror/release/4.14.1-x86_64/0000_50_installer_coreos-bootimages.yaml')
  if (!existsSync(path)) return t.skip('the shared data is not here')
  const [[source] = []] = choose(readFileSync(path, 'utf8'))
  assert.equal(source, `${art}@sha256:729265d5ef6ed6a45bcd55c46877e3acb9eae3f49c78cd795d5b53aa85e3775b`)
})

async function site(t: TestContext, text?: string) {
  const sample = makeRelease({ components: 3, ...(text !== undefined && { bootImages: text }) })
  const source = await startScriptedRegistry(t)
  const { client } = testClient(t)
  await pushAll(client, source.address, releaseContent(sample))
  const workspace = workspaceAt(await tempDir(t), '/')
  const local = new LocalContent(workspace)
  const options = { source: client, local, workspace, signal: new AbortController().signal }
  const wanted = namedRelease(parseReference(`${source.address}/${releaseSources.images}:${sample.tag}`))
  source.requests.length = 0
  const blobs = () => source.requests.filter(({ method, path }) => method === 'GET' && path.includes('/blobs/')).length
  return { sample, wanted, options, workspace, local, blobs }
}

test('the boot images are read in the pass that reads the payload, and kept where oc-mirror keeps them', async (t) => {
  const { wanted, options, workspace, local, blobs, sample } = await site(t, bootImages(['x86_64']))
  await selectRelease(wanted, target, options)
  const read = blobs()
  await local.removeBlobs()
  const { images, unreadable } = await selectKubeVirt(wanted, { target }, options)
  assert.deepEqual([images.length, unreadable.length], [1, 0])
  assert.equal(blobs(), read)
  assert.ok(existsSync(join(workspace.root, 'hold-release', 'ocp-release', sample.tag, bootImagesFile)))
})

test('a workspace that kept a payload without its boot images reads it again, and only when they are needed', async (t) => {
  const { wanted, options, workspace, local, blobs, sample } = await site(t, bootImages(['x86_64']))
  await selectRelease(wanted, target, options)
  await rm(join(workspace.state, 'payloads', hexOf(sample.image.digest), bootImagesFile))
  await local.removeBlobs()
  const read = blobs()
  await readRelease(wanted.image, options)
  assert.equal(blobs(), read)
  assert.equal((await selectKubeVirt(wanted, { target }, options)).images.length, 1)
  assert.ok(blobs() > read)
})

test('where it is asked for and is not there, that is a failure of its own, by the name it would have had', async (t) => {
  const { wanted, options } = await site(t)
  assert.equal((await selectRelease(wanted, target, options)).images.length, 4)
  const { images, unreadable } = await selectKubeVirt(wanted, { target }, options)
  assert.equal(images.length, 0)
  assert.equal(unreadable[0]?.error.code, 'PAYLOAD_INVALID')
  assert.equal(unreadable[0]?.image.class, 'release')
  assert.equal(unreadable[0]?.image.destination.tag, `${wanted.tag}-kube-virt-container`)
})

test('boot images cost no layer that the payload itself does not need', async (t) => {
  const { wanted, options, blobs } = await site(t)
  await selectRelease(wanted, target, options)
  assert.equal(blobs(), 1)
})
