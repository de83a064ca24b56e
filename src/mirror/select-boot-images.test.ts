import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeRelease } from '../../testkit/release-payload.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll, releaseContent } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import type { BootImageEntry } from '../config/image-set-files.ts'
import { parseReference } from '../oci/reference.ts'
import { parseCoreosStream } from '../openshift/coreos-stream.ts'
import { releaseSources } from '../quickstart/sample-release.ts'
import { LocalContent } from './local-content.ts'
import { chooseBootImages, selectBootImages } from './select-boot-images.ts'
import { namedRelease } from './select-release.ts'
import { workspaceAt } from './workspace.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const target = { registry: 'lab', path: 'ocp' }
const sum = (digit: string) => digit.repeat(64)
const disk = (name: string, digit: string) => ({ location: `https://rhcos.lab/${name}`, sha256: sum(digit) })

const stream = {
  stream: 'rhcos-4.18',
  architectures: {
    x86_64: {
      artifacts: {
        vmware: { release: '418.9', formats: { ova: { disk: disk('rhcos-418.9-vmware.x86_64.ova', 'a') } } },
        metal: {
          release: '418.9',
          formats: {
            iso: { disk: disk('live.x86_64.iso', 'b') },
            pxe: {
              kernel: disk('kernel', 'c'),
              initramfs: disk('initramfs.img', 'd'),
              rootfs: disk('rootfs.img', 'e'),
            },
          },
        },
        aws: { release: '418.9', formats: { 'vmdk.gz': { disk: disk('aws.vmdk.gz', 'f') } } },
      },
      images: {
        aws: { regions: Object.fromEntries(['a', 'b', 'c', 'd'].map((one) => [one, { image: `ami-${one}` }])) },
      },
    },
    aarch64: { artifacts: {}, images: {} },
  },
}

function choose(entry: BootImageEntry, architecture = 'x86_64') {
  return chooseBootImages(parseCoreosStream(JSON.stringify(stream), 'stream'), {
    entry,
    architecture,
    version: '4.18.9',
  })
}

test('the file of a platform is taken with the URL and checksum that the release names, under its version', () => {
  const { files, findings } = choose({ platform: 'vmware' })
  assert.deepEqual(findings, [])
  assert.deepEqual(files, [
    {
      name: 'rhcos-418.9-vmware.x86_64.ova',
      url: new URL('https://rhcos.lab/rhcos-418.9-vmware.x86_64.ova'),
      digest: `sha256:${sum('a')}`,
      repository: 'files/rhcos-418.9-vmware.x86_64.ova',
      tag: '4.18.9',
      class: 'release',
      why: 'boot image vmware ova (x86_64) of release 4.18.9',
    },
  ])
  assert.deepEqual(
    choose({ platform: 'metal', format: 'pxe' }).files.map(({ name }) => name),
    ['kernel', 'initramfs.img', 'rootfs.img'],
  )
})

test('where a cloud holds the image, its ids are told and nothing is carried, unless the disk is asked for', () => {
  const { files, findings } = choose({ platform: 'aws' })
  assert.deepEqual(files, [])
  assert.equal(findings[0]?.severity, 'info')
  assert.match(findings[0]?.summary ?? '', /start from the AMIs of 4 regions: a ami-a, b ami-b, c ami-c, …$/)
  assert.equal(findings[0]?.evidence, 'a ami-a\nb ami-b\nc ami-c\nd ami-d')
  assert.match(findings[0]?.remedy ?? '', /add format: vmdk.gz/)
  assert.equal(choose({ platform: 'aws', format: 'vmdk.gz' }).files[0]?.name, 'aws.vmdk.gz')
})

test('what the release does not have, or has several of, is an error that names what there is', () => {
  const cases: [BootImageEntry, string, RegExp][] = [
    [{ platform: 'nutanix' }, 'x86_64', /no boot image for nutanix \(x86_64\); for x86_64 it has vmware, metal, aws$/],
    [{ platform: 'vmware' }, 's390x', /for s390x it has nothing: there is x86_64$/],
    [{ platform: 'vmware', format: 'iso' }, 'x86_64', /in the format iso; it has ova$/],
    [{ platform: 'metal' }, 'x86_64', /must be said with format: release 4.18.9 has iso, pxe$/],
  ]
  for (const [entry, architecture, message] of cases)
    assert.throws(() => choose(entry, architecture), { code: 'BOOT_IMAGE_ABSENT', message })
})

test('the boot images of a real stream are found, and their AMIs', (t) => {
  const path = join(data, 'installer/coreos/rhcos-stream-4.22dev.json')
  if (!existsSync(path)) return t.skip('the shared data is not here')
  const real = parseCoreosStream(readFileSync(path), path)
  const { files } = chooseBootImages(real, { entry: { platform: 'vmware' }, architecture: 'x86_64', version: '4.22.0' })
  assert.match(files[0]?.name ?? '', /^rhcos-.*-vmware\.x86_64\.ova$/)
  const held = chooseBootImages(real, { entry: { platform: 'aws' }, architecture: 'aarch64', version: '4.22.0' })
  assert.match(held.findings[0]?.evidence ?? '', /^us-east-1 ami-[0-9a-f]+$/m)
})

test('a release without one of them fails for that one alone, in the class of the release', async (t) => {
  const bootImages = JSON.stringify({ kind: 'ConfigMap', data: { stream: JSON.stringify(stream) } })
  const sample = makeRelease({ components: 2, bootImages })
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  await pushAll(client, registry.address, releaseContent(sample))
  const workspace = workspaceAt(await tempDir(t), '/')
  const options = { source: client, local: new LocalContent(workspace), workspace, signal: t.signal }
  const release = namedRelease(parseReference(`${registry.address}/${releaseSources.images}:${sample.tag}`))
  const entries = [{ platform: 'vmware' }, { platform: 'nutanix' }, { platform: 'vmware', format: 'ova' }]
  const { files, unreadable } = await selectBootImages(release, { entries, target }, options)
  assert.deepEqual(
    files.map(({ name }) => name),
    ['rhcos-418.9-vmware.x86_64.ova'],
  )
  assert.deepEqual(
    unreadable.map(({ image, error }) => [image.class, image.destination.repository, error.code]),
    [['release', 'ocp/files/boot-images-nutanix', 'BOOT_IMAGE_ABSENT']],
  )
})
