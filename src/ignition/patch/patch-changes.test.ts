/** What a patch comes to, and what of it is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testCertificate } from '../../../testkit/certificates.ts'
import type { IgnitionPatch } from './patch.ts'
import { workOutPatch } from './patch-changes.ts'

const now = new Date()

function workOut(patch: Omit<IgnitionPatch, 'name'>, at = now) {
  const { changes, findings } = workOutPatch({ name: 'lab', ...patch }, at)
  const texts = Object.fromEntries(changes.files.map(({ path, contents }) => [path, Buffer.from(contents).toString()]))
  return { changes, texts, findings, ids: findings.map(({ id, severity }) => `${severity} ${id}`) }
}

test('a trusted CA becomes an anchor of its name, readable by everybody', async (t) => {
  const { ca } = await testCertificate(t)
  const { changes, ids } = workOut({ trust: [{ name: 'corp', pem: ca.trimEnd() }] })
  assert.deepEqual(ids, [])
  const [file] = changes.files
  assert.equal(file?.path, '/etc/pki/ca-trust/source/anchors/corp.crt')
  assert.equal(file?.mode, 0o644)
  assert.equal(String(file?.contents), `${ca.trimEnd()}\n`)
})

test('what is no certificate is refused, and so is a private key', async (t) => {
  const { tls, ca } = await testCertificate(t)
  const broken = ca.replace(/\n[A-Za-z0-9+/]{10}/, '\nAAAAAAAAAA')
  for (const pem of ['hello', '', broken, `${ca}${tls.key}`]) {
    assert.deepEqual(
      workOut({ trust: [{ name: 'x', pem }] }).ids,
      ['error ignition.patch-trust-invalid'],
      pem.slice(0, 40),
    )
  }
})

test('a certificate that is no CA, or not valid now, is told', async (t) => {
  const { tls, ca } = await testCertificate(t)
  const leaf = tls.cert.split(/(?<=-----END CERTIFICATE-----\n?)/)[0] ?? ''
  assert.deepEqual(workOut({ trust: [{ name: 'x', pem: leaf }] }).ids, ['warning ignition.patch-trust-not-ca'])
  const late = new Date('2199-01-01')
  assert.deepEqual(workOut({ trust: [{ name: 'x', pem: ca }] }, late).ids, ['warning ignition.patch-trust-expired'])
  const early = new Date('1999-01-01')
  assert.match(workOut({ trust: [{ name: 'x', pem: ca }] }, early).findings[0]?.summary ?? '', /is not valid before/)
})

test('/etc/hosts has the lines of localhost, and a line for each address', () => {
  const hosts = [
    { name: 'mirror.lab', address: '192.0.2.10' },
    { name: 'api.lab', address: '192.0.2.5' },
    { name: 'registry.lab', address: '192.0.2.10' },
    { name: 'six.lab', address: '2001:db8::1' },
  ]
  const { texts, ids } = workOut({ hosts })
  assert.deepEqual(ids, [])
  assert.deepEqual(texts['/etc/hosts']?.split('\n').slice(2), [
    '192.0.2.10 mirror.lab registry.lab',
    '192.0.2.5 api.lab',
    '2001:db8::1 six.lab',
    '',
  ])
  assert.match(texts['/etc/hosts'] ?? '', /^127\.0\.0\.1 +localhost [^\n]+\n::1 +localhost /)
})

test('names of public registries may not lead to a mirror, and the reason is said', () => {
  const names = [
    'quay.io',
    'cdn01.quay.io',
    'registry.redhat.io',
    'registry.access.redhat.com',
    'docker.io',
    'api.openshift.com',
  ]
  const { findings } = workOut({ hosts: names.map((name) => ({ name, address: '192.0.2.10' })) })
  assert.equal(findings.filter(({ id }) => id === 'ignition.patch-host-public').length, names.length)
  assert.match(findings[0]?.summary ?? '', /TLS/)
  for (const name of ['quay.io.lab', 'myquay.io', 'mirror.lab.redhat.com'])
    assert.deepEqual(workOut({ hosts: [{ name, address: '192.0.2.10' }] }).ids, [], name)
})

test('hosts that are no names, no addresses, loopback, or have two addresses are told', () => {
  const idsOf = (name: string, address: string) => workOut({ hosts: [{ name, address }] }).ids
  for (const name of ['a b', '-a', 'a..b', ''])
    assert.deepEqual(idsOf(name, '192.0.2.1'), ['error ignition.patch-host-invalid'])
  for (const address of ['192.0.2', '192.0.2.256', '01.2.3.4', 'mirror.lab', '2001:::1'])
    assert.deepEqual(idsOf('a.lab', address), ['error ignition.patch-host-invalid'], address)
  assert.deepEqual(idsOf('a.lab', '127.0.0.1'), ['warning ignition.patch-host-loopback'])
  const both = [
    { name: 'a.lab', address: '192.0.2.1' },
    { name: 'A.lab', address: '192.0.2.2' },
  ]
  assert.deepEqual(workOut({ hosts: both }).ids, ['error ignition.patch-host-invalid'])
})

test('chrony asks the servers that are named and no other', () => {
  const { texts } = workOut({ chrony: { servers: ['ntp.lab', '192.0.2.1'] } })
  const lines = texts['/etc/chrony.conf']?.split('\n') ?? []
  assert.deepEqual(
    lines.filter((line) => /^(?:server|pool|peer)\b/.test(line)),
    ['server ntp.lab iburst', 'server 192.0.2.1 iburst'],
  )
  assert.deepEqual(workOut({ chrony: { servers: ['ntp.lab iburst'] } }).ids, ['error ignition.patch-chrony-invalid'])
})

test('proxies are written as the installer writes them, for shells and for services', () => {
  const { texts, changes, ids } = workOut({
    proxy: { httpProxy: 'http://u:p%40ss@proxy.lab:3128', noProxy: ['lab', '10.0.0.0/8'] },
  })
  assert.deepEqual(ids, [])
  assert.equal(
    texts['/etc/profile.d/proxy.sh'],
    'export HTTP_PROXY="http://u:p%40ss@proxy.lab:3128"\nexport NO_PROXY="lab,10.0.0.0/8"\n',
  )
  assert.equal(
    texts['/etc/systemd/system.conf.d/10-default-env.conf'],
    '[Manager]\nDefaultEnvironment=HTTP_PROXY="http://u:p%%40ss@proxy.lab:3128"\nDefaultEnvironment=NO_PROXY="lab,10.0.0.0/8"\n',
  )
  assert.deepEqual(new Set(changes.files.map(({ mode }) => mode)), new Set([0o600]))
})

test('a proxy that a shell would run is refused, and its password is not told', () => {
  for (const httpProxy of ['http://u:secretword$(reboot)@p:1', 'socks://u:secretword@p:1', 'http://u:secretword"@p']) {
    const { findings, ids } = workOut({ proxy: { httpProxy } })
    assert.deepEqual(ids, ['error ignition.patch-proxy-invalid'])
    assert.doesNotMatch(JSON.stringify(findings), /secretword/)
  }
})

test('units and their drop-ins are put together, and broken ones are refused', () => {
  const contents = '# a\n[Unit]\nDescription=x \\\n  continued\n\n[Service]\nExecStart=/bin/true\n'
  const { changes, ids } = workOut({
    units: [{ name: 'a.service', contents, enabled: true }],
    dropins: [
      { unit: 'b.service', name: '10.conf', contents: '[Service]\nNice=5\n' },
      { unit: 'a.service', name: '20.conf', contents: '[Unit]\n' },
    ],
  })
  assert.deepEqual(ids, ['warning ignition.patch-unit-not-started'])
  assert.deepEqual(
    changes.units.map(({ name, dropins }) => [name, dropins.map((one) => one.name)]),
    [
      ['a.service', ['20.conf']],
      ['b.service', ['10.conf']],
    ],
  )
  const wrong: readonly Omit<IgnitionPatch, 'name'>[] = [
    { units: [{ name: 'a', contents }] },
    { units: [{ name: 'a.service' }] },
    { units: [{ name: 'a.service', contents: '[Unit' }] },
    { units: [{ name: 'a.service', contents: '[Unit]\nA=b\nc\n' }] },
    { units: [{ name: 'a.service', contents: `[Unit]\nDescription=${'x'.repeat(3000)}\n` }] },
    { dropins: [{ unit: 'a.service', name: 'a', contents }] },
    { dropins: [1, 2].map(() => ({ unit: 'a.service', name: 'a.conf', contents })) },
  ]
  for (const patch of wrong) assert.deepEqual(workOut(patch).ids, ['error ignition.patch-unit-invalid'])
  for (const stray of ['ExecStart', 'A=b', '# x\n\nA=b\n[Unit]\n'])
    assert.deepEqual(workOut({ units: [{ name: 'a.service', contents: stray }] }).ids, [
      'warning ignition.patch-unit-line',
    ])
})

test('paths that Ignition would refuse, and paths that are written twice, are refused', () => {
  for (const path of ['etc/a', '/etc/../a', '/etc//a', '/etc/a/', '/'])
    assert.deepEqual(workOut({ files: [{ path, contents: Buffer.of() }] }).ids, ['error ignition.patch-path'], path)
  const files = [{ path: '/etc/chrony.conf', contents: Buffer.of() }]
  assert.deepEqual(workOut({ files, chrony: { servers: ['a'] } }).ids, ['error ignition.patch-path'])
})
