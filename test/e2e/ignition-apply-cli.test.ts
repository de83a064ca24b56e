/** `ignition apply`, as a person runs it. */
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../../testkit/run-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const config = {
  ignition: { version: '3.2.0' },
  storage: { files: [{ path: '/etc/motd', append: [{ source: 'data:,hello%0A' }] }] },
  systemd: { units: [{ name: 'a.service', enabled: true, contents: '[Install]\nWantedBy=multi-user.target\n' }] },
}

test('a config becomes a tree, told in words and as JSON; a second time it is refused', async (t) => {
  const cwd = await tempDir(t)
  await writeFile(join(cwd, 'own.ign'), JSON.stringify(config))
  const first = await runCli(['ignition', 'apply', 'own.ign', '--root', 'tree', '--enable-units'], { cwd })
  assert.equal(first.status, 0, first.stderr)
  assert.match(first.stdout, /^made in .*\/tree: 1 file \(6 B\), 1 unit\n/)
  assert.equal(await readFile(join(cwd, 'tree/etc/motd'), 'utf8'), 'hello\n')
  assert.deepEqual(await readdir(join(cwd, 'tree/etc/systemd/system')), ['a.service', 'multi-user.target.wants'])
  const again = await runCli(['ignition', 'apply', 'own.ign', '--root', 'tree'], { cwd })
  assert.equal(again.status, 1)
  assert.match(again.stderr, /FILE_EXISTS[\s\S]*--into-existing/)
  const other = await runCli(['ignition', 'apply', 'own.ign', '--root', 'other', '--json'], { cwd })
  assert.equal((JSON.parse(other.stdout) as { units: number }).units, 1)
})

test('a config that is not valid is refused before anything is written', async (t) => {
  const cwd = await tempDir(t)
  const wrong = { ...config, storage: { files: [{ path: 'etc/motd' }] } }
  await writeFile(join(cwd, 'own.ign'), JSON.stringify(wrong))
  const { status, stderr } = await runCli(['ignition', 'apply', 'own.ign', '--root', 'tree'], { cwd })
  assert.equal(status, 78)
  assert.match(stderr, /own\.ign is not valid: \$\.storage\.files\.0\.path: path not absolute/)
  assert.deepEqual(await readdir(cwd), ['own.ign'])
})

test('what is at a web server is read only with --fetch, with the headers that the config says', async (t) => {
  const cwd = await tempDir(t)
  const seen: (string | undefined)[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.url} ${request.headers['x-own'] ?? '-'} ${request.headers.accept?.split(';')[0]}`)
    response.end(request.url === '/child' ? JSON.stringify(config) : 'served\n')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const httpHeaders = [{ name: 'X-Own', value: 'yes' }]
  const parent = {
    ignition: { version: '3.2.0', config: { merge: [{ source: `${origin}/child` }] } },
    storage: { files: [{ path: '/etc/served', contents: { source: `${origin}/file`, httpHeaders } }] },
  }
  await writeFile(join(cwd, 'own.ign'), JSON.stringify(parent))
  const refused = await runCli(['ignition', 'apply', 'own.ign', '--root', 'tree'], { cwd })
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /IGNITION_REMOTE[\s\S]*ignition\.config\.merge\[0\] is not in the config: it is at http/)
  assert.deepEqual(seen, [])
  const { status, stderr } = await runCli(['ignition', 'apply', 'own.ign', '--root', 'tree', '--fetch'], { cwd })
  assert.equal(status, 0, stderr)
  assert.equal(await readFile(join(cwd, 'tree/etc/served'), 'utf8'), 'served\n')
  const accept = 'application/vnd.coreos.ignition+json'
  assert.deepEqual(seen, [`/child - ${accept}`, `/file yes ${accept}`])
})
