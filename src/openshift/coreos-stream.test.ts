import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import type { BootFile, BootImage } from './boot-image.ts'
import { bootImages, parseCoreosStream } from './coreos-stream.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const read = (path: string) => parseCoreosStream(readFileSync(join(data, path)), path)
const isFile = (image: BootImage): image is BootFile => image.kind === 'file'
const only = (images: readonly BootImage[], kind: BootImage['kind']) => images.filter((image) => image.kind === kind)

const streams = join(data, 'release/rhcos-stream')
for (const name of existsSync(streams) ? readdirSync(streams) : []) {
  test(`${name} is read whole: every file with its checksum, every AMI`, () => {
    const text = readFileSync(join(streams, name), 'utf8')
    const { images } = parseCoreosStream(text, name)
    // Each file has a sha256 of its own; an ostree commit starts no machine.
    const checksums = text.match(/"sha256": "[0-9a-f]{64}"/g)?.length ?? 0
    const commits = text.match(/"ostree": \{/g)?.length ?? 0
    assert.equal(images.filter(isFile).length, checksums - commits)
    const amis = images.flatMap((image) =>
      image.kind === 'regions' && image.platform === 'aws' ? [...image.regions] : [],
    )
    assert.equal(amis.length, text.match(/"ami-[0-9a-f]+"/g)?.length ?? 0)
    for (const { location, format, release } of images.filter(isFile)) {
      assert.match(location, /^https:\/\/\S+\/[\w.-]+$/)
      assert.match(
        format,
        /^(?:(?:4k|bios|uefi|dasd|zfcp)\.)?(?:raw|vmdk|vhd|qcow2|tar|ova|iso|ociarchive)(?:\.gz)?$|^pxe$/,
      )
      assert.notEqual(release, '')
    }
  })
}

test('the ConfigMap of a release: what a platform needs, by architecture', (t) => {
  const path = 'release/payload-4.12.0/0000_50_installer_coreos-bootimages.yaml'
  if (!existsSync(join(data, path))) return t.skip('the shared data is not here')
  const stream = read(path)
  assert.equal(stream.name, 'rhcos-4.12')
  assert.deepEqual(bootImages(stream, { architecture: 'x86_64', platform: 'vmware' }), [
    {
      kind: 'file',
      architecture: 'x86_64',
      platform: 'vmware',
      release: '412.86.202212081411-0',
      format: 'ova',
      role: 'disk',
      location:
        'https://rhcos.mirror.openshift.com/art/storage/prod/streams/4.12/builds/412.86.202212081411-0/x86_64/rhcos-412.86.202212081411-0-vmware.x86_64.ova',
      digest: 'sha256:4630ef6960567a477234a8f10c89eb1aa17066c250141abbd0c6c8311170bd85',
    },
  ])
})

test('a stream with every kind of cloud image', (t) => {
  const path = 'installer/coreos/rhcos-stream-4.22dev.json'
  if (!existsSync(join(data, path))) return t.skip('the shared data is not here')
  const stream = read(path)
  const [gcp] = only(bootImages(stream, { architecture: 'aarch64' }), 'cloud')
  assert.deepEqual(gcp, {
    kind: 'cloud',
    architecture: 'aarch64',
    platform: 'gcp',
    release: '9.6.20251023-0',
    project: 'rhcos-cloud',
    name: 'rhcos-9-6-20251023-0-gcp-aarch64',
  })
  const [powervs] = only(bootImages(stream, { platform: 'powervs' }), 'regions')
  assert.equal(
    powervs?.kind === 'regions' && powervs.regions.get('eu-de'),
    'rhcos-powervs-images-eu-de/rhcos-9-6-20251023-0-ppc64le-powervs.ova.gz',
  )
  const disks = only(bootImages(stream, { platform: 'kubevirt' }), 'container')
  assert.deepEqual(
    disks.map(({ architecture }) => architecture),
    ['s390x', 'x86_64'],
  )
  assert.match(disks[1]?.kind === 'container' ? (disks[1].digestReference ?? '') : '', /@sha256:d6f7de2cc6c6/)
  const azure = only(bootImages(stream, { architecture: 'x86_64', platform: 'azure' }), 'cloud-disk')
  assert.match(azure[0]?.kind === 'cloud-disk' ? azure[0].location : '', /blob\.core\.windows\.net.*\.vhd$/)
  const pxe = bootImages(stream, { architecture: 'x86_64', platform: 'metal' }).filter(isFile)
  assert.deepEqual(
    pxe.filter(({ format }) => format === 'pxe').map(({ role }) => role),
    ['kernel', 'initramfs', 'rootfs'],
  )
})

test('what rhcos.json of 4.7 says in its own words is said in those of today', (t) => {
  const path = 'release/rhcos-stream/sadasu-installer__data-data-rhcos-amd64.json.a7c1910.json'
  if (!existsSync(join(data, path))) return t.skip('the shared data is not here')
  const stream = read(path)
  assert.equal(stream.name, '47.83.202102090044-0')
  const metal = bootImages(stream, { architecture: 'x86_64', platform: 'metal' }).filter(isFile)
  assert.deepEqual(metal.map(({ format, role }) => `${format} ${role}`).sort(), [
    '4k.raw.gz disk',
    'iso disk',
    'pxe initramfs',
    'pxe kernel',
    'pxe rootfs',
    'raw.gz disk',
  ])
  const [aws] = only(stream.images, 'regions')
  assert.equal(aws?.kind === 'regions' && aws.regions.get('us-east-1'), 'ami-0d5f9982f029fbc14')
  assert.equal(only(stream.images, 'cloud-disk').length, 1)
})

test('a release with several streams has each of them, and the one for whoever does not choose', () => {
  const stream = (name: string) => ({
    stream: name,
    architectures: {
      x86_64: { images: { aws: { regions: { 'us-east-1': { release: '1', image: `ami-${name}` } } } } },
    },
  })
  const configMap = (streams: string) =>
    JSON.stringify({ kind: 'ConfigMap', data: { stream: JSON.stringify(stream('rhcos-9')), streams } })
  const text = configMap(JSON.stringify({ 'rhel-9': stream('rhcos-9'), 'rhel-10': stream('rhcos-10') }))
  const read = parseCoreosStream(text, 'f.yaml')
  assert.equal(read.name, 'rhcos-9')
  assert.deepEqual([...(read.streams?.keys() ?? [])], ['rhel-9', 'rhel-10'])
  const ami = (name?: string) => {
    const [image] = bootImages(read, { platform: 'aws', ...(name !== undefined && { stream: name }) })
    return image?.kind === 'regions' ? image.regions.get('us-east-1') : undefined
  }
  assert.deepEqual([ami(), ami('rhel-10'), ami('rhel-11')], ['ami-rhcos-9', 'ami-rhcos-10', undefined])
  assert.throws(() => parseCoreosStream(configMap('{"rhel-10": 5}'), 'f.yaml'), {
    code: 'BOOT_IMAGES_INVALID',
    message: /f\.yaml: data\.streams.*rhel-10/,
  })
})

test('a checksum that is none, a location that is none, and a file that is something else are refused', () => {
  const stream = (artifact: object) =>
    JSON.stringify({
      stream: 's',
      architectures: { x86_64: { artifacts: { qemu: { release: '1', formats: { qcow2: { disk: artifact } } } } } },
    })
  const sha256 = 'a'.repeat(64)
  const rejects = (text: string, message: RegExp) =>
    assert.throws(() => parseCoreosStream(text, 'f.json'), { code: 'BOOT_IMAGES_INVALID', message })
  rejects(stream({ location: 'https://a.example/b', sha256: 'ABC' }), /qcow2\.disk\.sha256: no SHA-256/)
  rejects(stream({ location: 'file:///etc/passwd', sha256 }), /qcow2\.disk\.location/)
  rejects('{"kind": "Secret"}', /neither architectures nor data\.stream/)
  rejects('{', /not JSON/)
  rejects('a: *b', /f\.json/)
  rejects(
    JSON.stringify({
      baseURI: 'https://a.example/x86_64/',
      buildid: '1',
      images: { qemu: { path: '../../secret', sha256 } },
    }),
    /images\.qemu\.path: no file name/,
  )
  rejects(
    JSON.stringify({ stream: 's', architectures: { x86_64: { images: { kubevirt: { image: 5 } } } } }),
    /architectures\.x86_64\.images\.kubevirt\.image/,
  )
})

test('whatever a file says, it is read, or refused with a reason', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      try {
        parseCoreosStream(text, 'f')
      } catch (error) {
        assert.equal((error as { code?: string }).code, 'BOOT_IMAGES_INVALID')
      }
    }),
  )
})
