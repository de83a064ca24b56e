/** Archives read with the tools that people have: tar, cat, sha256sum, skopeo, oras, crane. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import type { ArchiveImage } from '../../src/archive/format/records.ts'
import type { SampleImage } from '../../src/quickstart/sample-image.ts'
import { type ArchiveSample, contentOfImages } from '../../testkit/archive.ts'
import { openWriter, pushContent } from '../../testkit/archive-writing.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { makeImage, makeMultiArch, makeSignature } from '../../testkit/image.ts'
import { peer } from '../../testkit/peers.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const run = promisify(execFile)

const single = makeImage({ seed: 'single', layers: 3, layerBytes: 200_000, tag: '1' })
const list = makeMultiArch({ seed: 'list', architectures: ['amd64', 'arm64'], layerBytes: 50_000, tag: 'v2' })
const signature = makeSignature(single)

function imageOf(destination: string, { digest }: SampleImage, attachedTo?: SampleImage): ArchiveImage {
  const source = `quay.io/${destination}`
  return {
    ...{ source, destination, digest, class: 'additional', why: 'asked for' },
    ...(attachedTo && { attachedTo: attachedTo.digest }),
  }
}

/** Writes an archive of the images and gives the paths of its volumes. */
async function write(t: TestContext, volumeBytes: number): Promise<readonly string[]> {
  const sample: ArchiveSample = {
    carried: await contentOfImages([single, list, signature]),
    images: [
      imageOf('team/single:1', single),
      imageOf('team/list:v2', list),
      imageOf(`team/single:${signature.manifests.at(-1)?.tag}`, signature, single),
      imageOf(`team/other@${single.digest}`, single),
    ],
    volumeBytes,
  }
  const writer = await openWriter(await tempDir(t), sample)
  for (const content of sample.carried) await pushContent(writer, content)
  const { files } = await writer.seal([])
  await writer.close()
  return files
}

/** As docs/archive-format.md says it, word for word. */
const unpack = `
for volume in "$@"; do tar -xf "$volume"; done
[ ! -d parts ] || find parts -name 000001 | while read -r first; do
  part=$(dirname "$first"); name=\${part#parts/}
  mkdir -p "$(dirname "$name")" && cat "$part"/* > "$name"
done`

test('one volume is an oci-archive to skopeo, by every name in it', async (t) => {
  const skopeo = peer(t, 'skopeo')
  if (!skopeo) return
  const files = await write(t, 512 * 1024 * 1024)
  assert.equal(files.length, 1)
  const inspect = async (name: string) => {
    const { stdout } = await run(skopeo, ['inspect', '--raw', `oci-archive:${files[0]}:${name}`])
    return JSON.parse(stdout)
  }
  assert.equal((await inspect('team/single:1')).layers.length, 3)
  assert.equal((await inspect('team/list:v2')).manifests.length, 2)
  const registry = await startEmbeddedRegistry(t)
  const target = `docker://${registry.address}/landed`
  for (const [name, image] of [
    ['team/single:1', single],
    ['team/list:v2', list],
  ] as const) {
    await run(skopeo, ['copy', '--all', '--dest-tls-verify=false', `oci-archive:${files[0]}:${name}`, `${target}:copy`])
    const landed: { readonly stdout: string } = await run(skopeo, [
      'inspect',
      '--raw',
      '--tls-verify=false',
      `${target}@${image.digest}`,
    ])
    assert.equal(JSON.parse(landed.stdout).schemaVersion, 2)
  }
})

test('several volumes, unpacked with tar and put together with cat, are an OCI layout to skopeo, oras and crane', async (t) => {
  const files = await write(t, 128 * 1024)
  assert.ok(files.length > 5)
  const layout = join(await tempDir(t), 'layout')
  await mkdir(layout)
  await run('/bin/sh', ['-ec', unpack, 'sh', ...files], { cwd: layout })
  assert.ok((await readdir(layout)).includes('parts'))
  const registry = await startEmbeddedRegistry(t)
  const target = `${registry.address}/landed`
  const skopeo = peer(t, 'skopeo')
  if (skopeo)
    await run(skopeo, [
      'copy',
      '--all',
      '--dest-tls-verify=false',
      `oci:${layout}:team/list:v2`,
      `docker://${target}/skopeo:1`,
    ])
  const oras = peer(t, 'oras')
  if (oras)
    await run(oras, [
      'cp',
      '-r',
      '--from-oci-layout',
      `${layout}@${single.digest}`,
      '--to-plain-http',
      `${target}/oras:1`,
    ])
  const crane = peer(t, 'crane')
  if (crane) await run(crane, ['validate', '--remote', `${target}/skopeo:1`, '--insecure'])
})

test('tar lists every volume without a complaint, and sha256sum finds the checksum that the next volume has', async (t) => {
  const files = await write(t, 128 * 1024)
  const record = async (file: string, name: string) => {
    const { stdout } = await run('tar', ['-xOf', file, name])
    return JSON.parse(stdout)
  }
  for (const [index, file] of files.entries()) {
    const { stdout, stderr } = await run('tar', ['-tf', file])
    assert.equal(stderr, '')
    assert.match(stdout, /^sallyport\/volume\.json\n/)
    const script = `tar -tf "$1" | grep -v '^sallyport/end.json$' | while read -r name; do
      printf '%s  %s\\n' "$(tar -xOf "$1" "$name" | sha256sum | cut -d' ' -f1)" "$name"
    done | sha256sum | cut -d' ' -f1`
    const sum = (await run('/bin/sh', ['-c', script, 'sh', file])).stdout.trim()
    const next = files[index + 1]
    const expected = next
      ? (await record(next, 'sallyport/volume.json')).previous
      : (await record(file, 'sallyport/end.json')).checksum
    assert.equal(sum, expected)
  }
})
