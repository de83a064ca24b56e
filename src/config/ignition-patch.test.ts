import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { loadPatchFile, renderUndo, resolvePatch } from './ignition-patch.ts'

async function patchFile(t: TestContext, text: string, name = 'My Lab.yaml'): Promise<string> {
  const path = join(await tempDir(t), name)
  await writeFile(path, text)
  return path
}

async function load(t: TestContext, text: string) {
  const loaded = await loadPatchFile(await patchFile(t, text))
  assert.equal(loaded.kind, 'patch')
  return resolvePatch(loaded.kind === 'patch' ? [loaded.source] : [])
}

test('a patch is read with the files beside it, and its name is that of its file', async (t) => {
  const text = `
trust: [Corp CA.pem, {file: sub/x, name: other}]
hosts: {mirror.lab: 192.0.2.10}
chrony: {servers: [ntp.lab]}
registries: [lab.conf, {name: 10-first, contents: "a"}]
units: [{name: a.service, file: sub/x, enabled: true}, {name: b.service, mask: true}]
dropins: [{unit: c.service, name: 10.conf, contents: "d"}]
files: [{path: /etc/a, mode: "0600", file: sub/x}, {path: /etc/b, contents: ""}]
proxy: {httpProxy: "http://p"}
kernelArguments: {shouldExist: [quiet]}`
  const path = await patchFile(t, text)
  const directory = join(path, '..')
  await mkdir(join(directory, 'sub'))
  for (const name of ['Corp CA.pem', 'lab.conf', 'sub/x']) await writeFile(join(directory, name), name)
  const loaded = await loadPatchFile(path)
  assert.equal(loaded.kind, 'patch')
  const patch = await resolvePatch(loaded.kind === 'patch' ? [loaded.source] : [])
  assert.deepEqual(patch, {
    name: 'my-lab',
    trust: [
      { name: 'Corp-CA', pem: 'Corp CA.pem' },
      { name: 'other', pem: 'sub/x' },
    ],
    hosts: [{ name: 'mirror.lab', address: '192.0.2.10' }],
    chrony: { servers: ['ntp.lab'] },
    registries: [
      { fileName: '50-lab.conf', text: 'lab.conf' },
      { fileName: '10-first.conf', text: 'a' },
    ],
    units: [
      { name: 'a.service', contents: 'sub/x', enabled: true },
      { name: 'b.service', mask: true },
    ],
    dropins: [{ unit: 'c.service', name: '10.conf', contents: 'd' }],
    files: [
      { path: '/etc/a', mode: 0o600, contents: Buffer.from('sub/x') },
      { path: '/etc/b', contents: Buffer.from('') },
    ],
    proxy: { httpProxy: 'http://p' },
    kernelArguments: { shouldExist: ['quiet'], shouldNotExist: [] },
  })
})

test('what is wrong in a patch is told with its line', async (t) => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['files:\n- path: /a\n  contents: x\n  mode: 0644\n', /:4:9: .*write '0644'/],
    ['files:\n- path: /a\n  contents: x\n  mode: "04755"\n', /:4:9: .*three octal digits/],
    ['files:\n- path: /a\n', /:2:\d+: .*either contents or file/],
    ['files:\n- path: /a\n  contents: x\n  file: y\n', /either contents or file/],
    ['host: {a: 192.0.2.1}\n', /:1:1: .*did you mean "hosts"/],
    ['trust: [[a]]\n', /a PEM file is wanted/],
    ['chrony: {servers: []}\n', /at least one server/],
    ['name: My Lab\n', /lower-case/],
    ['hosts: {a: {b: c}}\n', /:1:\d+: hosts\.a: a mapping stands here/],
  ]
  for (const [text, message] of wrong)
    await assert.rejects(load(t, text), (error: Error) => {
      assert.match(error.message, message)
      return 'code' in error && error.code === 'CONFIG_INVALID'
    })
})

test('a file that the patch names and that is not there is told by name', async (t) => {
  await assert.rejects(load(t, 'trust: [nowhere.pem]'), { code: 'FILE_UNREADABLE', message: /nowhere\.pem/ })
})

test('several places that ask for something are put together', async () => {
  const sources = [
    { document: { name: 'first', chrony: { servers: ['a'] }, proxy: { httpProxy: 'http://a' } }, directory: '/' },
    { document: { chrony: { servers: ['b'] }, proxy: { httpsProxy: 'http://b' } }, directory: '/' },
  ]
  const patch = await resolvePatch(sources)
  assert.equal(patch.name, 'first')
  assert.deepEqual(patch.chrony, { servers: ['a', 'b'] })
  assert.deepEqual(patch.proxy, { httpProxy: 'http://a', httpsProxy: 'http://b' })
})

test('an undo is read as it was written', async (t) => {
  const steps = [
    { at: ['storage', 'files', { by: 'path', is: '/etc/a' }], was: '{"path": "/etc/a"}', left: 'sha256-00' },
    { at: ['storage'], onlyIfEmpty: true as const },
  ]
  assert.deepEqual(await loadPatchFile(await patchFile(t, renderUndo(steps))), { kind: 'undo', steps })
  const broken = renderUndo(steps).replace('"at"', '"where"')
  await assert.rejects(load(t, broken), { code: 'CONFIG_INVALID', message: /no undo that can be carried out/ })
})
