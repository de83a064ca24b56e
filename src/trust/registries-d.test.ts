import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import type { Digest } from '../oci/digest.ts'
import { parseReference } from '../oci/reference.ts'
import { loadRegistriesD, storageOf, withAttachmentsByDefault } from './registries-d.ts'
import { builtInLookaside, lookasideUrl } from './registries-d-lookaside.ts'

async function folderWith(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const path = await tempDir(t)
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
  return path
}

const load = async (t: TestContext, files: Readonly<Record<string, string>>) =>
  loadRegistriesD({ path: await folderWith(t, files), env: {} })

test('each setting is taken from the closest scope that has it', async (t) => {
  const config = await load(t, {
    'a.yaml': 'default-docker:\n  lookaside: https://all.test\n',
    'b.yaml': 'docker:\n  h.test:\n    use-sigstore-attachments: yes\n  h.test/ns:\n    sigstore: file:///own\n',
    'c.yaml': 'docker:\n  h.test/ns/app:1:\n    lookaside: http://tag.test\n    lookaside-staging: file:///write\n',
    'd.yml': 'not: [read',
  })
  const of = (name: string) => storageOf(config, parseReference(name))
  assert.deepEqual(of('h.test/ns/app:1'), { lookaside: 'http://tag.test', usesSigstoreAttachments: true })
  assert.deepEqual(of('h.test/ns/app:2'), { lookaside: 'file:///own', usesSigstoreAttachments: true })
  assert.deepEqual(of('h.test/other'), { lookaside: 'https://all.test', usesSigstoreAttachments: true })
  assert.deepEqual(of('other.test/a'), { lookaside: 'https://all.test', usesSigstoreAttachments: false })
})

test('oc-mirror looks at attachments wherever nothing else is said', async (t) => {
  const usesOf = async (text: string) => {
    const config = withAttachmentsByDefault(await load(t, { 'a.yaml': text }))
    return ['h.test/a', 'other.test/a'].map((name) => storageOf(config, parseReference(name)).usesSigstoreAttachments)
  }
  assert.deepEqual(await usesOf(''), [true, true])
  assert.deepEqual(await usesOf('default-docker: {}'), [true, true])
  assert.deepEqual(await usesOf('docker: {h.test: {use-sigstore-attachments: false}}'), [false, true])
  assert.deepEqual(await usesOf('default-docker: {use-sigstore-attachments: false}'), [false, false])
  assert.deepEqual(await usesOf('default-docker: {lookaside-staging: "file:///w"}'), [false, false])
})

test('lookaside goes before its older name', async (t) => {
  const config = await load(t, { 'a.yaml': 'default-docker: { sigstore: "file:///old", lookaside: "file:///new" }' })
  assert.equal(storageOf(config, parseReference('h.test/a')).lookaside, 'file:///new')
})

const broken: readonly (readonly [title: string, files: Readonly<Record<string, string>>, message: RegExp])[] = [
  [
    'default-docker in two files',
    { 'a.yaml': 'default-docker: {}', 'b.yaml': 'default-docker: {}' },
    /default-docker stands both in .*a\.yaml and in .*b\.yaml/,
  ],
  [
    'one scope in two files',
    { 'a.yaml': 'docker: {h.test: {}}', 'b.yaml': 'docker: {h.test: {}}' },
    /docker\."h\.test" stands both/,
  ],
  ['one scope twice', { 'a.yaml': 'docker:\n  h.test: {}\n  h.test: {}' }, /a\.yaml/],
  ['no YAML', { 'a.yaml': 'docker: [' }, /a\.yaml/],
  ['a list of scopes', { 'a.yaml': 'docker:\n  - h.test' }, /a\.yaml:2: docker must be a mapping/],
  [
    'a number as a URL',
    { 'a.yaml': 'docker:\n  h.test:\n    lookaside: [a]' },
    /:3: docker\.h\.test\.lookaside must be a URL/,
  ],
  [
    'a word as a flag',
    { 'a.yaml': 'default-docker:\n  use-sigstore-attachments: maybe' },
    /:2: .* must be true or false/,
  ],
]

for (const [title, files, message] of broken) {
  test(`${title} is an error`, async (t) => {
    await assert.rejects(load(t, files), { code: 'POLICY_INVALID', message })
  })
}

test('what is empty says nothing, and unknown fields are passed over', async (t) => {
  const config = await load(t, {
    'a.yaml': 'docker:\n',
    'b.yaml': '',
    'c.yaml': 'docker: {h.test: , i.test: {more: 1}}\nx: y',
  })
  assert.deepEqual(storageOf(config, parseReference('h.test/a')), { usesSigstoreAttachments: false })
})

test('the named folder, else the user’s, else the system’s; none is no error', async (t) => {
  const root = await tempDir(t)
  const [home, systemDir] = [join(root, 'home'), join(root, 'etc')]
  const lookasideOf = async (path?: string) => {
    const config = await loadRegistriesD({ env: { HOME: home }, systemDir, path })
    return storageOf(config, parseReference('h.test/a')).lookaside
  }
  assert.equal(await lookasideOf(), undefined)
  const write = async (folder: string) => {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'a.yaml'), `default-docker: {lookaside: "file://${folder}"}`)
  }
  await write(join(systemDir, 'registries.d'))
  assert.equal(await lookasideOf(), `file://${systemDir}/registries.d`)
  await write(join(home, '.config/containers/registries.d'))
  assert.equal(await lookasideOf(), `file://${home}/.config/containers/registries.d`)
  assert.equal(await lookasideOf(join(root, 'none')), undefined)
})

test('the URL of a signature', () => {
  const digest: Digest = `sha256:${'a'.repeat(64)}`
  const place = parseReference('h.test/ns/app:1')
  const urlOf = (lookaside: string, number = 1) => lookasideUrl({ lookaside, place, digest }, number).href
  const end = `ns/app@sha256=${'a'.repeat(64)}/signature-`
  assert.equal(urlOf('https://s.test'), `https://s.test/${end}1`)
  assert.equal(urlOf('https://s.test/base', 2), `https://s.test/base/${end}2`)
  assert.equal(urlOf('https://s.test/base/'), `https://s.test/base//${end}1`)
  assert.equal(urlOf('file:///var/lib/x'), `file:///var/lib/x/${end}1`)
  assert.equal(urlOf('https://s.test/base?token=1'), `https://s.test/base/${end}1?token=1`)
  for (const wrong of ['s.test/base', 'ftp://s.test', '/var/lib']) {
    assert.throws(() => urlOf(wrong), { code: 'POLICY_INVALID' })
  }
})

test('the built-in store is the system’s for root, and the user’s for others', () => {
  assert.equal(builtInLookaside(true, '/home/u'), 'file:///var/lib/containers/sigstore')
  assert.equal(builtInLookaside(false, '/home/u'), 'file:///home/u/.local/share/containers/sigstore')
})
