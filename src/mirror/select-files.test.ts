import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startScriptedWeb } from '../../testkit/scripted-web.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testWebClient } from '../../testkit/test-web-client.ts'
import { startUnsizedWeb } from '../../testkit/unsized-web.ts'
import type { FileEntry } from '../config/image-set-files.ts'
import { digestOf, hexOf } from '../oci/digest.ts'
import { fileOf } from '../oci/file-artifact.ts'
import { parseManifest } from '../oci/manifest.ts'
import { formatReference } from '../oci/reference.ts'
import { readRecordedFiles } from './file-record.ts'
import { LocalContent } from './local-content.ts'
import { type MadeImage, rootOf, withMadeContent } from './made-content.ts'
import { madeFile, selectFiles } from './select-files.ts'
import { workspaceAt } from './workspace.ts'

const target = { registry: 'lab', path: 'ocp' }
const bytes = randomBytes(300_000)
const sha256 = hexOf(digestOf(bytes))
const tag = sha256.slice(0, 12)

async function setUp(t: TestContext) {
  const web = await startScriptedWeb(t)
  web.files.set('/pub/Boot.ova', bytes)
  const cwd = await tempDir(t)
  const workspace = workspaceAt(cwd, '/')
  const { client } = testWebClient(t)
  const told: string[] = []
  const local = new LocalContent(workspace)
  const making = { web: client, local, workspace, signal: t.signal, tell: (line: string) => told.push(line) }
  const select = (...entries: FileEntry[]) => selectFiles(entries, { target, cwd, making })
  return { web, cwd, workspace, making, told, local, select }
}

const nothing = withMadeContent(
  {
    resolve: async () => undefined,
    resolveBeside: async () => undefined,
    fetchManifest: async () => undefined,
    referrers: async () => [],
    fetchBlob: () => assert.fail('nothing is asked of the source below'),
  },
  [],
)

/** The file of an image, as a transfer reads it. */
async function read(image: MadeImage | undefined, offset = 0): Promise<Buffer> {
  assert.ok(image)
  const { bytes: manifest } = rootOf(image)
  const file = fileOf(parseManifest(manifest, undefined, 'made'))
  assert.ok(file)
  const content = withMadeContent(nothing, [image])
  return Buffer.concat(await Array.fromAsync(content.fetchBlob(image.reference, file.layer, { offset })))
}

test('a file behind a URL is an image of the same name on both sides of the gap, and only one of them asks for it', async (t) => {
  const { web, cwd, select } = await setUp(t)
  const entry = { url: `${web.url}/pub/Boot.ova?build=1`, sha256 }
  const { images, made, unreadable } = await select(entry)
  assert.deepEqual(unreadable, [])
  assert.equal(formatReference(images[0]?.source ?? assert.fail()), `sallyport.invalid/files/boot.ova:${tag}`)
  assert.equal(formatReference(images[0]?.destination ?? assert.fail()), `lab/ocp/files/boot.ova:${tag}`)
  assert.equal(images[0]?.class, 'additional')
  assert.deepEqual(made[0]?.reference, images[0]?.source)
  assert.deepEqual(
    web.requests.map(({ method }) => method),
    ['HEAD'],
  )
  const closed = await selectFiles([entry], { target, cwd: '/nowhere' })
  assert.deepEqual(closed, { images, made: [], unreadable: [] })
  assert.equal(web.requests.length, 1)
  assert.ok(existsSync(cwd))
})

test('its manifest names the file, and says the same to every client of artifacts', async (t) => {
  const { web, select } = await setUp(t)
  const { made } = await select({ url: `${web.url}/pub/Boot.ova?token=x`, sha256 })
  const again = await select({ url: `${web.url}/pub/Boot.ova?token=y`, sha256 })
  const root = rootOf(made[0] ?? assert.fail())
  assert.deepEqual(root, rootOf(again.made[0] ?? assert.fail()))
  assert.deepEqual(JSON.parse(Buffer.from(root.bytes).toString()), {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    artifactType: 'application/vnd.sallyport.file.v1',
    config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: digestOf('{}'), size: 2, data: 'e30=' },
    layers: [
      {
        mediaType: 'application/octet-stream',
        digest: `sha256:${sha256}`,
        size: bytes.byteLength,
        annotations: { 'org.opencontainers.image.title': 'Boot.ova' },
      },
    ],
    annotations: { 'org.opencontainers.image.url': `${web.url}/pub/Boot.ova` },
  })
})

test('the bytes come from the URL, from any offset, and are resumed where the link breaks', async (t) => {
  const { web, select } = await setUp(t)
  const { made } = await select({ url: `${web.url}/pub/Boot.ova`, sha256 })
  web.fault({ method: 'GET', times: 2, cutAfter: 100_000 })
  assert.deepEqual(await read(made[0]), bytes)
  assert.deepEqual(await read(made[0], 299_990), bytes.subarray(299_990))
  const sent = web.requests.reduce((all, { bytesOut }) => all + bytesOut, 0)
  assert.ok(sent <= bytes.byteLength + 200_000, `${sent} bytes`)
})

test('wrong content is told with both checksums and the URL, and is not asked for again', async (t) => {
  const { web, select } = await setUp(t)
  const { made } = await select({ url: `${web.url}/pub/Boot.ova?token=secret-value`, sha256 })
  const other = Buffer.from(bytes).fill(0, 0, 10)
  web.files.set('/pub/Boot.ova', other)
  await assert.rejects(read(made[0]), (error: Error) => {
    for (const part of [`${web.url}/pub/Boot.ova`, sha256, hexOf(digestOf(other)), 'Boot.ova']) {
      assert.ok(error.message.includes(part), error.message)
    }
    assert.ok(!error.message.includes('secret-value'))
    assert.equal('code' in error && error.code, 'FILE_MISMATCH')
    return true
  })
  assert.equal(web.requests.filter(({ method }) => method === 'GET').length, 1)
})

test('a server that refuses HEAD is asked for one byte; one that tells no size gives the file into the workspace first', async (t) => {
  const { web, select, told, local } = await setUp(t)
  const entry = { url: `${web.url}/pub/Boot.ova`, sha256 }
  web.fault({ method: 'HEAD', times: 1, status: 405 })
  assert.equal((await select(entry)).made.length, 1)
  assert.deepEqual(told, [])
  const unsized = await startUnsizedWeb(t, bytes)
  const { made } = await select({ url: `${unsized}/build`, sha256 })
  assert.match(told.join(), /build: the server does not tell the size of build, so it is fetched into the workspace/)
  const layer = { mediaType: '', digest: digestOf(bytes), size: bytes.byteLength }
  const open = await local.openBlob(layer)
  assert.deepEqual(Buffer.concat(await Array.fromAsync(open?.(0) ?? assert.fail())), bytes)
  assert.equal(made.length, 1)
})

test('a file of this machine needs no checksum; without one it is the latest under its name', async (t) => {
  const { cwd, select } = await setUp(t)
  await writeFile(join(cwd, 'notes.txt'), 'first')
  const first = await select({ path: 'notes.txt' })
  assert.equal(formatReference(first.images[0]?.source ?? assert.fail()), 'sallyport.invalid/files/notes.txt:latest')
  assert.equal((await read(first.made[0])).toString(), 'first')
  assert.doesNotMatch(Buffer.from(rootOf(first.made[0] ?? assert.fail()).bytes).toString(), /image\.url/)
  await writeFile(join(cwd, 'notes.txt'), 'other')
  await assert.rejects(read(first.made[0]), { code: 'FILE_MISMATCH', message: /notes\.txt: this is not the file/ })
})

test('a file that is not to be had is a hole, and the others come', async (t) => {
  const { web, cwd, select } = await setUp(t)
  await writeFile(join(cwd, 'notes.txt'), 'here')
  const { images, unreadable } = await select(
    { path: 'notes.txt' },
    { path: 'absent.txt' },
    { path: '.', name: 'folder' },
    { url: `${web.url}/gone`, sha256 },
  )
  assert.equal(images.length, 1)
  assert.deepEqual(
    unreadable.map(({ image, error }) => `${image.class} ${image.destination.repository} ${error.code}`),
    [
      'additional ocp/files/absent.txt FILE_UNREADABLE',
      'additional ocp/files/folder FILE_UNREADABLE',
      'additional ocp/files/gone WEB_REFUSED',
    ],
  )
  assert.match(unreadable[2]?.error.message ?? '', /\/gone: there is no such file$/)
})

test('what was selected is known again by its name and digest, for a plan that is carried out later', async (t) => {
  const { web, cwd, workspace, making, select } = await setUp(t)
  await writeFile(join(cwd, 'notes.txt'), 'here')
  const { made } = await select({ path: 'notes.txt' }, { url: `${web.url}/pub/Boot.ova`, sha256 })
  const again = (await readRecordedFiles(workspace)).map((recorded) => madeFile(recorded, making))
  assert.deepEqual(again.map(rootOf), made.map(rootOf))
  assert.deepEqual(await read(again[1]), bytes)
})

test('a class that is left out is not looked at', async (t) => {
  const { cwd, making } = await setUp(t)
  const options = { target, cwd, making, skip: new Set(['additional'] as const) }
  assert.deepEqual(await selectFiles([{ path: 'absent' }], options), { images: [], made: [], unreadable: [] })
})
