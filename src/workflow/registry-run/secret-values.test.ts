import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secretValuesOf } from './secret-values.ts'

function values(name: string, text: string | Uint8Array, isOfCredentials = false): string[] {
  return [...new Set(secretValuesOf({ name, bytes: Buffer.from(text), isOfCredentials }))].sort()
}

test('of a file whose name tells, a single line is a secret as a whole', () => {
  for (const name of ['kubeadmin-password', 'bastion_token', 'new_pull_secret', 'tls_bound.key', 'MY_PASSWORD.txt']) {
    assert.deepEqual(values(name, 'Xk3-9fQz\n'), ['Xk3-9fQz'], name)
  }
})

test('of a file whose name tells nothing, nothing is', () => {
  assert.deepEqual(values('vpc_id', 'vpc-0123456789\n'), [])
  assert.deepEqual(values('subnet_ids', "['subnet-1','subnet-2']"), [])
  assert.deepEqual(values('mirror_registry_url', 'bastion.example.com:5000'), [])
  assert.deepEqual(values('bastion_public_address', 'ssh://core@10.0.0.1'), [])
  assert.deepEqual(values('token_enabled', 'true\n'), [])
})

test('a password in a URL is one anywhere, as it stands and decoded', () => {
  const text = 'export http_proxy=http://user:p%40ss-word@10.0.0.1:3128/\nexport no_proxy=.svc\n'
  assert.deepEqual(values('proxy-conf.sh', text), ['p%40ss-word', 'p@ss-word'])
  assert.deepEqual(values('repo', 'https://ghp_0123456789abcdefghij@github.com/a/b'), ['ghp_0123456789abcdefghij'])
})

test('of a pull secret the credentials are secrets, and neither hosts nor addresses', () => {
  const auth = Buffer.from('robot:t0pS3cret').toString('base64')
  const text = JSON.stringify({ auths: { 'quay.io': { auth, email: 'me@example.com' } } })
  assert.deepEqual(values('new_pull_secret', text), [auth, 't0pS3cret'].sort())
  assert.deepEqual(values('config.json', text, true), [auth, 't0pS3cret'].sort())
})

test('of a kubeconfig the key and the token are secrets, and not its words', () => {
  const text = [
    'apiVersion: v1',
    'kind: Config',
    'clusters: [{name: mycluster-xyz, cluster: {server: "https://api.mycluster-xyz.example.com:6443"}}]',
    'users:',
    '- name: admin',
    '  user:',
    '    client-certificate-data: TFMwdEx',
    '    client-key-data: S0VZREFUQQ==',
    '    token: "sha256~abcdefg"',
  ].join('\n')
  assert.deepEqual(values('kubeconfig', text), ['S0VZREFUQQ==', 'sha256~abcdefg'])
})

test('of a profile the values whose names are secret are, and a public key is not', () => {
  const ini = '[default]\naws_access_key_id = AKIA0001\naws_secret_access_key = wJalr/XUt=\nregion = us-east-2\n'
  assert.deepEqual(values('.awscred', ini, true), ['AKIA0001', 'wJalr/XUt='])
  const shell = `export govc_password='a b c'\nexport govc_url="vcenter.example.com"\n`
  assert.deepEqual(values('govc.sh', shell, true), ['a b c'])
  assert.deepEqual(values('ssh-publickey', 'ssh-ed25519 AAAA me@here', true), [])
})

test('a private key is a secret wherever it stands', () => {
  for (const kind of ['PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'PGP PRIVATE KEY BLOCK']) {
    const key = `-----BEGIN ${kind}-----\nabcdef\n-----END ${kind}-----`
    assert.deepEqual(values('notes', `before\n${key}\nafter\n${key}x`), [key], kind)
  }
})

test('nothing is read out of binaries and of what is very large', () => {
  assert.deepEqual(values('password', Buffer.from([112, 0, 113])), [])
  assert.deepEqual(values('password', 'x'.repeat(300 * 1024)), [])
})
