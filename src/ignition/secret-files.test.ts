import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secretKind } from './secret-files.ts'

const secret = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  a: Yg==\n'

test('files are known by their places', () => {
  const kinds = {
    '/root/.docker/config.json': 'pull secret',
    '/var/lib/kubelet/config.json': 'pull secret',
    '/opt/openshift/tls/kubelet-signer.key': 'private key',
    '/etc/ssh/ssh_host_ed25519_key': 'private key',
    '/opt/openshift/auth/kubeconfig-loopback': 'kubeconfig',
    '/etc/kubernetes/kubeconfig': 'kubeconfig',
    '/etc/shadow': 'password hashes',
    '/etc/krb5.keytab': 'key store',
    '/opt/metal3/auth/ironic/password': 'credentials',
    '/etc/containers/registries.conf': undefined,
    '/opt/openshift/tls/root-ca.crt': undefined,
    '/usr/local/bin/bootkube.sh': undefined,
    '/etc/ssh/ssh_host_ed25519_key.pub': undefined,
  }
  for (const [path, kind] of Object.entries(kinds)) assert.equal(secretKind(path, ''), kind, path)
})

test('files are known by what is in them', () => {
  const kindOf = (text: string) => secretKind('/opt/any', text)
  assert.equal(kindOf(secret), 'Secret manifest')
  assert.equal(kindOf('data:\n  a: Yg==\nkind: Secret\n'), 'Secret manifest')
  assert.equal(kindOf('kind: List\nitems:\n- kind: Secret\n  stringData: {a: b}\n'), 'Secret manifest')
  assert.equal(kindOf('{"stringData":{"a":"b"},"kind":"Secret"}'), 'Secret manifest')
  assert.equal(kindOf('-----BEGIN EC PRIVATE KEY-----\n'), 'private key')
  assert.equal(kindOf('{"auths": {"quay.io": {}}}'), 'pull secret')
  assert.equal(kindOf('apiVersion: v1\nkind: Config\nusers:\n- user:\n    token: abc\n'), 'kubeconfig')
  assert.equal(kindOf('core:$6$salt$hash\n'), 'password hashes')
})

test('what only names a Secret is none', () => {
  const overrides = 'kind: ClusterVersion\nspec:\n  overrides:\n  - group: ""\n    kind: Secret\n    name: kubeadmin\n'
  assert.equal(secretKind('/opt/openshift/manifests/cvo-overrides.yaml', overrides), undefined)
  assert.equal(secretKind('/opt/any', 'kind: ConfigMap\ndata:\n  a: "kind: Secret"\n'), undefined)
})
