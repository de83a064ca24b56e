import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { parse as parseYaml } from 'yaml'
import type { IgnitionDocument } from '../../../testkit/ignition-document.ts'
import { peer } from '../../../testkit/peers.ts'
import { makeBootstrap } from '../../../testkit/sample-bootstrap.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { encodeDataUrl } from '../../ignition/data-url.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { readBootstrap } from '../../openshift/bootstrap/bootstrap-config.ts'
import { scriptImages } from '../../openshift/bootstrap/script-images.ts'
import { parseRegistriesConf } from '../../registries/parse.ts'
import { bootkubeScript, bootstrapComponents } from './bootkube-script.ts'
import { bootstrapEras } from './bootstrap-options.ts'

const platforms = ['none', 'aws', 'vsphere', 'baremetal'] as const

test('ignition-validate has nothing to say about a sample of any era and platform', async (t) => {
  const validate = peer(t, 'ignition-validate')
  if (validate === undefined) return
  const path = join(await tempDir(t), 'bootstrap.ign')
  for (const era of bootstrapEras) {
    for (const platform of platforms) {
      await writeFile(path, (await makeBootstrap({ era, platform })).toString())
      assert.deepEqual({ era, platform, ...said(validate, [path]) }, { era, platform, status: 0, output: '' })
    }
  }
})

test('bash understands every script of every era and platform', async () => {
  for (const era of bootstrapEras) {
    for (const platform of platforms) {
      const document = await makeBootstrap({ era, platform })
      for (const [path, text] of scriptsOf(document)) {
        assert.deepEqual({ path, ...said('bash', ['-n'], text) }, { path, status: 0, output: '' })
      }
    }
  }
})

function said(program: string, args: readonly string[], input = ''): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

function scriptsOf(document: IgnitionDocument): readonly (readonly [string, string])[] {
  return document.files
    .map(({ path }) => [path, document.read(path)] as const)
    .filter(([, text]) => text.startsWith('#!'))
}

test('the same options give the same text', async () => {
  const one = await makeBootstrap({ platform: 'vsphere' })
  const other = await makeBootstrap({ platform: 'vsphere' })
  assert.equal(one.toString(), other.toString())
})

test('files have the modes of the installer, and the hint for people is appended', async () => {
  const document = await makeBootstrap({ platform: 'aws' })
  const modes = Object.fromEntries(document.files.map(({ path, mode }) => [path, mode?.toString(8)]))
  assert.deepEqual(
    Object.fromEntries(Object.entries(modes).filter(([path]) => !path.startsWith('/opt/openshift/tls/'))),
    {
      '/etc/NetworkManager/dispatcher.d/30-local-dns-prepender': '555',
      '/etc/containers/registries.conf': '644',
      '/etc/ignition-machine-config-encapsulated.json': '600',
      '/etc/motd': '644',
      '/etc/pki/ca-trust/source/anchors/ca.crt': '600',
      '/etc/profile.d/proxy.sh': '600',
      '/etc/systemd/system-generators/node-image-overlay-generator': '555',
      '/etc/systemd/system.conf.d/10-default-env.conf': '600',
      ...Object.fromEntries(nodeImageUnitNames.map((name) => [`/etc/systemd/system/${name}`, '600'])),
      ...Object.fromEntries(scriptNames.map((name) => [`/usr/local/bin/${name}.sh`, '555'])),
      '/root/.docker/config.json': '600',
      ...Object.fromEntries(manifestNames.map((name) => [`/opt/openshift/${name}`, '644'])),
      '/opt/openshift/original_cvo_overrides.patch': '644',
      '/opt/openshift/auth/kubeconfig': '600',
      '/opt/openshift/auth/kubeconfig-kubelet': '600',
      '/opt/openshift/auth/kubeconfig-loopback': '600',
    },
  )
  assert.equal(modes['/opt/openshift/tls/root-ca.crt'], '644')
  assert.equal(modes['/opt/openshift/tls/service-account.key'], '600')
  assert.equal(modes['/opt/openshift/tls/root-ca.key'], undefined)
  const { append, contents, overwrite } = document.file('/etc/motd')
  assert.deepEqual([append?.length, contents, overwrite], [1, undefined, false])
})

const nodeImageUnitNames = [
  'node-image-finish.service',
  'node-image-overlay.service',
  'node-image-overlay.target',
  'node-image-pull.service',
  'var-ostreecontainer.mount',
]
const scriptNames = `approve-csr bootkube bootstrap-cluster-gather bootstrap-service-record
  bootstrap-verify-api-server-urls crio-configure installer-gather installer-masters-gather kubelet kubelet-pause-image
  node-image-overlay node-image-pull release-image release-image-download report-progress wait-for-ha-api`.split(/\s+/)
const manifestNames = [
  ...`cluster-config.yaml cluster-dns-02-config.yml cluster-infrastructure-02-config.yml
    cluster-ingress-02-config.yml cluster-network-02-config.yml cluster-proxy-01-config.yaml
    cluster-scheduler-02-config.yml cvo-overrides.yaml image-digest-mirror-set.yaml kube-cloud-config.yaml
    kube-system-configmap-root-ca.yaml machine-config-server-ca-configmap.yaml machine-config-server-tls-secret.yaml
    openshift-config-secret-pull-secret.yaml`
    .split(/\s+/)
    .map((name) => `manifests/${name}`),
  'openshift/99_kubeadmin-password-secret.yaml',
  'openshift/99_openshift-machineconfig_99-master-ssh.yaml',
  'openshift/99_openshift-machineconfig_99-worker-ssh.yaml',
]

test('before 4.19 nothing fetches the image of the node, and before 4.21 it has no scratch mount', async () => {
  const paths = async (era: (typeof bootstrapEras)[number]) =>
    (await makeBootstrap({ era })).files.map(({ path }) => path).filter((path) => /node-image|ostree/.test(path))
  assert.deepEqual(await paths('4.16'), [])
  assert.equal((await paths('4.19')).length, 7)
  assert.equal((await paths('4.21')).length, 8)
})

test('registries.conf has the bytes that the template of the installer gives', async () => {
  const digestSources = [
    { source: 'quay.io/a', mirrors: ['m.test/one'], sourcePolicy: 'NeverContactSource' as const },
    { source: 'quay.io/b', mirrors: ['m.test/b'] },
    { source: 'quay.io/a', mirrors: ['m.test/two', 'm.test/one'], sourcePolicy: 'NeverContactSource' as const },
    { source: 'quay.io/none', mirrors: [] },
  ]
  const text = async (era: '4.19' | '4.21') =>
    (await makeBootstrap({ era, digestSources })).read('/etc/containers/registries.conf')
  const expected = `[[registry]]
location = "quay.io/a"
insecure = false
mirror-by-digest-only = true
blocked = true

[[registry.mirror]]
location = "m.test/one"
insecure = false
[[registry.mirror]]
location = "m.test/two"
insecure = false


[[registry]]
location = "quay.io/b"
insecure = false
mirror-by-digest-only = true
blocked = false

[[registry.mirror]]
location = "m.test/b"
insecure = false


`
  assert.equal(await text('4.21'), expected)
  assert.equal(await text('4.19'), expected.replaceAll(/blocked = .*\n/g, ''))
  assert.equal(parseRegistriesConf(expected, 'registries.conf').registries.length, 2)
  const none = await makeBootstrap({ digestSources: [] })
  assert.equal(none.read('/etc/containers/registries.conf'), '')
})

test('the scripts ask for the images of their era, and for them alone', async () => {
  for (const era of bootstrapEras) {
    const { config } = readIgnitionConfig((await makeBootstrap({ era })).toString(), 'bootstrap.ign')
    const { images, literals, unresolved } = scriptImages(readBootstrap(config, { fileName: 'bootstrap.ign' }))
    assert.deepEqual(images.map(({ name }) => name).sort(), [...bootstrapComponents(era)].sort())
    assert.deepEqual({ literals, unresolved }, { literals: [], unresolved: [] })
    assert.deepEqual(
      images.filter(({ isOptional }) => isOptional),
      [],
    )
  }
  assert.deepEqual(
    bootstrapEras.map((era) => bootstrapComponents(era).length),
    [15, 15, 17, 17],
  )
})

test('containers log to files since 4.21', () => {
  const script = (era: '4.19' | '4.21') =>
    bootkubeScript({ era, releaseImage: '', pullSecret: '', tls: {} }).includes('--log-driver=k8s-file')
  assert.deepEqual([script('4.19'), script('4.21')], [false, true])
})

test('the mirror set of the nodes names the sources of the bootstrap host, one entry for each that was given', async () => {
  const digestSources = [
    { source: 'quay.io/a', mirrors: ['m.test/a'], sourcePolicy: 'NeverContactSource' as const },
    { source: 'quay.io/a', mirrors: ['m.test/b'], sourcePolicy: 'NeverContactSource' as const },
  ]
  const document = await makeBootstrap({ digestSources })
  assert.match(
    document.read('/opt/openshift/manifests/image-digest-mirror-set.yaml'),
    /imageDigestMirrors:\n( {2}- mirrors:\n {4}- m\.test\/[ab]\n {4}mirrorSourcePolicy: NeverContactSource\n {4}source: quay\.io\/a\n){2}status/,
  )
})

test('the version operator leaves alone every object that the installer brings, until the patch takes that back', async () => {
  const manifests = {
    'openshift/99-chrony.yaml':
      'apiVersion: machineconfiguration.openshift.io/v1\nkind: MachineConfig\nmetadata:\n  name: 99-chrony\n',
  }
  const document = await makeBootstrap({ manifests })
  const objects = document.files.filter(({ path }) => /^\/opt\/openshift\/(?:manifests|openshift)\//.test(path))
  const overrides = document.read('/opt/openshift/manifests/cvo-overrides.yaml')
  assert.equal(overrides.match(/unmanaged: true/g)?.length, objects.length - 1)
  assert.match(overrides, /group: machineconfiguration\.openshift\.io\n {4}kind: MachineConfig\n {4}name: 99-chrony\n/)
  assert.match(overrides, /group: ""\n {4}kind: Secret\n {4}name: pull-secret\n {4}namespace: openshift-config\n/)
  assert.equal(document.read('/opt/openshift/original_cvo_overrides.patch'), '{"spec":{"overrides":null}}')
})

test('every manifest is YAML, and an object of Kubernetes', async () => {
  const proxy = { httpProxy: 'http://proxy.lab.test:3128' }
  const trustBundle = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
  const document = await makeBootstrap({ proxy, trustBundle, sshKeys: ['ssh-ed25519 AAAA one', 'ssh-rsa BBBB two'] })
  const kinds = document.files
    .filter(({ path }) => /^\/opt\/openshift\/(?:manifests|openshift)\//.test(path))
    .map(({ path }) => parseYaml(document.read(path)) as { kind?: string; metadata?: { name?: string } })
  assert.deepEqual(
    kinds.filter(({ kind, metadata }) => kind === undefined || metadata?.name === undefined),
    [],
  )
  const config = parseYaml(document.read('/opt/openshift/manifests/cluster-config.yaml')) as {
    data: Record<string, string>
  }
  const installConfig = parseYaml(config.data['install-config'] ?? '') as Record<string, unknown>
  assert.equal(installConfig['additionalTrustBundle'], trustBundle)
  assert.deepEqual(installConfig['proxy'], proxy)
  assert.equal(installConfig['pullSecret'], '')
})

test('a proxy is told to shells and to systemd, with what must not go through it', async () => {
  const proxy = { httpProxy: 'http://user:a%20b@proxy.lab.test:3128', noProxy: '.lab.test' }
  const document = await makeBootstrap({ proxy })
  const noProxy = [
    '.cluster.local,.lab.test,.svc,10.0.0.0/16,10.128.0.0/14,127.0.0.1,172.30.0.0/16',
    'api-int.demo.lab.test,localhost',
  ].join(',')
  assert.equal(
    document.read('/etc/profile.d/proxy.sh'),
    `export HTTP_PROXY="${proxy.httpProxy}"\nexport NO_PROXY="${noProxy}"\n`,
  )
  assert.equal(
    document.read('/etc/systemd/system.conf.d/10-default-env.conf'),
    `[Manager]\nDefaultEnvironment=HTTP_PROXY="http://user:a%%20b@proxy.lab.test:3128"\nDefaultEnvironment=NO_PROXY="${noProxy}"\n`,
  )
  assert.equal((await makeBootstrap()).read('/etc/profile.d/proxy.sh'), '')
})

test('what the options bring stands in the place of what has the same path or name', async () => {
  const unit = { name: 'bootkube.service', contents: '[Service]\nExecStart=/bin/true\n' }
  const files = [{ path: '/etc/motd', mode: 0o600, overwrite: true, contents: { source: encodeDataUrl('mine') } }]
  const document = await makeBootstrap({ files, units: [unit, { name: 'own.service', contents: '' }] })
  assert.equal(document.read('/etc/motd'), 'mine')
  assert.equal(document.unit('bootkube.service').contents, unit.contents)
  assert.equal(document.unit('own.service').contents, '')
  assert.equal(new Set(document.files.map(({ path }) => path)).size, document.files.length)
})
