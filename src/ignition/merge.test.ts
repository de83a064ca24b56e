import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { IgnitionConfig } from './config.ts'
import { effectiveMode, mergeConfigs } from './merge.ts'

function config(parts: Omit<IgnitionConfig, 'ignition'>, version = '3.2.0'): IgnitionConfig {
  return { ignition: { version }, ...parts }
}

test('a field that the child has wins, one that it has not or says null stays', () => {
  const parent = config({
    storage: {
      files: [{ path: '/a', mode: 384, overwrite: true, contents: { source: 'data:,1', compression: 'gzip' } }],
    },
  })
  const child = config({
    storage: { files: [{ path: '/a', mode: 420, overwrite: null, contents: { source: 'data:,2' } }] },
  })
  assert.deepEqual(mergeConfigs(parent, child).storage?.files, [
    { path: '/a', mode: 420, overwrite: true, contents: { source: 'data:,2', compression: 'gzip' } },
  ])
})

test('files, directories and links share their paths: of two kinds the child has the say', () => {
  const parent = config({ storage: { files: [{ path: '/a' }, { path: '/b' }], directories: [{ path: '/d' }] } })
  const child = config({ storage: { links: [{ path: '/a', target: '/x' }], files: [{ path: '/d' }] } })
  assert.deepEqual(mergeConfigs(parent, child).storage, {
    files: [{ path: '/b' }, { path: '/d' }],
    directories: [],
    links: [{ path: '/a', target: '/x' }],
  })
})

test('what a file appends is put one behind the other, also where it is the same', () => {
  const one = config({ storage: { files: [{ path: '/a', append: [{ source: 'data:,1' }] }] } })
  const merged = mergeConfigs(one, one)
  assert.deepEqual(merged.storage?.files, [{ path: '/a', append: [{ source: 'data:,1' }, { source: 'data:,1' }] }])
})

test('entries of both stand where the parent has them, and new ones behind them', () => {
  const unit = (name: string, contents: string) => ({ name, contents })
  const parent = config({ systemd: { units: [unit('a.service', '1'), unit('b.service', '1')] } })
  const child = config({ systemd: { units: [unit('c.service', '2'), unit('a.service', '2')] } })
  assert.deepEqual(mergeConfigs(parent, child).systemd?.units, [
    unit('a.service', '2'),
    unit('b.service', '1'),
    unit('c.service', '2'),
  ])
})

test('drop-ins, SSH keys, groups and proxies without names are merged, not replaced', () => {
  const parent = config({
    passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['k1', 'k2'], groups: ['wheel'] }] },
    systemd: { units: [{ name: 'a.service', dropins: [{ name: '10.conf', contents: 'x' }] }] },
  })
  const child = config({
    passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['k2', 'k3'] }] },
    systemd: { units: [{ name: 'a.service', enabled: true, dropins: [{ name: '20.conf' }] }] },
  })
  const { passwd, systemd } = mergeConfigs(parent, child)
  assert.deepEqual(passwd?.users, [{ name: 'core', sshAuthorizedKeys: ['k1', 'k2', 'k3'], groups: ['wheel'] }])
  assert.deepEqual(systemd?.units, [
    { name: 'a.service', enabled: true, dropins: [{ name: '10.conf', contents: 'x' }, { name: '20.conf' }] },
  ])
})

test('a kernel argument that the child takes away is no longer one that should be there', () => {
  const parent = config({ kernelArguments: { shouldExist: ['quiet', 'nosmt'] } }, '3.3.0')
  const child = config({ kernelArguments: { shouldNotExist: ['quiet'] } }, '3.3.0')
  assert.deepEqual(mergeConfigs(parent, child).kernelArguments, { shouldExist: ['nosmt'], shouldNotExist: ['quiet'] })
})

test('a header without a value takes the header of the parent away', () => {
  const authority = (value: string | null) => ({
    source: 'https://x/ca',
    httpHeaders: [
      { name: 'A', value },
      { name: 'B', value: 'b' },
    ],
  })
  const of = (value: string | null): IgnitionConfig => ({
    ignition: { version: '3.1.0', security: { tls: { certificateAuthorities: [authority(value)] } } },
  })
  const merged = mergeConfigs(of('1'), of(null)).ignition.security?.tls?.certificateAuthorities
  assert.deepEqual(merged, [{ source: 'https://x/ca', httpHeaders: [{ name: 'B', value: 'b' }] }])
})

test('the merged config is of the higher version, and an older one brings no special bits into it', () => {
  const old = config({ storage: { files: [{ path: '/a', mode: 0o4755 }] } }, '3.2.0')
  const recent = config({ storage: { files: [{ path: '/b', mode: 0o4755 }] } }, '3.6.0')
  for (const merged of [mergeConfigs(old, recent), mergeConfigs(recent, old)]) {
    assert.equal(merged.ignition.version, '3.6.0')
    assert.deepEqual(merged.storage?.files?.map(({ path, mode }) => [path, mode]).sort(), [
      ['/a', 0o755],
      ['/b', 0o4755],
    ])
  }
  assert.equal(effectiveMode(0o1204, '3.1.0'), 0o204)
})

const paths = fc.uniqueArray(fc.constantFrom('/a', '/b', '/c', '/d', '/e'), { maxLength: 5 })
const files = paths.map((all) => all.map((path) => ({ path, contents: { source: `data:,${path}` } })))

test('merging with a config that says nothing changes nothing, and no path comes twice', () => {
  fc.assert(
    fc.property(files, files, (ours, theirs) => {
      const one = config({ storage: { files: ours } })
      assert.deepEqual(mergeConfigs(one, config({})), one)
      assert.deepEqual(mergeConfigs(config({}), one), one)
      const merged = mergeConfigs(
        one,
        config({ storage: { links: theirs.map(({ path }) => ({ path, target: '/' })) } }),
      )
      const all = [...(merged.storage?.files ?? []), ...(merged.storage?.links ?? [])].map(({ path }) => path)
      assert.equal(new Set(all).size, all.length)
    }),
  )
})
