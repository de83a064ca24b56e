/** Patching a config: what is changed, what is left alone, and how it becomes again what it was. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { File, IgnitionConfig } from '../config.ts'
import { inlineFile } from '../contents.ts'
import { encodeDataUrl } from '../data-url.ts'
import { applyChanges } from './apply-changes.ts'
import { hashLike } from './file-entry.ts'
import type { PatchChanges, PatchedFile } from './patch.ts'
import { applyUndo } from './undo.ts'

const none: PatchChanges = { files: [], units: [] }

function file(path: string, text: string, more: Partial<PatchedFile> = {}): PatchedFile {
  return { path, mode: 0o644, contents: Buffer.from(text), part: 'files', ...more }
}

function config(files: readonly object[], more: object = {}): string {
  return JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files }, ...more })
}

function fileOf(text: string, path: string): File {
  const found = (JSON.parse(text.replace('\uFEFF', '')) as IgnitionConfig).storage?.files?.find(
    (one) => one.path === path,
  )
  assert.ok(found, path)
  return found
}

const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const encoded = fc.tuple(text, fc.constantFrom('base64', 'percent', 'gzip', 'remote', 'hash', 'none')).map(encodedAs)

function encodedAs([plain, how]: readonly [string, string]): object {
  const bytes = Buffer.from(plain)
  if (how === 'percent') return { source: `data:,${encodeURIComponent(plain)}`, verification: {} }
  if (how === 'gzip') return { compression: 'gzip', source: encodeDataUrl(gzipSync(bytes), '') }
  if (how === 'remote') return { source: 'https://files.lab/a', verification: { hash: hashLike('sha256-', bytes) } }
  if (how === 'hash') return { verification: { hash: hashLike('sha512-', bytes) }, source: encodeDataUrl(bytes) }
  return how === 'none' ? {} : { source: encodeDataUrl(bytes) }
}

const anyFile = fc.record(
  {
    path: name.map((one) => `/etc/${one}`),
    overwrite: fc.boolean(),
    mode: fc.constantFrom(0o600, 0o644, 0o555),
    contents: encoded,
    append: fc.array(encoded, { maxLength: 2 }),
    user: fc.constantFrom({ name: 'root' }, { id: 0 }, {}),
  },
  { requiredKeys: ['path'] },
)
const anyDropin = fc.record({ name: name.map((one) => `${one}.conf`), contents: text })
const anyUnit = fc.record(
  {
    name: name.map((one) => `${one}.service`),
    enabled: fc.boolean(),
    contents: text,
    dropins: fc.option(fc.uniqueArray(anyDropin, { selector: (one) => one.name, maxLength: 3 })),
  },
  { requiredKeys: ['name'] },
)
const listOf = <T>(item: fc.Arbitrary<T>, selector: (item: T) => string) =>
  fc.option(fc.uniqueArray(item, { selector, maxLength: 4 }))
const anyConfig = fc.record(
  {
    ignition: fc.constantFrom({ version: '3.2.0' }, { config: {}, version: '3.3.0' }),
    storage: fc.record({ files: listOf(anyFile, ({ path }) => path), links: fc.constant([]) }, { requiredKeys: [] }),
    systemd: fc.record({ units: listOf(anyUnit, (one) => one.name) }, { requiredKeys: [] }),
    kernelArguments: fc.record({ shouldExist: fc.constantFrom([], ['quiet'], ['a', 'b']) }, { requiredKeys: [] }),
    passwd: fc.constant({ users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 <a&b>'] }] }),
  },
  { requiredKeys: ['ignition'] },
)

/** As Go, Python and people write it. */
const anyLayout = fc.constantFrom<(value: unknown) => string>(
  (value) => JSON.stringify(value),
  (value) => JSON.stringify(value, null, 2),
  (value) => `${JSON.stringify(value, null, '\t')}\n`,
  (value) => `\uFEFF${JSON.stringify(value, null, 4).replaceAll('\n', '\r\n')}\r\n`,
  (value) => JSON.stringify(value).replaceAll('<', '\\u003c').replaceAll('&', '\\u0026'),
  (value) => JSON.stringify(value, null, 1).replaceAll(/\n */g, ' '),
  (value) =>
    JSON.stringify(value, null, 1)
      .replaceAll(/([{[,])\n */g, '$1')
      .replaceAll(/\n *([}\]])/g, '$1'),
)

const anyChanges: fc.Arbitrary<PatchChanges> = fc.record({
  files: fc.uniqueArray(
    fc
      .tuple(name, text, fc.constantFrom(0o600, 0o644))
      .map(([one, bytes, mode]) => file(`/etc/${one}`, bytes, { mode })),
    { selector: ({ path }) => path, maxLength: 4 },
  ),
  units: fc.uniqueArray(
    fc.record({
      name: name.map((one) => `${one}.service`),
      enabled: fc.boolean(),
      contents: text,
      dropins: fc.uniqueArray(anyDropin, { selector: (one) => one.name, maxLength: 3 }),
    }),
    { selector: (one) => one.name, maxLength: 3 },
  ),
  kernelArguments: fc.constantFrom(
    { shouldExist: [], shouldNotExist: [] },
    { shouldExist: ['quiet'], shouldNotExist: ['b'] },
  ),
})

test('what a patch did is undone to the byte, whatever the config and its layout', () => {
  fc.assert(
    fc.property(anyConfig, anyLayout, anyChanges, (value, layout, changes) => {
      const before = layout(value)
      const patched = applyChanges(before, 'any.ign', changes)
      const undone = applyUndo(patched.text, 'any.ign', patched.undo)
      assert.deepEqual(undone.findings, [])
      assert.equal(undone.text, before)
    }),
    { numRuns: 500 },
  )
})

test('a patch that is done twice changes nothing the second time, and has nothing to undo', () => {
  fc.assert(
    fc.property(anyConfig, anyLayout, anyChanges, (value, layout, changes) => {
      const once = applyChanges(layout(value), 'any.ign', changes)
      const again = applyChanges(once.text, 'any.ign', changes)
      assert.equal(again.text, once.text)
      assert.deepEqual(again.undo, [])
    }),
    { numRuns: 300 },
  )
})

test('after a patch every file of it is what the patch says, and every other value is what it was', () => {
  fc.assert(
    fc.property(anyConfig, anyLayout, anyChanges, (value, layout, changes) => {
      const patched = applyChanges(layout(value), 'any.ign', changes)
      for (const { path, contents, mode } of changes.files) {
        const entry = fileOf(patched.text, path)
        assert.deepEqual(Buffer.from(inlineFile(entry) ?? []), Buffer.from(contents))
        assert.equal(entry.mode ?? 0o644, mode)
      }
      const after = JSON.parse(patched.text.replace('\uFEFF', '')) as IgnitionConfig
      const touched = new Set(changes.files.map(({ path }) => path))
      const others = (all: IgnitionConfig) => (all.storage?.files ?? []).filter(({ path }) => !touched.has(path))
      assert.deepEqual(others(after), others(JSON.parse(JSON.stringify(value)) as IgnitionConfig))
      assert.deepEqual(after.passwd, value.passwd)
    }),
    { numRuns: 300 },
  )
})

test('undoing the undoing gives the patched values again', () => {
  fc.assert(
    fc.property(anyConfig, anyChanges, (value, changes) => {
      const patched = applyChanges(JSON.stringify(value), 'any.ign', changes)
      const undone = applyUndo(patched.text, 'any.ign', patched.undo)
      const again = applyUndo(undone.text, 'any.ign', undone.undo)
      assert.deepEqual(again.findings, [])
      assert.equal(applyChanges(again.text, 'any.ign', changes).text, again.text)
    }),
  )
})

test('two patches are undone in either order', () => {
  const before = '{"ignition": {"version": "3.2.0"}, "storage": null}'
  const first = applyChanges(before, 'a.ign', { ...none, files: [file('/etc/one', '1')] })
  const second = applyChanges(first.text, 'a.ign', { ...none, files: [file('/etc/two', '2')] })
  const withoutFirst = applyUndo(second.text, 'a.ign', first.undo)
  assert.deepEqual(withoutFirst.findings, [])
  assert.equal(fileOf(withoutFirst.text, '/etc/two').mode, 0o644)
  assert.equal(JSON.parse(withoutFirst.text).storage.files.length, 1)
  assert.equal(applyUndo(second.text, 'a.ign', [...second.undo, ...first.undo]).text, before)
})

test('an undo does not take away what was written after the patch', () => {
  const patched = applyChanges(config([]), 'a.ign', { ...none, files: [file('/etc/one', '1')] })
  const edited = applyChanges(patched.text, 'a.ign', { ...none, files: [file('/etc/one', 'by hand')] })
  const undone = applyUndo(edited.text, 'a.ign', patched.undo)
  assert.deepEqual(
    undone.findings.map(({ id, severity }) => ({ id, severity })),
    [{ id: 'ignition.undo-changed', severity: 'error' }],
  )
  assert.equal(undone.text, edited.text)
})

test('an undo that was carried out already does nothing', () => {
  const before = config([{ path: '/etc/one', contents: { source: 'data:,0' } }])
  const patched = applyChanges(before, 'a.ign', { ...none, files: [file('/etc/one', '1'), file('/etc/two', '2')] })
  const undone = applyUndo(applyUndo(patched.text, 'a.ign', patched.undo).text, 'a.ign', patched.undo)
  assert.deepEqual(undone, { text: before, undo: [], findings: [] })
})

test('new bytes are encoded as the old ones: media type, percent or base64, compression, and a hash of its kind', () => {
  const files = [
    { path: '/etc/a', contents: { source: 'data:text/x;charset=latin1;base64,MA==' }, overwrite: true },
    { path: '/etc/b', contents: { source: 'data:text/plain,0' }, overwrite: true },
    { path: '/etc/c', contents: { source: encodeDataUrl(gzipSync('0'), ''), compression: 'gzip' }, overwrite: true },
    {
      path: '/etc/d',
      contents: { source: 'data:,0', verification: { hash: hashLike('sha256-', Buffer.from('0')) } },
      overwrite: true,
    },
  ]
  const wanted = files.map(({ path }) => file(path, 'new: é'))
  const patched = applyChanges(config(files), 'a.ign', { ...none, files: wanted }).text
  assert.equal(fileOf(patched, '/etc/a').contents?.source, encodeDataUrl('new: é', 'text/x;charset=latin1'))
  assert.equal(fileOf(patched, '/etc/b').contents?.source, 'data:text/plain,new%3A%20%C3%A9')
  assert.match(fileOf(patched, '/etc/c').contents?.source ?? '', /^data:;base64,H4sI/)
  const hash = hashLike('sha256-', Buffer.from('new: é'))
  assert.equal(fileOf(patched, '/etc/d').contents?.verification?.hash, hash)
  for (const { path } of files) assert.equal(String(inlineFile(fileOf(patched, path))), 'new: é')
})

test('what stood in the undo is said where it was secret', () => {
  const files = [
    { path: '/root/.docker/config.json', contents: { source: encodeDataUrl('{"auths":{}}') } },
    { path: '/etc/motd', contents: { source: 'data:,hello' } },
    { path: '/etc/proxy', contents: { source: encodeDataUrl('export HTTP_PROXY=http://user:word@proxy.lab') } },
    { path: '/etc/empty.key', contents: { source: 'data:,' } },
    { path: '/opt/x', contents: { source: encodeDataUrl(`-----BEGIN ${'PRIVATE KEY'}-----`) } },
  ]
  const changes = { ...none, files: files.map(({ path }) => file(path, 'x')) }
  assert.deepEqual(applyChanges(config(files), 'a.ign', changes).secrets, [
    '/root/.docker/config.json',
    '/etc/proxy',
    '/opt/x',
  ])
})

test('names that the old /etc/hosts had, and certificates that the installer’s bundle had, are not lost in silence', () => {
  const files = [
    { path: '/etc/hosts', contents: { source: encodeDataUrl('10.0.0.1 api.lab # api\n10.0.0.2 mirror.lab') } },
  ]
  const hosts = file('/etc/hosts', '10.0.0.2 mirror.lab\n', { part: 'hosts' })
  const { findings } = applyChanges(config(files), 'a.ign', { ...none, files: [hosts] })
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['ignition.patch-hosts-lost'],
  )
  assert.match(findings[0]?.summary ?? '', /: api\.lab$/)
})

test('a patch is refused where a link, a directory or a unit of the config has its path', () => {
  const more = {
    storage: {
      links: [{ path: '/etc/linked', target: '/x' }],
      directories: [{ path: '/etc/dir' }],
      files: [{ path: '/etc/systemd/system/b.service', contents: { source: 'data:,' } }, { path: '/etc/file' }],
    },
    systemd: { units: [{ name: 'a.service', contents: '[Unit]' }] },
  }
  const changes = {
    files: ['/etc/linked/x', '/etc/dir', '/etc/file/x', '/etc/systemd/system/a.service'].map((path) => file(path, '')),
    units: [{ name: 'b.service', contents: '[Unit]', dropins: [] }],
  }
  const { findings } = applyChanges(config([], more), 'a.ign', changes)
  assert.equal(
    findings.filter(({ id, severity }) => id === 'ignition.patch-conflict' && severity === 'error').length,
    5,
  )
})

test('kernel arguments go into configs of 3.3 and later only', () => {
  const changes = { ...none, kernelArguments: { shouldExist: ['fips=1'], shouldNotExist: ['quiet'] } }
  const older = '{"ignition":{"version":"3.2.0"}}'
  assert.equal(applyChanges(older, 'a.ign', changes).text, older)
  const newer = JSON.parse(applyChanges('{"ignition":{"version":"3.3.0"}}', 'a.ign', changes).text)
  assert.deepEqual(newer.kernelArguments, { shouldExist: ['fips=1'], shouldNotExist: ['quiet'] })
})

test('a config of specification 2.x is not patched', () => {
  assert.throws(() => applyChanges('{"ignition":{"version":"2.2.0"}}', 'a.ign', none), { code: 'IGNITION_INVALID' })
})

test('a file that becomes readable for more than before is told', () => {
  const before = config([{ path: '/etc/key', mode: 0o600, contents: { source: 'data:,old' } }])
  const idsFor = (mode: number) =>
    applyChanges(before, 'a.ign', { ...none, files: [file('/etc/key', 'new', { mode })] }).findings.map(({ id }) => id)
  assert.deepEqual(idsFor(0o644), ['ignition.patch-mode-wider'])
  assert.deepEqual(idsFor(0o600), [])
  assert.deepEqual(idsFor(0o400), [])
})
