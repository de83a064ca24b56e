import assert from 'node:assert/strict'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadVerifyKey } from '../../src/archive/format/signature.ts'
import { readReceipt } from '../../src/archive/history/receipt-file.ts'
import { loadedSite } from '../../testkit/loaded-site.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const plain = '--dest-tls-verify=false'

test('sallyport archive receipt prints one line, which is nothing but the receipt', async (t) => {
  const { location, directory, carried } = await loadedSite(t)
  const { status, stdout, stderr } = await runCli(['archive', 'receipt', location, '--workspace', directory, plain])
  assert.equal(status, 0, stderr)
  assert.equal(stdout.split('\n').length, 2)
  assert.equal(JSON.parse(stdout).held.count, carried.length)
  assert.match(stderr, /each asked for there/)
})

test('a receipt that is signed with a new key, written to a file and drawn, is read with the public half', async (t) => {
  const { location, directory, registry } = await loadedSite(t)
  const cwd = await tempDir(t)
  const made = await runCli(['archive', 'keygen', 'site.pem'], { cwd })
  assert.equal(made.status, 0, made.stderr)
  assert.equal((await stat(join(cwd, 'site.pem'))).mode & 0o777, 0o600)
  const [tag = ''] = registry.content.tags.keys()
  registry.content.tags.delete(tag)

  const words = ['--sign-key', 'site.pem', '--output', 'receipt.json', '--qr', 'receipt.svg', plain]
  const result = await runCli(['archive', 'receipt', location, '--workspace', directory, ...words], { cwd })
  assert.equal(result.status, 0, result.stderr)
  assert.equal(result.stdout, '')
  assert.ok(result.stderr.includes(`gone: ${registry.address}/${tag}`), result.stderr)
  const receipt = await readReceipt(join(cwd, 'receipt.json'), await loadVerifyKey(join(cwd, 'site.pub.pem')))
  assert.equal(receipt.held.except.length, 1)
  assert.match(await readFile(join(cwd, 'receipt.svg'), 'utf8'), /^<svg /)
  assert.ok(!(await readFile(join(cwd, 'site.pub.pem'), 'utf8')).includes('PRIVATE'))
})

test('with --json the result is one document, and with --no-check nobody is asked', async (t) => {
  const { location, directory, registry } = await loadedSite(t)
  const args = ['archive', 'receipt', location, '--workspace', directory, '--no-check', '--full', '--json']
  const { status, stdout, stderr } = await runCli(args)
  assert.equal(status, 0, stderr)
  const { receipt, text, absent } = JSON.parse(stdout)
  assert.deepEqual([receipt.archives, absent, JSON.parse(text).content.length], ['1', {}, receipt.held.count])
  assert.deepEqual(registry.requests, [])
})

test('a site that loaded nothing is told so, and what to do', async (t) => {
  const args = ['archive', 'receipt', 'docker://registry.lab/ocp', '--workspace', await tempDir(t), '--no-check']
  const { status, stdout, stderr } = await runCli(args)
  assert.equal(status, 1)
  assert.equal(stdout, '')
  assert.match(stderr, /No archive was loaded into registry\.lab\/ocp.*\n.*workspace/)
})

test('the QR code of a receipt is shown on the terminal', async (t) => {
  const { location, directory } = await loadedSite(t)
  const args = ['archive', 'receipt', location, '--workspace', directory, '--no-check', '--qr']
  const { status, stdout } = await runCli(args)
  assert.equal(status, 0)
  assert.match(stdout, /^█+\n█+\n████ ▄▄▄▄▄ █/)
})
