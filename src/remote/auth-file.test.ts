import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tempDir } from '../../testkit/temp-dir.ts'
import { authFilePlaces, credentialsFromFiles } from './auth-file.ts'

const pair = (text: string) => Buffer.from(text).toString('base64')

async function provider(t: Parameters<typeof tempDir>[0], document: object, env: Record<string, string> = {}) {
  const directory = await tempDir(t)
  const authFile = join(directory, 'auth.json')
  await writeFile(authFile, JSON.stringify(document))
  return { directory, credentials: credentialsFromFiles({ env: { PATH: directory, ...env }, authFile }) }
}

test('the entry with the longest path of a repository wins', async (t) => {
  const { credentials } = await provider(t, {
    auths: {
      'quay.io': { auth: pair('host:1') },
      'quay.io/ns': { auth: pair('space:2') },
      'quay.io/ns/app': { auth: pair('repo:3') },
    },
  })
  const nameFor = async (repository?: string) => {
    const found = await credentials.find('quay.io', repository)
    return found?.username
  }
  assert.equal(await nameFor('ns/app'), 'repo')
  assert.equal(await nameFor('ns/app/deep'), 'repo')
  assert.equal(await nameFor('ns/application'), 'space')
  assert.equal(await nameFor('nsx/app'), 'host')
  assert.equal(await nameFor(), 'host')
  assert.equal(await credentials.find('quay.io:443'), undefined)
})

test('keys as docker once wrote them are understood', async (t) => {
  const { credentials } = await provider(t, {
    auths: {
      'https://index.docker.io/v1/': { auth: pair('hub:pw') },
      'http://old.example:5000': { auth: pair('old:p:w\u0000\u0000') },
    },
  })
  assert.deepEqual(await credentials.find('docker.io', 'library/x'), {
    kind: 'password',
    username: 'hub',
    password: 'pw',
    key: 'https://index.docker.io/v1/',
  })
  const old = await credentials.find('old.example:5000')
  assert.equal(old?.kind === 'password' && old.password, 'p:w')
})

test('identity tokens are told from passwords', async (t) => {
  const { credentials } = await provider(t, { auths: { 'r.example': { identitytoken: 'opaque', auth: pair('u:') } } })
  assert.deepEqual(await credentials.find('r.example'), {
    kind: 'identity-token',
    username: 'u',
    token: 'opaque',
    key: 'r.example',
  })
})

test('a credential program is asked over its standard input, once', async (t) => {
  const { directory, credentials } = await provider(t, {
    credHelpers: { 'r.example': 'kit' },
    credsStore: 'kit',
    auths: { 'r.example': { auth: pair('file:pw') } },
  })
  const program = join(directory, 'docker-credential-kit')
  const script = `#!${process.execPath}
const { appendFileSync, readFileSync } = require('node:fs')
const server = readFileSync(0, 'utf8')
appendFileSync(${JSON.stringify(join(directory, 'asked'))}, process.argv.slice(2).join(' ') + ' ' + server + '\\n')
if (server === 'unknown.example') { console.log('credentials not found in native keychain'); process.exit(1) }
console.log(JSON.stringify({ ServerURL: server, Username: 'program', Secret: 'from ' + server }))
`
  await writeFile(program, script)
  await chmod(program, 0o755)
  const first = await credentials.find('r.example', 'a/b')
  await credentials.find('r.example', 'c/d')
  assert.deepEqual(first?.kind === 'password' && [first.username, first.password], ['program', 'from r.example'])
  assert.equal(await credentials.find('unknown.example'), undefined)
  const other = await credentials.find('other.example')
  assert.equal(other?.kind === 'password' && other.password, 'from other.example')
})

test('a program that fails is an error that does not quote what it printed', async (t) => {
  const { credentials } = await provider(t, { credHelpers: { 'r.example': 'absent' } })
  await assert.rejects(credentials.find('r.example'), { code: 'PROGRAM_FAILED' })
})

test('a file that is no auth file is named, and not quoted', async (t) => {
  const directory = await tempDir(t)
  const authFile = join(directory, 'auth.json')
  await writeFile(authFile, '{"auths": {"r.example": {"auth": "c2VjcmV0')
  await assert.rejects(credentialsFromFiles({ env: {}, authFile }).find('r.example'), (error: Error) => {
    assert.ok(error.message.includes(authFile))
    assert.ok(!error.message.includes('c2VjcmV0'))
    return true
  })
  await assert.rejects(credentialsFromFiles({ env: {}, authFile: join(directory, 'none') }).find('r.example'), {
    code: 'FILE_UNREADABLE',
  })
})

test('files are asked in the order of containers/image, and one that is missing is passed over', async (t) => {
  const home = await tempDir(t)
  await mkdir(join(home, '.docker'))
  await writeFile(
    join(home, '.docker', 'config.json'),
    JSON.stringify({ auths: { 'r.example': { auth: pair('docker:1') } } }),
  )
  const env = { HOME: home, XDG_RUNTIME_DIR: join(home, 'run') }
  assert.deepEqual(
    authFilePlaces({ env }).map(({ path }) => path.slice(home.length)),
    ['/run/containers/auth.json', '/.config/containers/auth.json', '/.docker/config.json'],
  )
  assert.deepEqual(authFilePlaces({ env: { ...env, REGISTRY_AUTH_FILE: '/x' } }), [{ path: '/x', isRequired: true }])
  assert.equal((await credentialsFromFiles({ env }).find('r.example'))?.username, 'docker')
})
