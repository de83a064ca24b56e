import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { makeAuthority } from '../../../testkit/signing-certificates.ts'
import type { File, IgnitionConfig } from '../config.ts'
import { encodeDataUrl } from '../data-url.ts'
import { readIgnitionConfig } from '../read-config.ts'
import { layersOf } from '../redact/layers.ts'
import { diffConfigs } from './config-diff.ts'
import type { Difference } from './difference.ts'

type Parts = Omit<IgnitionConfig, 'ignition'> & { readonly ignition?: Partial<IgnitionConfig['ignition']> }

function diff(before: Parts, after: Parts): Promise<readonly Difference[]> {
  const read = ({ ignition, ...parts }: Parts) =>
    readIgnitionConfig(JSON.stringify({ ignition: { version: '3.3.0', ...ignition }, ...parts }), 'x.ign')
  return diffConfigs(read(before), read(after))
}

function withFile(file: File): Parts {
  return { storage: { files: [file] } }
}

function text(path: string, contents: string): File {
  return { path, contents: { source: encodeDataUrl(contents) } }
}

test('a text that changed is told line by line, with its mode and owner', async () => {
  const before = withFile({ ...text('/etc/a', 'one\ntwo\n'), mode: 0o600 })
  const after = withFile({ ...text('/etc/a', 'one\n2\n'), mode: 0o644, user: { name: 'core' } })
  assert.deepEqual(await diff(before, after), [
    {
      kind: 'file',
      name: '/etc/a',
      change: 'changed',
      details: [
        { field: 'mode', before: '0600', after: '0644' },
        { field: 'owner', before: 'root:root', after: 'core:root' },
        { field: 'contents', lines: ['@@ -1,2 +1,2 @@', ' one', '-two', '+2'] },
      ],
    },
  ])
})

test('bytes that are no text are told by size and hash, certificates by whom they certify and until when', async () => {
  const binary = (...bytes: number[]) =>
    withFile({ path: '/a', contents: { source: encodeDataUrl(Uint8Array.from([0, ...bytes])) } })
  const [one] = await diff(binary(1), binary(2, 3))
  assert.match(one?.details[0]?.before ?? '', /^2 bytes, sha256 [0-9a-f]{12}…$/)
  const [old, own] = [await makeAuthority({ name: 'old' }), await makeAuthority({ name: 'own' })]
  const path = '/etc/pki/ca-trust/source/anchors/ca.crt'
  const [changed] = await diff(withFile(text(path, old.pem)), withFile(text(path, old.pem + own.pem)))
  assert.deepEqual(
    changed?.details.map(({ field, before, after }) => [field, before, after?.replace(/until .*/, '')]),
    [
      ['certificate', undefined, 'CN=own, '],
      ['contents', undefined, undefined],
    ],
  )
})

test('units are told by what is enabled, their lines, and their drop-ins', async () => {
  const unit = (enabled: boolean, lines: string, dropin: string): Parts => ({
    systemd: {
      units: [{ name: 'a.service', enabled, contents: lines, dropins: [{ name: '10-a.conf', contents: dropin }] }],
    },
  })
  assert.deepEqual(await diff(unit(true, '[Unit]\n', 'x\n'), unit(false, '[Unit]\nAfter=b\n', 'y\n')), [
    {
      kind: 'unit',
      name: 'a.service',
      change: 'changed',
      details: [
        { field: 'enabled', before: 'true', after: 'false' },
        { field: 'contents', lines: ['@@ -1 +1,2 @@', ' [Unit]', '+After=b'] },
        { field: 'drop-in 10-a.conf', lines: ['@@ -1 +1 @@', '-x', '+y'] },
      ],
    },
  ])
})

test('of users keys are told by their fingerprints, and of a password that it differs', async () => {
  const user = (key: string, passwordHash: string): Parts => ({
    passwd: {
      users: [{ name: 'core', sshAuthorizedKeys: [`ssh-ed25519 ${key} me@lab`], passwordHash, groups: ['a', 'b'] }],
    },
  })
  const differences = await diff(user('AAAAB3Nz', '$6$a$old-old-old-old'), user('AAAAC3Nz', '$6$a$own-own-own-own'))
  assert.deepEqual(
    differences[0]?.details.map(({ field, before, after, isSecret }) => [
      field,
      before?.slice(0, 18),
      after?.slice(0, 18),
      isSecret,
    ]),
    [
      ['passwordHash', undefined, undefined, true],
      ['SSH key', 'ssh-ed25519 SHA256', undefined, undefined],
      ['SSH key', undefined, 'ssh-ed25519 SHA256', undefined],
    ],
  )
  assert.equal(JSON.stringify(differences).includes('me@lab'), false)
})

test('settings, kernel arguments, disks and children elsewhere are told by name', async () => {
  const before: Parts = {
    ignition: { config: { merge: [{ source: 'https://api-int/config/master' }] }, timeouts: { httpTotal: 10 } },
    kernelArguments: { shouldExist: ['a', 'b'] },
    storage: { disks: [{ device: '/dev/sda', wipeTable: true }] },
  }
  const after: Parts = {
    ignition: { config: { merge: [{ source: 'https://api-int/config/worker' }] }, proxy: { noProxy: ['lab'] } },
    kernelArguments: { shouldExist: ['b'] },
    storage: { disks: [{ device: '/dev/sda', wipeTable: false }] },
  }
  assert.deepEqual(
    (await diff(before, after)).map(({ kind, name, details }) => [kind, name, ...details.map(({ field }) => field)]),
    [
      ['setting', 'ignition.config', 'merge'],
      ['setting', 'ignition.timeouts', 'httpTotal'],
      ['setting', 'ignition.proxy', 'noProxy'],
      ['setting', 'kernelArguments', 'shouldExist'],
      ['disk', '/dev/sda', 'wipeTable'],
    ],
  )
})

test('a change in an overlay that is merged means the same as one in the config itself', async () => {
  const own = text('/etc/a', 'new\n')
  const overlay = { ignition: { version: '3.3.0' }, storage: { files: [own] } }
  const merged = {
    ...withFile(text('/etc/a', 'old\n')),
    ignition: { config: { merge: [{ source: encodeDataUrl(JSON.stringify(overlay)) }] } },
  }
  assert.deepEqual(await diff(withFile(own), merged), [])
})

test('a config of specification 2 differs from the same in 3 by its version alone', async () => {
  const file = { path: '/etc/a', mode: 420, contents: { source: 'data:,x' } }
  const two = { ignition: { version: '2.2.0' }, storage: { files: [{ ...file, filesystem: 'root' }] } }
  const three = { ignition: { version: '3.2.0' }, storage: { files: [{ ...file, overwrite: true }] } }
  const [before, after] = [two, three].map((config) => readIgnitionConfig(JSON.stringify(config), 'x.ign'))
  assert.ok(before && after)
  assert.deepEqual(
    (await diffConfigs(before, after)).map(({ name }) => name),
    ['ignition.version'],
  )
})

const realConfigs = '../shared/data/installer/ign'

test('real configs mean the same as they are and encoded in another way, and differ from one another', async (t) => {
  const names = await readdir(realConfigs).catch(() => undefined)
  if (!names) return t.skip(`${realConfigs} is not here`)
  for (const name of names) {
    const read = readIgnitionConfig(await readFile(join(realConfigs, name), 'utf8'), name)
    const { storage, systemd } = read.config
    const config: IgnitionConfig = {
      ...read.config,
      storage: { ...storage, files: (storage?.files ?? []).map(compressed).reverse() },
      systemd: { units: [...(systemd?.units ?? [])].reverse() },
    }
    assert.deepEqual(await diffConfigs(read, { ...read, config }), [], name)
  }
})

function compressed(file: File): File {
  const again = ({ source, ...resource }: NonNullable<File['contents']>) => {
    const bytes = Buffer.from(source?.split(',')[1] ?? '', 'base64')
    const isBase64 = /;base64,/.test(source ?? '')
    if (!isBase64 || resource.compression) return { source: source ?? null, ...resource }
    return { ...resource, source: `data:;base64,${gzipSync(bytes).toString('base64')}`, compression: 'gzip' }
  }
  return {
    ...file,
    ...(file.contents && { contents: again(file.contents) }),
    ...(file.append && { append: file.append.map(again) }),
  }
}

const secret = fc
  .stringMatching(/^[A-Za-z0-9]{20,30}$/)
  .filter((own) => /[0-9]/.test(own) && /[a-z]/.test(own) && /[A-Z]/.test(own))
const base64 = (own: string) => Buffer.from(own).toString('base64')

/** A config with a secret in one of the places where secrets are. */
const places: readonly ((own: string) => Parts)[] = [
  (own) => withFile(text('/root/.docker/config.json', JSON.stringify({ auths: { h: { auth: base64(`me:${own}`) } } }))),
  (own) =>
    withFile(text('/opt/openshift/tls/a.key', `-----BEGIN PRIVATE KEY-----\n${own}\n-----END PRIVATE KEY-----\n`)),
  (own) => withFile(text('/opt/openshift/auth/kubeconfig', `users:\n- user:\n    token: ${own}\n`)),
  (own) => withFile(text('/opt/a.yaml', `kind: Secret\ndata:\n  a: ${base64(own)}\n`)),
  (own) => withFile(text('/etc/env', `KEPT=1\nAPI_TOKEN=${own}\n`)),
  (own) => withFile({ path: '/a', contents: { source: `https://me:${own}@host/a` } }),
  (own) => ({ passwd: { users: [{ name: 'core', passwordHash: `$6$salt$${own}` }] } }),
  (own) => ({ systemd: { units: [{ name: 'a.service', contents: `[Service]\nEnvironment="TOKEN=${own}"\n` }] } }),
  (own) => ({ ignition: { proxy: { httpProxy: `http://me:${own}@proxy` } } }),
  (own) => ({ storage: { luks: [{ name: 'a', device: '/dev/a', keyFile: { source: `data:,${own}` } }] } }),
  () => ({}),
]

test('no secret is in what differs, whatever differs', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(secret, secret),
      fc.tuple(fc.constantFrom(...places), fc.constantFrom(...places), fc.boolean()),
      async ([one, other], [place, another, isSamePlace]) => {
        const differences = await diff(place(one), (isSamePlace ? place : another)(other))
        if (isSamePlace && place !== places.at(-1)) assert.equal(differences.length, 1)
        for (const { text: layer } of layersOf(differences))
          for (const own of [one, other])
            assert.equal(layer.includes(own) || layer.includes(base64(own).slice(0, 24)), false)
      },
    ),
    { numRuns: 300 },
  )
})
