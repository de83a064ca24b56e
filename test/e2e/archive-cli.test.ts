import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ArchiveImage } from '../../src/archive/format/records.ts'
import { contentOfImages, writeSampleArchive } from '../../testkit/archive.ts'
import { makeImage } from '../../testkit/image.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const [first, second] = [makeImage({ seed: 'first', layerBytes: 700_000 }), makeImage({ seed: 'second' })]
const target = 'registry.lab:8443/ocp'

function image(digest: ArchiveImage['digest'], name: string): ArchiveImage {
  return { source: `quay.io/${name}`, destination: name, digest, class: 'additional', why: 'asked for' }
}

/** A full archive of two volumes, and an increment after it. */
async function twoArchives(t: TestContext) {
  const directory = await tempDir(t)
  const failed = [
    {
      source: 'quay.io/no/such:1',
      destination: 'no/such:1',
      class: 'operator' as const,
      code: 'MANIFEST_UNKNOWN',
      message: 'm',
    },
  ]
  const content = await contentOfImages([first])
  const full = await writeSampleArchive(directory, {
    carried: content,
    images: [image(first.digest, 'a/b:1')],
    failed,
    target,
  })
  const increment = await writeSampleArchive(directory, {
    ...{ sequence: 2, kind: 'increment', parent: full.id, held: content, target },
    carried: await contentOfImages([second]),
    images: [image(second.digest, 'a/b:1'), image(second.digest, 'c/d:1')],
  })
  return { directory, full, increment, names: [...full.files.keys()] }
}

test('archive ls tells sequence, parent, target, images, volumes and holes, and which volumes are missing', async (t) => {
  const { directory, full, names } = await twoArchives(t)
  const all = await runCli(['archive', 'ls', directory])
  assert.equal(all.status, 0, all.stderr)
  assert.match(all.stdout, /^archive 1 for registry\.lab:8443\/ocp: full/m)
  assert.match(all.stdout, new RegExp(`^archive 2 for .* increment after ${full.id.slice(0, 19)}`, 'm'))
  assert.match(all.stdout, /quay\.io\/no\/such:1 {2}MANIFEST_UNKNOWN/)
  const images = await runCli(['archive', 'ls', `${directory}:2`, '--images'])
  assert.match(images.stdout, /carried +additional +c\/d:1 +sha256:[0-9a-f]{12} +from quay\.io\/c\/d:1/)
  assert.doesNotMatch(images.stdout, /archive 1/)
  await rm(join(directory, names[1] ?? ''))
  const missing = await runCli(['archive', 'ls', join(directory, names[0] ?? ''), '--json'])
  const [summary] = JSON.parse(missing.stdout)
  assert.deepEqual(
    summary.volumes.map(({ isMissing }: { isMissing: boolean }) => isMissing),
    [false, true],
  )
})

test('archive ls says what an unfinished archive needs, and ends with 1', async (t) => {
  const { directory } = await twoArchives(t)
  await writeFile(join(directory, 'sallyport-v1-000002.progress'), '')
  const { status, stdout } = await runCli(['archive', 'ls', directory])
  assert.equal(status, 1)
  assert.match(stdout, /000002: .* is unfinished: 1 of its volumes/)
  assert.match(stdout, /next +Run the command that began it again/)
})

test('archive verify ends with 0 for whole archives, and with 1 and the images where a byte is wrong', async (t) => {
  const { directory, full, names } = await twoArchives(t)
  const whole = await runCli(['archive', 'verify', directory])
  assert.equal(whole.status, 0, whole.stdout)
  assert.match(whole.stdout, /^whole: archive 1,.*\(2 volumes/m)
  assert.match(whole.stdout, /^whole: archive 2/m)
  const [name = ''] = names
  const bytes = Buffer.from(full.files.get(name) ?? '')
  bytes[500_000] = (bytes[500_000] ?? 0) ^ 1
  await writeFile(join(directory, name), bytes)
  const damaged = await runCli(['archive', 'verify', `${directory}:1`])
  assert.equal(damaged.status, 1)
  assert.match(
    damaged.stdout,
    /error archive\.content-damaged: .*-0001\.tar, bytes .* is damaged; needed by quay\.io\/a\/b:1/,
  )
  const { stdout } = await runCli(['archive', 'verify', `${directory}:1`, '--json'])
  const [json] = JSON.parse(stdout)
  assert.equal(json.damage.blobs.length, 1)
  assert.equal(json.damage.ranges[0].file, join(directory, name))
})

test('archive diff tells which images are new, gone and changed, with bytes', async (t) => {
  const { directory } = await twoArchives(t)
  const { status, stdout } = await runCli(['archive', 'diff', `${directory}:1`, directory])
  assert.equal(status, 0)
  assert.match(stdout, /^from archive 1 to 2: 1 image new, 0 gone, 1 changed, 0 the same$/m)
  assert.match(stdout, /^ {2}\+ c\/d:1/m)
  assert.match(stdout, /^ {2}~ a\/b:1 +sha256:[0-9a-f]{12} is now sha256:[0-9a-f]{12}$/m)
  assert.match(stdout, /^content +\d+ blobs \(.*\) new, 0 blobs \(0 B\) gone, \d+ blobs \(1\.3 MiB\) the same$/m)
})

test('where there is no archive, it is said what to name', async (t) => {
  const directory = await tempDir(t)
  for (const args of [
    ['ls', directory],
    ['verify', `${directory}:7`],
    ['diff', directory, directory],
  ]) {
    const { status, stderr } = await runCli(['archive', ...args])
    assert.equal(status, 1)
    assert.match(stderr, /There is no archive at|cannot be read as a directory/)
  }
  assert.equal((await runCli(['archive', 'ls'])).status, 64)
})
