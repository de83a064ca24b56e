import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { digestOf } from '../../src/oci/digest.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { serveProcess } from '../../testkit/serve-process.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { wire } from '../../testkit/wire.ts'

test('serve makes a CA and a first user when asked, and never prints the password', async (t) => {
  const root = join(await tempDir(t), 'store')
  const registry = await serveProcess(t, root, { args: ['--self-signed', '--init-user', 'admin'] })
  assert.match(registry.url, /^https:\/\/127\.0\.0\.1:/)
  assert.match(await readFile(registry.caFile ?? '', 'utf8'), /BEGIN CERTIFICATE/)
  const password = (await readFile(registry.account?.passwordFile ?? '', 'utf8')).trim()
  assert.ok(password.length >= 20 && !JSON.stringify(registry).includes(password))
  assert.equal(await registry.stop('SIGTERM'), 0)
})

test('gc frees what no manifest names beside a running registry, and stat says what is there', async (t) => {
  const root = join(await tempDir(t), 'store')
  const { url } = await serveProcess(t, root)
  const bytes = randomBytes(5000)
  await wire(`${url}/v2/a/blobs/uploads/?digest=${digestOf(bytes)}`, { method: 'POST', body: bytes })
  const call = async (...args: string[]) => {
    const { status, stdout, stderr } = await runCli(['--json', 'registry', ...args, '--root', root])
    assert.equal(status, 0, stderr)
    return JSON.parse(stdout)
  }
  assert.equal((await call('stat')).unreferencedBytes, 5000)
  assert.equal((await call('gc')).bytesFreed, 0)
  assert.equal((await call('gc', '--grace', '0s', '--dry-run')).bytesFreed, 5000)
  assert.equal((await call('gc', '--grace', '0s')).bytesFreed, 5000)
  assert.equal((await call('stat')).uniqueBytes, 0)
  assert.equal((await wire(`${url}/v2/a/blobs/${digestOf(bytes)}`)).status, 404)
})

test('wrong use is told apart from what went wrong', async (t) => {
  const root = await tempDir(t)
  const wrong = [
    ['serve'],
    ['serve', '--root', root, '--listen', 'nonsense'],
    ['serve', '--root', root, '--listen', '0.0.0.0:0'],
    ['serve', '--root', root, '--tls-cert', 'x'],
    ['serve', '--root', root, '--self-signed', '--tls-cert', 'x', '--tls-key', 'y'],
    ['gc', '--root', root, '--grace', 'soon'],
  ]
  for (const args of wrong) {
    const { status, stderr } = await runCli(['registry', ...args])
    assert.equal(status, 64, `${args.join(' ')}: ${stderr}`)
  }
  const { status, stderr } = await runCli(['registry', 'stat', '--root', join(root, 'mistyped')])
  assert.equal(status, 1)
  assert.match(stderr, /There is no store at/)
})
