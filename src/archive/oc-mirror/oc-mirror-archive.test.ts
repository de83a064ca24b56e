import assert from 'node:assert/strict'
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { makeImage, makeIndex, makeMultiArch, makeReferrer, makeSignature } from '../../../testkit/image.ts'
import { writeOcMirrorArchive } from '../../../testkit/oc-mirror-archive.ts'
import { tarContent, tarEnd } from '../../../testkit/tar-blocks.ts'
import { type Cleanup, tempDir } from '../../../testkit/temp-dir.ts'
import { KnownError } from '../../errors/known-error.ts'
import { digestOf, hexOf } from '../../oci/digest.ts'
import { parseReference } from '../../oci/reference.ts'
import { type OcMirrorArchive, openOcMirrorArchive } from './oc-mirror-archive.ts'

function content() {
  const image = makeImage({ seed: 'one', tag: '1' })
  const list = makeMultiArch({ seed: 'list', architectures: ['amd64', 'arm64'], mediaTypes: 'docker', tag: '2' })
  const sbom = makeReferrer({ subject: image, artifactType: 'application/spdx+json', content: '{}' })
  return {
    image,
    list,
    sbom,
    signature: makeSignature(image),
    repositories: [
      { repository: 'team/app', images: [image, makeSignature(image), sbom] },
      { repository: 'team/list', images: [list] },
    ],
  }
}

async function open(directory: string): Promise<OcMirrorArchive> {
  const archive = await openOcMirrorArchive(directory)
  assert.ok(archive)
  return archive
}

async function read(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks))
}

for (const archiveBytes of [undefined, 3000, 500]) {
  test(`every image in tars of ${archiveBytes ?? 'any'} bytes is found by tag and by digest, with the bytes that it has`, async (t) => {
    const { repositories } = content()
    const { directory, tars } = await writeOcMirrorArchive(t, {
      content: repositories,
      ...(archiveBytes !== undefined && { archiveBytes }),
    })
    assert.equal(tars.length > 1, archiveBytes !== undefined)
    const archive = await open(directory)
    assert.deepEqual(archive.flaws, [])
    for (const { repository, images } of repositories) {
      const name = parseReference(`quay.io/${repository}`)
      for (const { manifests, blobs } of images) {
        for (const { descriptor, bytes, tag } of manifests) {
          const expected = { mediaType: descriptor.mediaType, digest: descriptor.digest, size: bytes.byteLength }
          assert.deepEqual(await archive.resolve({ ...name, digest: descriptor.digest }), expected)
          if (tag !== undefined) assert.deepEqual(await archive.resolve({ ...name, tag }), expected)
          const manifest = await archive.fetchManifest({ ...name, digest: descriptor.digest })
          assert.deepEqual(manifest?.bytes, Buffer.from(bytes))
        }
        for (const { descriptor, open: openBlob } of blobs) {
          const bytes = await read(openBlob() as AsyncIterable<Uint8Array>)
          assert.deepEqual(await read(archive.fetchBlob(name, descriptor)), bytes)
          assert.deepEqual(await read(archive.fetchBlob(name, descriptor, { offset: 7 })), bytes.subarray(7))
        }
      }
    }
  })
}

const source = parseReference('quay.io/team/app')

test('what hangs on an image is found in the repository of the image', async (t) => {
  const { image, sbom, signature, repositories } = content()
  const { directory } = await writeOcMirrorArchive(t, {
    content: [...repositories, { repository: 'other/app', images: [image] }],
  })
  const archive = await open(directory)
  const subject = { ...source, digest: image.digest }
  const tag = `sha256-${hexOf(image.digest)}.sig`
  assert.equal((await archive.resolveBeside(subject, tag))?.digest, signature.digest)
  const { artifactType, ...rest } = sbom.descriptor
  assert.deepEqual(await archive.referrers(source, image.digest), [{ ...rest, artifactType }])
  const elsewhere = parseReference('quay.io/other/app')
  assert.equal(await archive.resolveBeside({ ...elsewhere, digest: image.digest }, tag), undefined)
  assert.deepEqual(await archive.referrers(elsewhere, image.digest), [])
  const renamed = parseReference('quay.io/unknown/name')
  assert.equal((await archive.resolveBeside({ ...renamed, digest: image.digest }, tag))?.digest, signature.digest)
  assert.equal((await archive.referrers(renamed, image.digest)).length, 1)
})

test('a list of referrers under a tag counts, and an image that is tagged by its own digest is none', async (t) => {
  const { image, sbom } = content()
  const tag = `sha256-${hexOf(image.digest)}`
  const empty = makeReferrer({ subject: makeImage({ seed: 'none' }), artifactType: 'text/plain', content: 'x' })
  const listed = makeIndex({
    children: [{ ...empty, descriptor: { ...empty.descriptor, artifactType: 'text/plain' } }],
    tag,
  })
  const repositories = [{ repository: 'team/app', images: [image, sbom, empty, listed] }]
  const archive = await open((await writeOcMirrorArchive(t, { content: repositories })).directory)
  assert.deepEqual(
    (await archive.referrers(source, image.digest)).map(({ digest }) => digest),
    [sbom.digest, empty.digest].sort(),
  )
  const options = { seed: 'list', architectures: ['amd64', 'arm64'] }
  const { digest: subject } = makeMultiArch(options)
  const itself = makeMultiArch({ ...options, tag: `sha256-${hexOf(subject)}` })
  const { directory } = await writeOcMirrorArchive(t, { content: [{ repository: 'team/app', images: [itself] }] })
  assert.deepEqual(await (await open(directory)).referrers(source, subject), [])
})

test('images, configurations and the files of the workspace are listed', async (t) => {
  const { image, list, signature, repositories } = content()
  const { directory, tars } = await writeOcMirrorArchive(t, {
    content: repositories,
    configuration: 'kind: ImageSetConfiguration\n# mine\n',
    workingDir: {
      'signatures/4.18.9-x86_64-sha256-05ba8e': 'signed',
      'hold-release/ocp-release/4.18.9-x86_64/release-manifests/image-references': '{}',
      'logs/oc-mirror.log': 'noise',
    },
    history: [list.digest],
  })
  const archive = await open(directory)
  assert.deepEqual(await archive.images(), [
    { repository: 'team/app', tag: '1', digest: image.digest, isCarried: true },
    { repository: 'team/app', tag: `sha256-${hexOf(image.digest)}.sig`, digest: signature.digest, isCarried: true },
    { repository: 'team/list', tag: '2', digest: list.digest, isCarried: false },
  ])
  const [configuration] = await archive.configurations()
  assert.deepEqual(configuration, {
    name: 'isc_2026-01-16T12:30:04Z',
    file: tars[0],
    bytes: Buffer.from('kind: ImageSetConfiguration\n# mine\n'),
  })
  assert.deepEqual(archive.documentNames, [
    'isc_2026-01-16T12:30:04Z',
    'working-dir/hold-release/ocp-release/4.18.9-x86_64/release-manifests/image-references',
    'working-dir/signatures/4.18.9-x86_64-sha256-05ba8e',
  ])
  assert.equal(
    String((await archive.readDocument('working-dir/signatures/4.18.9-x86_64-sha256-05ba8e'))?.bytes),
    'signed',
  )
  assert.equal(await archive.readDocument('working-dir/logs/oc-mirror.log'), undefined)
})

test('a directory without anything of oc-mirror is none, and an archive of v1 is named as such', async (t) => {
  const directory = await tempDir(t)
  await writeFile(join(directory, 'sallyport-v1-000001-0001.tar'), 'x')
  await mkdir(join(directory, 'blobs'))
  assert.equal(await openOcMirrorArchive(directory), undefined)
  assert.equal(await openOcMirrorArchive(join(directory, 'absent')), undefined)
  await writeFile(join(directory, 'mirror_seq1_000000.tar'), 'x')
  await assert.rejects(openOcMirrorArchive(directory), {
    code: 'ARCHIVE_INVALID',
    message: /seq1_000000\.tar.*oc-mirror v1/,
  })
  const { tars } = await writeOcMirrorArchive(t, { content: content().repositories })
  await rename(tars[0] ?? '', join(directory, 'mirror_000001.tar'))
  assert.deepEqual(
    (await open(directory)).flaws.map(({ file }) => basename(file)),
    ['mirror_seq1_000000.tar'],
  )
})

test('an archive that lacks what an earlier one carried says so, and is whole beside the earlier one', async (t) => {
  const { image, list, repositories } = content()
  const [app, lists] = repositories
  assert.ok(app && lists)
  const earlier = await writeOcMirrorArchive(t, { content: [app] })
  const layer = image.blobs[0]?.descriptor
  assert.ok(layer)
  const { directory, tars } = await writeOcMirrorArchive(t, {
    content: repositories,
    history: [image, makeSignature(image)].flatMap(({ digest, blobs }) => [
      digest,
      ...blobs.map((blob) => blob.descriptor.digest),
    ]),
  })
  const archive = await open(directory)
  assert.equal((await archive.resolve({ ...source, tag: '1' }))?.digest, image.digest)
  const missing = { code: 'BLOB_UNKNOWN', message: /no file of oc-mirror in /, hint: /Load the earlier archives first/ }
  await assert.rejects(archive.fetchManifest({ ...source, tag: '1' }), missing)
  await assert.rejects(read(archive.fetchBlob(source, layer)), missing)
  assert.equal((await archive.fetchManifest(parseReference('quay.io/team/list:2')))?.descriptor.digest, list.digest)
  await rename(tars[0] ?? '', join(directory, 'mirror_000002.tar'))
  await rename(earlier.tars[0] ?? '', join(directory, 'mirror_000001.tar'))
  const both = await open(directory)
  assert.equal((await both.fetchManifest({ ...source, tag: '1' }))?.descriptor.digest, image.digest)
  assert.equal((await read(both.fetchBlob(source, layer))).byteLength, layer.size)
})

test('an archive that is missing between others is named', async (t) => {
  const { directory, tars } = await writeOcMirrorArchive(t, { content: content().repositories, archiveBytes: 6000 })
  assert.ok(tars.length > 3)
  await rm(join(directory, 'mirror_000002.tar'))
  const { flaws } = await open(directory)
  assert.deepEqual(
    flaws.map(({ file }) => basename(file)),
    ['mirror_000002.tar'],
  )
  assert.match(flaws[0]?.why ?? '', /no such file/)
})

test('an archive that is cut anywhere gives the very bytes, or names the file and the byte where it ends', async (t) => {
  const { repositories } = content()
  const { directory, tars } = await writeOcMirrorArchive(t, { content: repositories, archiveBytes: 6000 })
  const last = tars.at(-1) ?? ''
  const whole = await readFile(last)
  const images = repositories.flatMap(({ repository, images }) => images.map((image) => ({ repository, image })))
  const outcomes = new Map<string, number>()
  const note = (what: string) => void outcomes.set(what, (outcomes.get(what) ?? 0) + 1)
  for (let size = 0; size < whole.length; size += 509) {
    await writeFile(last, whole.subarray(0, size))
    const archive = await open(directory)
    for (const { repository, image } of images) {
      const name = parseReference(`quay.io/${repository}`)
      for (const { descriptor } of [...image.manifests, ...image.blobs]) {
        try {
          const bytes = await read(archive.fetchBlob(name, descriptor))
          assert.equal(digestOf(bytes), descriptor.digest)
          note('whole')
        } catch (error) {
          assert.ok(error instanceof KnownError, String(error))
          assert.equal(error.code, 'BLOB_UNKNOWN')
          assert.match(error.message, new RegExp(`${basename(last)} at byte \\d+: `))
          note('named')
        }
      }
    }
  }
  assert.ok((outcomes.get('whole') ?? 0) > 0 && (outcomes.get('named') ?? 0) > 0, JSON.stringify([...outcomes]))
})

test('where damage may have taken tags away, nobody is told that there is no signature', async (t) => {
  const { image, repositories } = content()
  const { directory, tars } = await writeOcMirrorArchive(t, { content: repositories })
  const bytes = await readFile(tars[0] ?? '')
  const subject = { ...source, digest: image.digest }
  const tag = `sha256-${hexOf(image.digest)}.att`
  assert.equal(await (await open(directory)).resolveBeside(subject, tag), undefined)
  const lastLink = bytes.lastIndexOf('docker/registry/v2/repositories/team/list/_manifests')
  await writeFile(tars[0] ?? '', bytes.subarray(0, lastLink))
  await assert.rejects((await open(directory)).resolveBeside(subject, tag), { code: 'BLOB_UNKNOWN' })
  await assert.rejects((await open(directory)).fetchManifest({ ...source, tag: 'x' }), { code: 'BLOB_UNKNOWN' })
  await writeFile(tars[0] ?? '', bytes.subarray(0, bytes.length - 1024))
  assert.equal(await (await open(directory)).resolveBeside(subject, tag), undefined)
})

const blob = Buffer.from('the content of a blob')
const digest = digestOf(blob)
const blobName = `docker/registry/v2/blobs/sha256/${hexOf(digest).slice(0, 2)}/${hexOf(digest)}/data`
const tagName = 'docker/registry/v2/repositories/team/app/_manifests/tags/1/current/link'

/** Entries with names of any length, as Go writes them. */
function entry(name: string, content: Buffer | string = '', type = '0'): Buffer {
  const record = ` path=${name}\n`
  const length = [1, 2, 3]
    .map((digits) => record.length + digits)
    .find((sum) => record.length === sum - `${sum}`.length)
  const pax = tarContent({ name: 'x', type: 'x' }, `${length}${record}`)
  return Buffer.concat([pax, tarContent({ name: 'y', type }, content)])
}

async function openBytes(t: Cleanup, ...parts: Buffer[]) {
  const directory = await tempDir(t)
  await writeFile(join(directory, 'mirror_000001.tar'), Buffer.concat([...parts, tarEnd]))
  return { directory, archive: await open(directory) }
}

const hostile: Readonly<Record<string, Buffer>> = {
  'a parent path': entry('../outside', 'x'),
  'a parent path below the storage': entry('docker/registry/v2/blobs/../../../../../outside', 'x'),
  'a parent path after a dot': entry('./../outside', 'x'),
  'a parent path at the end': entry('docker/registry/v2/..', 'x'),
  'an absolute name': entry('/etc/passwd', 'x'),
  'a name with a NUL': entry('docker/registry/v2/blobs\0/x', 'x'),
  'a symbolic link as a blob': entry(blobName, '', '2'),
  'a hard link as a tag': entry(tagName, '', '1'),
  'a device in the storage': entry(`${blobName}x`, '', '3'),
}

for (const [what, bytes] of Object.entries(hostile)) {
  test(`an archive is refused for ${what}, with the file and the byte`, async (t) => {
    await assert.rejects(openBytes(t, entry(blobName, blob), bytes), {
      code: 'ARCHIVE_INVALID',
      message: /mirror_000001\.tar: at byte \d+: /,
    })
  })
}

test('links and devices outside of the storage are passed over, with the reason', async (t) => {
  const links = ['1', '2', '3', '6'].map((type) => entry(`working-dir/signatures/${type}`, '', type))
  const { archive } = await openBytes(t, ...links, entry(blobName, blob))
  assert.deepEqual(archive.documentNames, [])
  assert.equal(archive.flaws.length, 4)
  for (const { why } of archive.flaws) assert.match(why, /^"working-dir\/signatures\/\d" is no file/)
})

test('of two entries for one blob the one with its size is read, and the other is named', async (t) => {
  const descriptor = { mediaType: 'application/octet-stream', digest, size: blob.byteLength }
  for (const contents of [
    ['', blob],
    [blob, ''],
    [blob, blob, 'x'.repeat(5000)],
  ]) {
    const { archive } = await openBytes(t, ...contents.map((content) => entry(blobName, content)))
    assert.deepEqual(await read(archive.fetchBlob(source, descriptor)), blob)
    assert.equal(archive.flaws.length, 1)
    assert.match(archive.flaws[0]?.why ?? '', new RegExp(`^${digest} is here with \\d+ bytes`))
  }
  const { archive } = await openBytes(t, entry(blobName, 'other bytes'))
  await assert.rejects(read(archive.fetchBlob(source, descriptor)), {
    code: 'BLOB_SIZE_MISMATCH',
    message: /mirror_000001\.tar holds 11 bytes at byte \d+; the blob has 21/,
  })
})

test('a manifest with other bytes than its name says is refused, at its place in its file', async (t) => {
  const { archive } = await openBytes(t, entry(blobName, Buffer.from(blob.toReversed())))
  await assert.rejects(archive.fetchManifest({ ...source, digest }), {
    code: 'BLOB_DIGEST_MISMATCH',
    message: /mirror_000001\.tar: the 21 bytes at byte \d+ are sha256:/,
  })
})

test('a tag whose link holds no digest fails when it is asked for, and stops nothing else', async (t) => {
  const { archive } = await openBytes(t, entry(tagName, ''), entry(blobName, blob))
  await assert.rejects(archive.resolve({ ...source, tag: '1' }), {
    code: 'ARCHIVE_INVALID',
    message: /at byte \d+: the link of the tag team\/app:1 holds no digest/,
  })
  assert.equal(await archive.resolve({ ...source, tag: '2' }), undefined)
  assert.equal(await archive.fetchManifest({ ...source, tag: '2' }), undefined)
  assert.equal(await archive.fetchManifest({ ...source, digest: digestOf('unknown') }), undefined)
  assert.equal(archive.flaws.length, 1)
})

test('an empty archive alone is refused', async (t) => {
  const directory = await tempDir(t)
  await writeFile(join(directory, 'mirror_000001.tar'), '')
  await assert.rejects(openOcMirrorArchive(directory), {
    code: 'ARCHIVE_INVALID',
    message: /mirror_000001\.tar: at byte 0: the file is empty/,
  })
})

test('a blob in a cache that is no plain file does not count', async (t) => {
  const { image, repositories } = content()
  const { cache } = await writeOcMirrorArchive(t, { content: repositories })
  const hex = hexOf(image.digest)
  const data = join(cache, 'docker', 'registry', 'v2', 'blobs', 'sha256', hex.slice(0, 2), hex, 'data')
  const elsewhere = join(await tempDir(t), 'data')
  await rename(data, elsewhere)
  await symlink(elsewhere, data)
  await assert.rejects((await open(cache)).fetchManifest({ ...source, tag: '1' }), { code: 'BLOB_UNKNOWN' })
})
