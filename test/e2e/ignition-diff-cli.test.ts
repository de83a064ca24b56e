/** `ignition diff`, as a person runs it. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../../testkit/run-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const source = (text: string) => `data:;base64,${Buffer.from(text).toString('base64')}`

function config(lines: string, token: string): string {
  const files = [
    { path: '/etc/a', mode: 420, contents: { source: source(lines) } },
    { path: '/opt/openshift/auth/kubeconfig', contents: { source: source(`token: ${token}\n`) } },
  ]
  return JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files } })
}

test('what differs is told as diff tells it, secrets not at all, and the exit status says whether', async (t) => {
  const cwd = await tempDir(t)
  await writeFile(join(cwd, 'a.ign'), config('one\ntwo\n', 'hunter2-hunter2'))
  await writeFile(join(cwd, 'b.ign'), config('one\n2\n', 'other-other-1234'))
  const { status, stdout } = await runCli(['ignition', 'diff', 'a.ign', 'b.ign'], { cwd })
  assert.equal(status, 1)
  assert.equal(
    stdout,
    `from a.ign to b.ign: 2 differences: 0 added, 0 removed, 2 changed
~ file /etc/a
    contents:
      @@ -1,2 +1,2 @@
       one
      -two
      +2
~ file /opt/openshift/auth/kubeconfig
    contents: differs (secret, not shown)
`,
  )
  const brief = await runCli(['ignition', 'diff', '--brief', 'a.ign', 'b.ign'], { cwd })
  assert.match(brief.stdout, /^~ file \/etc\/a: contents$/m)
  const json = await runCli(['ignition', 'diff', 'a.ign', 'b.ign', '--json'], { cwd })
  const document = JSON.parse(json.stdout) as { isSame: boolean; differences: readonly { name: string }[] }
  assert.deepEqual([json.status, document.isSame, document.differences.length], [1, false, 2])
  assert.equal(json.stdout.includes('hunter2'), false)
  const same = await runCli(['ignition', 'diff', 'a.ign', 'a.ign'], { cwd })
  assert.deepEqual([same.status, same.stdout], [0, 'a.ign and a.ign mean the same\n'])
})

test('what is no config does not load, and a missing argument is a mistake of use', async (t) => {
  const cwd = await tempDir(t)
  await writeFile(join(cwd, 'a.ign'), '{}')
  assert.equal((await runCli(['ignition', 'diff', 'a.ign', 'a.ign'], { cwd })).status, 78)
  assert.equal((await runCli(['ignition', 'diff', 'a.ign'], { cwd })).status, 64)
})
