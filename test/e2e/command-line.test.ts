/** The promises that every command shares. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { version } from '../../src/cli/version.ts'
import { runCli } from '../../testkit/run-cli.ts'

test('the version is printed, alone', async () => {
  assert.deepEqual(await runCli(['--version']), { status: 0, signal: null, stdout: `${version}\n`, stderr: '' })
})

test('help goes to standard output and ends with examples', async () => {
  for (const args of [[], ['--help'], ['mirror', '--help'], ['verify', 'egress', '--help'], ['resolve', '--help']]) {
    const { status, stdout, stderr } = await runCli(args)
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' }, args.join(' '))
    assert.match(stdout, /\nExamples:\n(?: .+\n)+$/, args.join(' '))
  }
})

test('wrong usage ends with 64, says what is wrong, and prints nothing on standard output', async () => {
  for (const args of [['mirorr'], ['resolve', '--no-such-option', 'x'], ['mirror', 'docker://127.0.0.1:1/x']]) {
    const { status, stdout, stderr } = await runCli(args)
    assert.deepEqual({ status, stdout }, { status: 64, stdout: '' }, args.join(' '))
    assert.match(stderr, /^error(?: USAGE)?: .+\n/, args.join(' '))
  }
})

test('with --json an error is one JSON document with its code, message and hint', async () => {
  const { status, stdout } = await runCli(['resolve', 'quay.io/UPPER/case', '--json'])
  assert.equal(status, 64)
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } }
  assert.equal(error.code, 'REFERENCE_INVALID')
  assert.match(error.message, /UPPER\/case/)
  assert.notEqual(error.hint, '')
})

test('with --json wrong usage is one JSON document, too', async () => {
  for (const args of [['mirorr'], ['resolve', '--no-such-option', 'x'], ['plan'], ['init', '--set'], ['steps', 'ls']]) {
    const { status, stdout, stderr } = await runCli([...args, '--json'])
    assert.equal(status, 64, args.join(' '))
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } }
    assert.equal(error.code, 'USAGE')
    assert.ok(stderr.includes(error.message), 'people are told the same')
    assert.notEqual(error.hint, '')
  }
  assert.deepEqual(await runCli(['--version', '--json']), {
    status: 0,
    signal: null,
    stdout: `${version}\n`,
    stderr: '',
  })
})

test('a reader that stops reading ends the command without a word', async () => {
  const mainFile = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
  const script = `"${process.execPath}" "${mainFile}" mirror --help | head -n 1`
  const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.deepEqual({ stdout, stderr }, { stdout: 'Usage: sallyport mirror [options] <destination>\n', stderr: '' })
})
