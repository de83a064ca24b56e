import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseImageSetConfiguration } from '../config/image-set-configuration.ts'
import { parseCoreosStream } from '../openshift/coreos-stream.ts'
import { chooseBootImages, coreosName, filesStanza, type ReleaseBootImages } from './extract-boot-images.ts'

const file = join(
  import.meta.dirname,
  '../../../shared/data/release/payload-4.12.0/0000_50_installer_coreos-bootimages.yaml',
)

/** The boot images of OpenShift 4.12.0. */
function realImages(t: TestContext): ReleaseBootImages | undefined {
  if (!existsSync(file)) {
    t.skip('the payload of 4.12.0 is not here')
    return undefined
  }
  const text = readFileSync(file, 'utf8')
  return { version: '4.12.0', architecture: 'x86_64', text, ...parseCoreosStream(text, file) }
}

const filesOf = (images: ReturnType<typeof chooseBootImages>) => images.filter((image) => image.kind === 'file')

test('of 4.12.0: the one OVA for vSphere, and what bare metal can be booted from', (t) => {
  const release = realImages(t)
  if (!release) return
  const vmware = chooseBootImages(release, { architecture: 'x86_64', platform: 'vmware' })
  assert.deepEqual(
    filesOf(vmware).map(({ format }) => format),
    ['ova'],
  )
  const metal = filesOf(chooseBootImages(release, { architecture: 'aarch64', platform: 'metal' }))
  assert.deepEqual(metal.map(({ format, role }) => `${format} ${role}`).toSorted(), [
    '4k.raw.gz disk',
    'iso disk',
    'pxe initramfs',
    'pxe kernel',
    'pxe rootfs',
    'raw.gz disk',
  ])
})

test('of 4.12.0: AMI ids by region', (t) => {
  const release = realImages(t)
  if (!release) return
  const aws = chooseBootImages(release, { architecture: 'x86_64', platform: 'aws' })
  const regions = aws.flatMap((image) => (image.kind === 'regions' ? [...image.regions] : []))
  assert.equal(regions.length, 24)
  assert.deepEqual(
    regions.find(([region]) => region === 'eu-west-1'),
    ['eu-west-1', 'ami-04504e8799057980c'],
  )
})

test('the stanza to paste is one that the configuration accepts, with each file of the platform', (t) => {
  const release = realImages(t)
  if (!release) return
  const files = filesOf(chooseBootImages(release, { platform: 'openstack' }))
  const head = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\n'
  const { mirror } = parseImageSetConfiguration({ file: 'isc.yaml', text: head + filesStanza(files) })
  assert.deepEqual(
    mirror.files?.map(({ url, sha256 }) => `${url} sha256:${sha256}`),
    files.map(({ location, digest }) => `${location} ${digest}`),
  )
  assert.equal(files.length, 4)
})

test('a platform or an architecture without boot images is refused with those that there are', (t) => {
  const release = realImages(t)
  if (!release) return
  assert.throws(() => chooseBootImages(release, { architecture: 's390x', platform: 'vmware' }), {
    code: 'USAGE',
    message: /rhcos-4\.12 has no boot images of vmware for s390x/,
    hint: /metal/,
  })
  assert.throws(() => chooseBootImages(release, { architecture: 'riscv64' }), { hint: /x86_64.*--arch/ })
})

test('architectures are named as CoreOS names them', () => {
  assert.deepEqual(['amd64', 'arm64', 's390x', 'multi'].map(coreosName), ['x86_64', 'aarch64', 's390x', undefined])
})
