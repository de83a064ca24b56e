import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { areSidesApart, type SideOptions, sideAccess } from './side-access.ts'

const nowhere = { env: {} }

async function authFile(directory: string, name: string, entries: Record<string, string>): Promise<string> {
  const path = join(directory, name)
  const auths = Object.fromEntries(
    Object.entries(entries).map(([host, login]) => [host, { auth: Buffer.from(login).toString('base64') }]),
  )
  await writeFile(path, JSON.stringify({ auths }), { mode: 0o600 })
  return path
}

async function foundBy(side: 'src' | 'dest', options: SideOptions, host = 'quay.io') {
  return sideAccess(side, options, nowhere).credentials.find(host)
}

test('each side has its own file of credentials, and the common one where it has none', async (t) => {
  const directory = await tempDir(t)
  const both = await authFile(directory, 'both.json', { 'quay.io': 'both:a' })
  const closed = await authFile(directory, 'closed.json', { 'quay.io': 'closed:b' })
  const options = { authfile: both, destAuthfile: closed }
  assert.equal((await foundBy('src', options))?.username, 'both')
  assert.equal((await foundBy('dest', options))?.username, 'closed')
})

test('a name and a password, together or apart, count for every registry of their side alone', async (t) => {
  const authfile = await authFile(await tempDir(t), 'auth.json', { 'quay.io': 'file:x' })
  const password = 'se:cr@t'
  for (const options of [
    { authfile, srcCreds: `me:${password}` },
    { authfile, screds: `me:${password}` },
    { authfile, srcUsername: 'me', srcPassword: password },
  ]) {
    const found = await foundBy('src', options, 'any.example')
    assert.deepEqual(found && { ...found, key: '' }, { kind: 'password', username: 'me', password, key: '' })
    assert.equal((await foundBy('dest', options))?.username, 'file')
  }
  assert.deepEqual(await foundBy('dest', { dcreds: 'me' }), {
    kind: 'password',
    username: 'me',
    password: '',
    key: '--dest-creds',
  })
})

test('no credentials means none, whatever the files say', async (t) => {
  const authfile = await authFile(await tempDir(t), 'auth.json', { 'quay.io': 'file:x' })
  assert.equal(await foundBy('src', { authfile, srcNoCreds: true }), undefined)
  assert.equal((await foundBy('dest', { authfile, srcNoCreds: true }))?.username, 'file')
})

test('a token and a directory of certificates stay on their side', async () => {
  const options = { destRegistryToken: 'abc', destCertDir: '/certs' }
  assert.equal((await foundBy('dest', options))?.kind, 'registry-token')
  assert.equal(await foundBy('src', options), undefined)
  assert.equal(sideAccess('dest', options, nowhere).tls.certDir, '/certs')
  assert.equal(sideAccess('src', options, nowhere).tls.certDir, undefined)
})

test('flags that contradict each other, or lack their other half, are refused without a secret in the message', () => {
  const wrong: SideOptions[] = [
    { srcNoCreds: true, srcCreds: 'me:hush' },
    { srcNoCreds: true, srcUsername: 'me', srcPassword: 'hush' },
    { srcCreds: 'me:hush', srcUsername: 'me', srcPassword: 'hush' },
    { srcUsername: 'me' },
    { srcPassword: 'hush' },
    { srcCreds: ':hush' },
    { srcCreds: '' },
  ]
  for (const options of wrong) {
    assert.throws(
      () => sideAccess('src', options, nowhere),
      (error: Error) => Reflect.get(error, 'code') === 'USAGE' && !/hush/.test(error.message),
    )
  }
})

test('one client serves both sides as long as nothing is said of one alone', () => {
  assert.equal(areSidesApart({ authfile: 'a', ca: ['b'] }), false)
  for (const options of [{ srcCreds: 'me' }, { destCertDir: 'c' }, { destNoCreds: true }, { dcreds: 'me' }])
    assert.equal(areSidesApart(options), true)
})
