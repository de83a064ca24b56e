/** Single rules. That all of them together say what `ignition-validate` says is for test/contract. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateIgnition } from './validate.ts'

type Section = Readonly<Record<string, unknown>>

function textOf(version: string, { ignition = {}, ...sections }: { ignition?: Section } & Section): string {
  return JSON.stringify({ ignition: { version, ...ignition }, ...sections })
}

/** What is said, without places in the text. */
function saidOf(version: string, sections: { ignition?: Section } & Section): readonly string[] {
  return validateIgnition(textOf(version, sections)).entries.map(
    ({ severity, path, message }) => `${severity} at ${path}: ${message}`,
  )
}

/** The versions for which nothing is wrong. */
function soundIn(sections: { ignition?: Section } & Section): readonly string[] {
  const versions = ['3.0.0', '3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.5.0', '3.6.0', '3.7.0-experimental']
  return versions.filter((version) => validateIgnition(textOf(version, sections)).entries.length === 0)
}

const file = (more: Section) => ({ storage: { files: [{ path: '/a', ...more }] } })
const since = (first: string) =>
  ['3.1.0', '3.2.0', '3.3.0', '3.4.0', '3.5.0', '3.6.0', '3.7.0-experimental'].filter((version) => version >= first)

test('a finding has its path, its line and its column', () => {
  const text = '{\n  "ignition": {"version": "3.2.0"},\n  "storage": {"files": [\n    {"é": 1, "path": "a"}\n  ]}\n}\n'
  assert.deepEqual(validateIgnition(text), {
    isFatal: true,
    entries: [
      { severity: 'error', path: '$.storage.files.0.path', line: 4, column: 23, message: 'path not absolute' },
      { severity: 'warning', path: '$.storage.files.0.é', line: 4, column: 6, message: 'unused key é' },
    ],
  })
})

test('a value of the wrong type is told with its path, in the words of Go', () => {
  const text = '{"ignition": {"version": "3.2.0"},\n"storage": {"files": [{"path": "/a", "mode": "0644"}]}}'
  const message = 'json: cannot unmarshal string into Go struct field File.storage.files.mode of type int'
  assert.deepEqual(validateIgnition(text).entries, [
    { severity: 'error', path: '$.storage.files.0.mode', line: 2, column: 52, message },
  ])
})

test('the end of a text that is cut has a place', () => {
  const [entry] = validateIgnition('{"ignition":\n {').entries
  assert.deepEqual([entry?.line, entry?.column, entry?.message], [2, 3, 'unexpected end of JSON input'])
})

test('an old version, an unknown one and none are fatal, with a note about what can be done', () => {
  const said = (version: string) => validateIgnition(textOf(version, {}))
  assert.ok([said('2.2.0'), said('3.9.0'), said('x'), validateIgnition('{}')].every(({ isFatal }) => isFatal))
  assert.deepEqual(
    said('2.2.0').entries.map(({ severity }) => severity),
    ['error', 'info'],
  )
  assert.match(said('2.2.0').entries[1]?.message ?? '', /OpenShift 4\.5 .*ignition inspect/)
  assert.match(said('3.9.0').entries[1]?.message ?? '', /3\.0\.0 to 3\.6\.0/)
  assert.equal(said('x').entries[0]?.message, "invalid config version (couldn't parse)")
  assert.equal(validateIgnition('').entries[0]?.message, 'not a config (empty)')
})

test('a byte order mark is named, since editors do not show it', () => {
  const { isFatal, entries } = validateIgnition(`\uFEFF${textOf('3.2.0', {})}`)
  assert.ok(isFatal)
  assert.match(entries[1]?.message ?? '', /byte order mark/)
})

test('keys match in any letters, and are called unused then', () => {
  assert.deepEqual(saidOf('3.2.0', { STORAGE: { files: [{ path: 'a' }] } }), [
    'error at $.storage.files.0.path: path not absolute',
    'warning at $.STORAGE: unused key STORAGE',
  ])
})

test('null is nothing, but where a section belongs it is odd', () => {
  assert.deepEqual(saidOf('3.2.0', file({ mode: null, contents: { source: null } })), [])
  assert.equal(saidOf('3.2.0', { storage: null }).length, 1)
})

test('fields are there from their version on', () => {
  assert.deepEqual(soundIn({ kernelArguments: { shouldExist: ['a'] } }), since('3.3.0'))
  assert.deepEqual(soundIn({ ignition: { proxy: { httpProxy: 'http://a' } } }), since('3.1.0'))
  assert.deepEqual(soundIn({ passwd: { users: [{ name: 'a', shouldExist: false }] } }), since('3.2.0'))
  const luks = (more: Section) => ({ storage: { luks: [{ name: 'a', device: '/dev/a', ...more }] } })
  assert.deepEqual(soundIn(luks({})), since('3.2.0'))
  assert.deepEqual(soundIn(luks({ discard: true })), since('3.4.0'))
  assert.deepEqual(soundIn(luks({ cex: { enabled: true } })), since('3.5.0'))
})

test('sources have the schemes of their version', () => {
  const from = (source: string) => file({ contents: { source } })
  assert.equal(soundIn(from('https://a/b')).length, 8)
  assert.deepEqual(soundIn(from('gs://a/b')), since('3.2.0'))
  assert.deepEqual(soundIn(from('arn:aws:s3:::bucket/key')), since('3.4.0'))
  assert.deepEqual(saidOf('3.2.0', from('ftp://a')), ['error at $.storage.files.0.contents.source: invalid url scheme'])
  assert.deepEqual(saidOf('3.4.0', from('arn:aws:ec2:::bucket/key')), [
    'error at $.storage.files.0.contents.source: invalid S3 ARN format',
  ])
  assert.deepEqual(saidOf('3.4.0', from('s3://bucket/key?versionId=')), [
    'error at $.storage.files.0.contents.source: invalid S3 object VersionId',
  ])
})

test('a resource has a compression that is known, a hash of its length, and headers only where there is a server', () => {
  const hash = `sha512-${'0'.repeat(128)}`
  assert.deepEqual(saidOf('3.1.0', file({ contents: { verification: { hash } } })), [
    'error at $.storage.files.0.contents.verification.hash: source must be specified if verification is specified',
  ])
  const source = 'data:,'
  assert.deepEqual(
    saidOf('3.1.0', file({ contents: { source, compression: 'xz', verification: { hash: 'sha256-0' } } })),
    [
      'error at $.storage.files.0.contents.compression: invalid compression method',
      'error at $.storage.files.0.contents.verification.hash: incorrect size for hash sum',
    ],
  )
  assert.deepEqual(saidOf('3.1.0', file({ contents: { source, httpHeaders: [{ name: 'a', value: 'b' }] } })), [
    'error at $.storage.files.0.contents.httpHeaders: cannot use HTTP headers with this source scheme',
  ])
  assert.deepEqual(
    saidOf('3.0.0', file({ contents: { source, verification: { hash: `sha256-${'0'.repeat(64)}` } } })),
    ['error at $.storage.files.0.contents.verification.hash: unrecognized hash function'],
  )
})

test('special bits of a mode mean something from 3.6 on, and more than those is no mode', () => {
  assert.deepEqual(soundIn(file({ mode: 0o4755 })), since('3.6.0'))
  assert.deepEqual(saidOf('3.6.0', file({ mode: 0o10000 })), ['error at $.storage.files.0.mode: illegal file mode'])
})

test('a file that only appends must not overwrite', () => {
  assert.deepEqual(saidOf('3.2.0', file({ overwrite: true, append: [{ source: 'data:,a' }] })), [
    'error at $.storage.files.0.overwrite: overwrite must be false if source is unspecified',
  ])
})

test('a path is there once, whatever is at it', () => {
  const storage = { files: [{ path: '/a' }], directories: [{ path: '/a' }], links: [{ path: '/a', target: 'b' }] }
  assert.deepEqual(saidOf('3.3.0', { storage }), [
    'error at $.storage.files.0: duplicate entry defined',
    'error at $.storage.links.0: duplicate entry defined',
  ])
  assert.equal(
    validateIgnition(textOf('3.3.0', file({ append: [{ source: 'data:,' }, { source: 'data:,' }] }))).isFatal,
    false,
  )
})

test('nothing lies below a link, and a hard link leads to no directory', () => {
  const links = [
    { path: '/l', target: '/t' },
    { path: '/h', target: 'd', hard: true, user: { id: 0 } },
  ]
  assert.deepEqual(
    saidOf('3.3.0', { storage: { links, files: [{ path: '/l/a' }], directories: [{ path: '/h/d' }] } }),
    [
      'error at $.storage.directories.0: directory path includes link in config',
      'error at $.storage.files.0: file path includes link in config',
      'error at $.storage.links.1: hard link target is a directory',
      'warning at $.storage.links.1.user.id: user/group ignored for hard link',
    ],
  )
})

test('a file does not take the place of a unit', () => {
  const units = [{ name: 'a.service', contents: '[Unit]', dropins: [{ name: 'b.conf', contents: '[Unit]' }] }]
  const at = (path: string) => saidOf('3.2.0', { systemd: { units }, storage: { files: [{ path }] } })
  const message = 'error at $.storage.files.0.path: path conflicts with systemd unit or dropin'
  assert.deepEqual(at('/etc/systemd/system/a.service'), [message])
  assert.deepEqual(at('/etc/systemd/system/a.service.d/b.conf'), [message])
  assert.deepEqual(at('/etc/systemd/system/c.service'), [])
})

test('units have names that systemd knows, contents that can be read, and a reason to be enabled', () => {
  const units = [
    { name: 'a', contents: '[Unit' },
    { name: 'b.service', contents: '[Unit]\nA=b\n', enabled: true, dropins: [{ name: 'c', contents: '[X] y\n' }] },
    { name: 't@.service', contents: '[Unit]\nA=b\n' },
    { name: 't@1.service', enabled: true },
  ]
  assert.deepEqual(saidOf('3.2.0', { systemd: { units } }), [
    'warning at $.systemd.units.3.contents: template unit "t@.service" for "t@1.service" doesn\'t have Install section',
    'error at $.systemd.units.0.name: invalid systemd unit extension',
    'error at $.systemd.units.0.contents: invalid unit content: unable to find end of section',
    'warning at $.systemd.units.1.contents: unit "b.service" is enabled, but has no install section so enable does nothing',
    'error at $.systemd.units.1.dropins.0.contents: invalid unit content: found garbage after section name : "y"',
    'error at $.systemd.units.1.dropins.0.name: invalid systemd drop-in extension',
  ])
})

test('children and authorities have a source', () => {
  const ignition = { config: { merge: [{}] }, security: { tls: { certificateAuthorities: [{ source: '' }] } } }
  assert.deepEqual(saidOf('3.1.0', { ignition }), [
    'error at $.ignition.config.merge.0: source is required',
    'error at $.ignition.security.tls.certificateAuthorities.0: source is required',
  ])
})

test('a proxy is on the web, and told where it reads what is encrypted', () => {
  const proxy = { httpProxy: 'socks://a', httpsProxy: 'http://a', noProxy: ['b', 'b'] }
  assert.deepEqual(saidOf('3.1.0', { ignition: { proxy } }), [
    'error at $.ignition.proxy.httpProxy: proxies must be http(s)',
    'warning at $.ignition.proxy.httpsProxy: insecure plaintext HTTP proxy specified for HTTPS resources',
    'error at $.ignition.proxy.noProxy.1: duplicate entry defined',
  ])
})
