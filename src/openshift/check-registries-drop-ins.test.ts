import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IgnitionConfig } from '../ignition/config.ts'
import { encodeDataUrl } from '../ignition/data-url.ts'
import { checkRegistriesDropIns } from './check-registries-drop-ins.ts'

function registry(location: string, mirrors: readonly string[], more = ''): string {
  const tables = mirrors.map((mirror) => `[[registry.mirror]]\nlocation = "${mirror}"\n`)
  return `[[registry]]\nlocation = "${location}"\n${more}${tables.join('')}`
}

const release = 'quay.io/openshift-release-dev/ocp-release'
const main = registry(release, ['mirror.lab:8443/ocp'], 'mirror-by-digest-only = true\n')

function check(text: string, others: Readonly<Record<string, string>> = { '/etc/containers/registries.conf': main }) {
  const files = Object.entries(others).map(([path, one]) => ({ path, contents: { source: encodeDataUrl(one) } }))
  const config: IgnitionConfig = { ignition: { version: '3.2.0' }, storage: { files } }
  const findings = checkRegistriesDropIns(config, [{ fileName: '50-lab.conf', text }])
  return findings.map(({ id, severity, summary }) => ({
    said: `${severity} ${id.slice('ignition.patch-registries-'.length)}`,
    summary,
  }))
}

function said(text: string, others?: Readonly<Record<string, string>>): readonly string[] {
  return check(text, others).map((one) => one.said)
}

test('a drop-in beside what the config has is silent', () => {
  assert.deepEqual(said(registry('registry.redhat.io', ['mirror.lab:8443/redhat'])), [])
  assert.deepEqual(said(registry(release, ['mirror.lab:8443/ocp', 'second.lab/ocp'])), [])
})

test('a drop-in that podman would refuse is an error', () => {
  for (const text of ['[[registry]\n', '[registries.search]\nregistries = ["a"]\n', registry('https://quay.io', [])])
    assert.deepEqual(said(text), ['error invalid'], text)
})

test('mirrors of the config that a drop-in takes away are named', () => {
  const [found] = check(registry(release, ['second.lab/ocp']))
  assert.equal(found?.said, 'warning replaced')
  assert.match(found?.summary ?? '', /mirror\.lab:8443\/ocp/)
  const blocked = { '/etc/containers/registries.conf': registry(release, [], 'blocked = true\n') }
  assert.match(check(registry(release, []), blocked)[0]?.summary ?? '', /no longer blocked/)
})

test('a longer prefix without mirrors hides the mirrors of the shorter one', () => {
  const wide = { '/etc/containers/registries.conf': registry('quay.io', ['mirror.lab:8443/quay']) }
  assert.deepEqual(said(registry('quay.io/team', []), wide), ['warning hides'])
  assert.deepEqual(said(registry('quay.io/team', ['a.lab/x']), wide), [])
  assert.deepEqual(said(registry('quay.io/team', [], 'blocked = true\n'), wide), [])
  assert.deepEqual(said(registry('quay.iox', []), wide), [])
})

test('a drop-in that another one overrides has no effect, which is told', () => {
  const path = (name: string) => `/etc/containers/registries.conf.d/${name}`
  const text = registry('a.lab', ['b.lab/a'])
  assert.deepEqual(said(text, { [path('90-x.conf')]: registry('a.lab', ['c.lab/a']) }), ['warning overridden'])
  assert.deepEqual(said(text, { [path('10-x.conf')]: registry('a.lab', ['c.lab/a']) }), ['warning replaced'])
  assert.deepEqual(said(text, { [path('50-lab.conf')]: registry('a.lab', ['c.lab/a']) }), [])
  assert.deepEqual(said(text, { [path('90-x.txt')]: registry('a.lab', ['c.lab/a']) }), [])
})

test('insecure mirrors, and mirrors at localhost, are told', () => {
  assert.deepEqual(said(registry('a.lab', ['localhost:5000/a'], 'insecure = true\n')), [
    'warning insecure',
    'warning localhost',
  ])
  assert.deepEqual(said(registry('a.lab', ['localhost.lab/a'])), [])
})

test('what the config has and does not parse says nothing of the drop-in', () => {
  assert.deepEqual(said(registry('a.lab', []), { '/etc/containers/registries.conf': '[[' }), [])
})
