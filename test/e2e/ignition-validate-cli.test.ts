/** `sallyport ignition validate` as a process. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runCli } from '../../testkit/run-cli.ts'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'

const sound = '{"ignition": {"version": "3.2.0"}}\n'
const unused = '{"ignition": {"version": "3.2.0"},\n "inline": 1}\n'
const broken = '{"ignition": {"version": "3.2.0"},\n "storage": {"files": [{"path": "etc/hosts"}]}}\n'

async function folderWith(t: Cleanup, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await tempDir(t)
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content)
  return folder
}

test('each config has its verdict, and one that is not valid makes the exit status 1', async (t) => {
  const cwd = await folderWith(t, { 'a.ign': sound, 'b.ign': unused, 'c.ign': broken })
  const good = await runCli(['ignition', 'validate', 'a.ign', 'b.ign'], { cwd })
  assert.equal(good.status, 0, good.stderr)
  assert.equal(
    good.stdout,
    'valid: a.ign\n\nvalid: b.ign: 1 warning\nwarning at $.inline, line 2 col 2: unused key inline\n',
  )
  const bad = await runCli(['ignition', 'validate', 'a.ign', 'c.ign'], { cwd })
  assert.equal(bad.status, 1, bad.stderr)
  assert.match(
    bad.stdout,
    /^valid: a\.ign\n\nnot valid: c\.ign: 1 error\nerror at \$\.storage\.files\.0\.path, line 2 col \d+: path not absolute\n$/,
  )
})

test('--json is one document, with the place of every finding in fields of its own', async (t) => {
  const cwd = await folderWith(t, { 'b.ign': unused })
  const { status, stdout } = await runCli(['ignition', 'validate', 'b.ign', '--json'], { cwd })
  assert.equal(status, 0)
  const entries = [{ severity: 'warning', path: '$.inline', line: 2, column: 2, message: 'unused key inline' }]
  assert.deepEqual(JSON.parse(stdout), { files: [{ file: 'b.ign', isFatal: false, entries }] })
})

test('a config can come on standard input', async () => {
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
  const child = spawn(process.execPath, [main, 'ignition', 'validate', '-'], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(broken)
  const ended = new Promise((resolve) => child.on('close', resolve))
  assert.match(await text(child.stdout), /^not valid: -: 1 error\n/)
  assert.equal(await ended, 1)
})

test('of many warnings the first are shown, and all are counted', async (t) => {
  const keys = Array.from({ length: 80 }, (_, index) => `"key${index}": 1`).join(', ')
  const cwd = await folderWith(t, { 'a.ign': `{"ignition": {"version": "3.2.0"}, ${keys}}` })
  const { stdout } = await runCli(['ignition', 'validate', 'a.ign'], { cwd })
  assert.match(stdout, /^valid: a\.ign: 80 warnings\n/)
  assert.match(stdout, /\nand 30 more warnings \(--json lists them\)\n$/)
})

test('a file that is not there is told as such', async (t) => {
  const { status, stderr } = await runCli(['ignition', 'validate', 'none.ign'], { cwd: await tempDir(t) })
  assert.equal(status, 1)
  assert.match(stderr, /FILE_UNREADABLE: Cannot read .*none\.ign: there is no such file/)
})
