import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import type { ContentSource } from '../oci/content.ts'
import { digestOf } from '../oci/digest.ts'
import type { FileContent } from './carried-files.ts'
import { takeFile } from './take-file.ts'

const bytes = Buffer.alloc(1000, 'x')

function content(chunks: () => AsyncIterable<Uint8Array>): FileContent {
  const nothing = async () => undefined
  const source: ContentSource = {
    resolve: nothing,
    resolveBeside: nothing,
    fetchManifest: nothing,
    referrers: async () => [],
    fetchBlob: chunks,
  }
  const layer = { mediaType: '', digest: digestOf(bytes), size: bytes.byteLength }
  return { source, repository: { registry: 'lab', repository: 'files/x' }, layer }
}

async function* halves() {
  yield bytes.subarray(0, 500)
  yield bytes.subarray(500)
}

test('an interrupted file leaves nothing, not even a name of its own', async (t) => {
  const directory = await tempDir(t)
  const stop = new AbortController()
  const interrupted = content(async function* () {
    yield bytes.subarray(0, 500)
    stop.abort(new Error('Ctrl-C'))
    yield bytes.subarray(500)
  })
  const options = { force: false, signal: stop.signal }
  await assert.rejects(takeFile(interrupted, join(directory, 'x'), options), /Ctrl-C/)
  assert.deepEqual(await readdir(directory), [])
})

test('wrong or missing bytes never get the name', async (t) => {
  const directory = await tempDir(t)
  const path = join(directory, 'sub', 'x')
  const options = { force: false, signal: t.signal }
  const short = content(async function* () {
    yield bytes.subarray(0, 500)
  })
  await assert.rejects(takeFile(short, path, options), { code: 'BLOB_SIZE_MISMATCH' })
  const wrong = content(async function* () {
    yield Buffer.alloc(1000, 'y')
  })
  await assert.rejects(takeFile(wrong, path, options), { code: 'BLOB_DIGEST_MISMATCH' })
  assert.deepEqual(await readdir(join(directory, 'sub')), [])
  assert.equal(await takeFile(content(halves), path, options), 'written')
  assert.deepEqual(await readFile(path), bytes)
})

test('what is in the way stays: another file, a directory, a link that leads nowhere', async (t) => {
  const directory = await tempDir(t)
  const options = { force: false, signal: t.signal }
  await writeFile(join(directory, 'other'), 'precious')
  await mkdir(join(directory, 'folder'))
  await symlink('nowhere', join(directory, 'link'))
  for (const name of ['other', 'folder', 'link']) {
    await assert.rejects(takeFile(content(halves), join(directory, name), options), { code: 'FILE_EXISTS' }, name)
  }
  const forced = { ...options, force: true }
  await assert.rejects(takeFile(content(halves), join(directory, 'folder'), forced), { code: 'FILE_EXISTS' })
  await assert.rejects(takeFile(content(halves), join(directory, 'other', 'x'), forced), { code: 'FILE_UNWRITABLE' })
  assert.equal(await takeFile(content(halves), join(directory, 'other'), forced), 'written')
  assert.deepEqual((await readdir(directory)).sort(), ['folder', 'link', 'other'])
})
