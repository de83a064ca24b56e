import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ignitionConfig } from '../../../testkit/ignition-config.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { formatReference } from '../../oci/reference.ts'
import { type BootstrapConfig, readBootstrap } from './bootstrap-config.ts'
import { isSecretFile } from './bootstrap-file.ts'
import { manifestDocument } from './manifests.ts'

function bootstrapOf(files: Readonly<Record<string, string>>): BootstrapConfig {
  return readBootstrap(ignitionConfig(files), { fileName: 'bootstrap.ign' })
}

const release = `quay.io/openshift-release-dev/ocp-release@sha256:${'5'.repeat(64)}`

test('the release image is what the scripts name, with every line that does', () => {
  const { releaseImage, otherReleaseImages } = bootstrapOf({
    '/usr/local/bin/release-image.sh': `#!/bin/bash\nif ! X=$( podman inspect ${release}  --format json ); then\n\tRELEASE_IMAGE_DIGEST="${release}"\nfi\n`,
    '/usr/local/bin/release-image-download.sh': `#!/bin/bash\n\nRELEASE_IMAGE=${release}\npodman pull "$RELEASE_IMAGE"\n`,
  })
  assert.equal(releaseImage?.reference && formatReference(releaseImage.reference), release)
  assert.deepEqual(
    releaseImage?.evidence.map(({ file, line }) => `${file}:${line}`),
    [
      '/usr/local/bin/release-image-download.sh:3',
      '/usr/local/bin/release-image.sh:2',
      '/usr/local/bin/release-image.sh:3',
    ],
  )
  assert.deepEqual(otherReleaseImages, [])
})

test('where somebody edited one script only, the reference that is pulled comes first and the other is told', () => {
  const { releaseImage, otherReleaseImages } = bootstrapOf({
    '/usr/local/bin/release-image.sh': `#!/bin/bash\nX=$(podman inspect ${release} --format json)\n`,
    '/usr/local/bin/release-image-download.sh': '#!/bin/bash\nRELEASE_IMAGE="localhost:5000/Release:4.18"\n',
  })
  assert.equal(releaseImage?.text, 'localhost:5000/Release:4.18')
  assert.equal(releaseImage?.reference, undefined, 'upper case is no repository')
  assert.deepEqual(
    otherReleaseImages.map(({ text }) => text),
    [release],
  )
})

test('registries.conf is read with its drop-ins, and what does not parse is a value', () => {
  const { registries } = bootstrapOf({
    '/etc/containers/registries.conf': '[[registry]]\nlocation = "quay.io"\n',
    '/etc/containers/registries.conf.d/20.conf': '[[registry]]\nlocation = "https://quay.io"\n',
    '/etc/containers/registries.conf.d/10.conf': '[[registry]]\nlocation = "quay.io"\nblocked = true\n',
    '/etc/containers/registries.conf.d/README': 'no',
  })
  assert.deepEqual(registries.files, [
    '/etc/containers/registries.conf',
    '/etc/containers/registries.conf.d/10.conf',
    '/etc/containers/registries.conf.d/20.conf',
  ])
  assert.equal(registries.conf.registries[0]?.blocked, true)
  assert.deepEqual(
    registries.errors.map(({ code, details }) => [code, details['file']]),
    [['REGISTRIES_CONF_INVALID', '/etc/containers/registries.conf.d/20.conf']],
  )
})

test('trust, credentials and proxies are told apart from their secrets', () => {
  const pem = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n'
  const { trustAnchors, credentials, proxy } = bootstrapOf({
    '/etc/pki/ca-trust/source/anchors/ca.crt': pem,
    '/etc/pki/ca-trust/source/anchors/empty.crt': '',
    '/etc/containers/certs.d/mirror.lab:8443/ca.crt': pem,
    '/root/.docker/config.json': '{"auths":{"mirror.lab:8443":{"auth":"dXNlcjpwYXNz"}}}',
    '/etc/systemd/system.conf.d/10-default-env.conf':
      '[Manager]\nDefaultEnvironment=HTTP_PROXY="http://u:p%%40ss@proxy.lab:3128"\nDefaultEnvironment=NO_PROXY=".svc,10.0.0.0/16"\n',
  })
  assert.deepEqual(
    trustAnchors.map(({ path, registry }) => [path, registry]),
    [
      ['/etc/pki/ca-trust/source/anchors/ca.crt', undefined],
      ['/etc/containers/certs.d/mirror.lab:8443/ca.crt', 'mirror.lab:8443'],
    ],
  )
  assert.deepEqual(credentials?.hosts, ['mirror.lab:8443'])
  assert.equal(proxy?.httpProxy, 'http://proxy.lab:3128')
  assert.equal(proxy?.secretHttpProxy, 'http://u:p%40ss@proxy.lab:3128')
  assert.deepEqual(proxy?.noProxy, ['.svc', '10.0.0.0/16'])
  assert.equal(bootstrapOf({ '/root/.docker/config.json': 'x' }).credentials?.flaw, 'it is not JSON')
})

test('manifests are found in every way that people write them', () => {
  const { manifests } = bootstrapOf({
    '/opt/openshift/manifests/a.yaml':
      '---\n# one\napiVersion: v1\nkind: ConfigMap # it is\nmetadata:\n  labels:\n    name: not-this\n  name: "one"\ndata:\n  kind: No\n---\nkind: ConfigMap\nmetadata: {name: two, namespace: ns}\n',
    '/opt/openshift/openshift/b.json': '{"kind":"List","items":[{"kind":"Secret","metadata":{"name":"three"}}]}',
    '/opt/openshift/openshift/c.yml': 'kind: List\nitems:\n- kind: Role\n  metadata:\n    name: four\n',
    '/opt/openshift/manifests/readme.txt': 'kind: No\n',
    '/opt/openshift/manifests/broken.yaml': 'kind: Broken\nmetadata:\n  name: five\n  a: [\n',
  })
  assert.deepEqual(
    manifests.map(({ kind, name, namespace, line }) => `${kind}/${name} ${namespace ?? '-'} ${line}`),
    ['ConfigMap/one - 2', 'ConfigMap/two ns 12', 'Secret/three - 1', 'Role/four - 1', 'Broken/five - 1'],
  )
  assert.deepEqual(
    manifests.map((manifest) => manifestDocument(manifest) !== undefined),
    [true, true, true, true, false],
  )
})

test('names of the cluster come from the scripts first, and from its manifests else', () => {
  const { cluster } = bootstrapOf({
    '/usr/local/bin/bootkube.sh': '#!/bin/bash\nAPI_SERVER_URL="api.air1.lab"\nAPI_INT_SERVER_URL="api-int.air1.lab"\n',
    '/opt/openshift/manifests/cluster-config.yaml':
      'kind: ConfigMap\nmetadata:\n  name: cluster-config-v1\ndata:\n  install-config: |\n    metadata: {name: air1}\n    fips: true\n    controlPlane: {architecture: arm64}\n    platform: {vsphere: {}}\n',
    '/opt/openshift/manifests/cvo-overrides.yaml':
      'kind: ClusterVersion\nmetadata:\n  name: version\nspec:\n  channel: stable-4.18\n',
  })
  assert.deepEqual(cluster.names, {
    domain: 'air1.lab',
    cluster: 'air1',
    api: 'api.air1.lab',
    apiInt: 'api-int.air1.lab',
    machineConfigServer: 'api-int.air1.lab:22623',
  })
  assert.deepEqual(
    [cluster.minor, cluster.architecture, cluster.platform, cluster.isFips],
    ['4.18', 'arm64', 'vsphere', true],
  )
})

test('hosts entries, units that come as files, and broken files are told', () => {
  const config = ignitionConfig(
    {
      '/etc/hosts': '127.0.0.1 localhost\n# 10.0.0.1 no\n10.0.0.2\tmirror.lab mirror # the mirror\n',
      '/etc/systemd/system/a.service': '[Service]\n',
      '/etc/systemd/system/b.service.d/x.conf': '[Unit]\n',
    },
    [{ name: 'b.service', enabled: true, contents: '[Unit]\n' }],
  )
  const broken = { path: '/x', contents: { source: 'data:;base64,%%%' } }
  const bootstrap = readBootstrap(
    { ...config, storage: { files: [...(config.storage?.files ?? []), broken] } },
    { fileName: 'bootstrap.ign' },
  )
  assert.deepEqual(
    bootstrap.hosts.map(({ address, names, at }) => `${at.line} ${address} ${names.join(' ')}`),
    ['1 127.0.0.1 localhost', '3 10.0.0.2 mirror.lab mirror'],
  )
  assert.deepEqual(
    bootstrap.units.map(({ name, isFile, isEnabled, dropIns }) => [name, isFile, isEnabled, dropIns.length]),
    [
      ['b.service', false, true, 1],
      ['a.service', true, undefined, 0],
    ],
  )
  assert.match(bootstrap.files.get('/x')?.flaw ?? '', /broken data URL/)
})

test('files with secrets are known, wherever they are and however they are written', () => {
  const secrets = {
    '/opt/openshift/tls/x.key': '',
    '/root/.docker/config.json': '{}',
    '/opt/openshift/auth/kubeconfig': '',
    '/etc/x.pem': '-----BEGIN RSA PRIVATE KEY-----',
    '/opt/openshift/openshift/a.yaml': 'apiVersion: v1\nkind: Secret\n',
    '/opt/openshift/openshift/b.yaml': 'kind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n',
    '/opt/openshift/openshift/c.json': '{"kind": "Secret"}',
    '/etc/profile.d/proxy.sh': 'export HTTP_PROXY="http://me:s3cret@proxy.lab:3128"',
    '/etc/x.env': 'IRONIC_PASSWORD=abc',
    '/opt/openshift/manifests/cluster-config.yaml': 'kind: ConfigMap\ndata:\n  x: |\n    password: abc\n',
  }
  const open = {
    '/etc/profile.d/proxy.sh': 'export HTTP_PROXY="http://proxy.lab:3128"',
    '/opt/openshift/manifests/cvo-overrides.yaml': 'kind: ClusterVersion\nspec:\n  overrides:\n  - kind: Secret\n',
    '/opt/openshift/manifests/cluster-config.yaml': 'kind: ConfigMap\ndata:\n  x: |\n    password: ""\n',
    '/usr/local/bin/x.sh': '#!/bin/bash\n# password: none\n',
  }
  const judged = (files: Readonly<Record<string, string>>) => [...bootstrapOf(files).files.values()].map(isSecretFile)
  assert.deepEqual(new Set(judged(secrets)), new Set([true]), JSON.stringify(judged(secrets)))
  assert.deepEqual(new Set(judged(open)), new Set([false]), JSON.stringify(judged(open)))
})

const real = '../shared/data/installer/ign'
const expected: Readonly<Record<string, readonly unknown[]>> = {
  'hupiper-ocp43-spec2.2-bootstrap.ign': ['ocp', '4.3', 'none', 'ocp43', 0, 30],
  'jds2001-ocp42-disconnected-spec2.2-bootstrap.ign': ['ocp', '4.2', 'none', 'openshift4poc', 2, 33],
  'mebasoglu-okd45-bootstrap.ign': ['okd', undefined, 'none', 'lab', 0, 34],
  'rhtelco-ocp46-spec3-bootstrap.ign': ['ocp', '4.9', 'openstack', 'ocpinternallb', 0, 26],
}

test('real bootstrap configs say what they are', (t) => {
  if (!existsSync(real)) return t.skip(`${real} is not here`)
  const found = readdirSync(real)
    .filter((name) => name.endsWith('bootstrap.ign'))
    .map((name) => {
      const { config } = readIgnitionConfig(readFileSync(`${real}/${name}`, 'utf8'), name)
      const { distribution, cluster, registries, manifests, ...rest } = readBootstrap(config, { fileName: name })
      assert.equal(rest.releaseImage?.evidence.length, 3, name)
      assert.deepEqual([rest.otherReleaseImages, registries.errors], [[], []], name)
      const mirrored = registries.conf.registries.length
      return [name, [distribution, cluster.minor, cluster.platform, cluster.names.cluster, mirrored, manifests.length]]
    })
  assert.deepEqual(Object.fromEntries(found), expected)
})
