import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ignitionConfig } from '../../../testkit/ignition-config.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { readBootstrap } from './bootstrap-config.ts'
import { explainFile } from './explain-files.ts'
import { explainUnit } from './explain-units.ts'

const real = '../shared/data/installer/ign'
const configs = existsSync(real) ? readdirSync(real).filter((name) => name.endsWith('bootstrap.ign')) : []

test('every file and unit of every real bootstrap config has its explanation', (t) => {
  if (configs.length === 0) return t.skip(`${real} is not here`)
  for (const name of configs) {
    const { config } = readIgnitionConfig(readFileSync(`${real}/${name}`, 'utf8'), name)
    const { files, units, manifests } = readBootstrap(config, { fileName: name })
    const unknown = [...files.keys()].filter((path) => explainFile(path, manifests).isAdded)
    // What somebody asked for in the install-config or added: told by kind and name.
    assert.deepEqual(unknown, [], name)
    assert.deepEqual(
      units.filter((unit) => explainUnit(unit.name, undefined).isAdded).map((unit) => unit.name),
      [],
      name,
    )
  }
})

/** By hand from the installer of 4.22: what a config of bare metal, of one node, or of a cloud has beside the common files. */
const ofPlatforms = [
  '/etc/containers/systemd/ironic.container',
  '/etc/containers/systemd/ironic.volume',
  '/etc/containers/systemd/ironic-httpd.container',
  '/etc/containers/systemd/metal3-baremetal-operator.container',
  '/etc/NetworkManager/dispatcher.d/30-local-dns-prepender',
  '/etc/NetworkManager/conf.d/99-vsphere.conf',
  '/etc/NetworkManager/system-connections/nmconnection',
  '/etc/ironic.env',
  '/opt/metal3/auth/ironic/password',
  '/opt/openshift/bmc-ca/verify.crt',
  '/opt/openshift/bootstrap-in-place/master-update.fcc',
  '/opt/openshift/original_cvo_overrides.patch',
  '/opt/openshift/tls/ironic/tls.crt',
  '/opt/openshift/tls/internal-release-image.key',
  '/opt/openshift/tls/bound-service-account-signing-key.pub',
  '/opt/openshift/tls/cloud-ca-cert.pem',
  '/etc/systemd/system-generators/node-image-overlay-generator',
  '/etc/systemd/system/var-ostreecontainer.mount',
  '/usr/local/bin/node-image-pull.sh',
  '/usr/local/bin/build-ironic-env.sh',
  '/usr/local/bin/install-to-disk.sh',
]

test('files of every platform and era are known', () => {
  assert.deepEqual(
    ofPlatforms.filter((path) => explainFile(path, []).isAdded),
    [],
  )
})

test('keys, certificates and bundles of one name are told apart', () => {
  const text = (name: string) => explainFile(`/opt/openshift/tls/${name}`, []).text
  const owner = 'the authority behind the API at api and api-int'
  assert.equal(text('kube-apiserver-lb-signer.crt'), `certificate: ${owner}`)
  assert.equal(text('kube-apiserver-lb-signer.key'), `private key: ${owner}`)
  assert.equal(text('kube-apiserver-lb-ca-bundle.crt'), `whom to trust: ${owner}`)
})

test('what somebody added is told as such: manifests by kind and name, units by what they say of themselves', () => {
  const path = '/opt/openshift/openshift/99-chrony.yaml'
  const documents = ['a', 'b', 'c', 'd'].map((name) => `kind: MachineConfig\nmetadata:\n  name: ${name}\n`)
  const { manifests } = readBootstrap(ignitionConfig({ [path]: documents.join('---\n') }), { fileName: 'b.ign' })
  assert.deepEqual(explainFile(path, manifests), {
    group: 'manifests',
    text: 'added: MachineConfig a, MachineConfig b, MachineConfig c and 1 more',
    isAdded: true,
  })
  assert.deepEqual(
    ['/etc/containers/registries.conf.d/50-lab.conf', '/usr/local/bin/mine.sh', '/srv/x'].map((one) => {
      const { group, isAdded } = explainFile(one, [])
      return [group, isAdded]
    }),
    [
      ['configuration', true],
      ['scripts', true],
      ['other', true],
    ],
  )
  assert.deepEqual(explainUnit('mine.service', 'Does a thing'), { text: 'added: Does a thing', isAdded: true })
  assert.equal(explainUnit('constructor', undefined).isAdded, true)
})
