/** `sallyport init` and `sallyport install-config` as processes; on a terminal, too, where `script` (util-linux) can make one. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmod, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { runCli } from '../../testkit/run-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const site = ['--variant', 'disconnected', '--platform', 'none', '--name', 'c1', '--base-domain', 'lab.example.com']
const flags = [...site, '--registry', 'mirror.lab.example.com:8443/ocp4', '--release', '4.18.9']

test('with flags for everything it asks nothing, and what it writes is in order', async (t) => {
  const cwd = await tempDir(t)
  const { status, stdout, stderr } = await runCli(['init', ...flags], { cwd })
  assert.equal(status, 0, stderr)
  assert.equal(
    stdout,
    `sallyport.yaml: c1.lab.example.com, disconnected
imageset-config.yaml: what is mirrored
put these secrets where the file says they are (chmod 600):
  pullSecret: secrets/pull-secret.json
next: read sallyport.yaml, then sallyport config check sallyport.yaml
`,
  )
  const checked = await runCli(['config', 'check', 'sallyport.yaml', 'imageset-config.yaml'], { cwd })
  assert.deepEqual([checked.status, checked.stdout], [0, '2 files: no error\n'])
})

test('without a terminal, what nobody said is named by its flags, and --yes takes the defaults', async (t) => {
  const cwd = await tempDir(t)
  const refused = await runCli(['init', ...site], { cwd })
  assert.equal(refused.status, 64)
  assert.match(refused.stderr, /nobody can be asked: --release, --registry\n {2}next: .*--yes/)
  assert.deepEqual(await readdir(cwd), [])
  const { status, stdout } = await runCli(['init', '--yes', '--json'], { cwd })
  assert.equal(status, 0)
  const written = JSON.parse(stdout)
  assert.deepEqual(
    [written.file, written.imageSet, written.site.platform],
    ['sallyport.yaml', undefined, { lab: { network: 'auto', nodes: 3 } }],
  )
})

test('what is there stays: the site without --force, and what is mirrored always', async (t) => {
  const cwd = await tempDir(t)
  await writeFile(join(cwd, 'sallyport.yaml'), 'mine\n')
  await writeFile(join(cwd, 'imageset-config.yaml'), 'mine, too\n')
  const refused = await runCli(['init', ...flags], { cwd })
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /FILE_EXISTS/)
  assert.equal(await readFile(join(cwd, 'sallyport.yaml'), 'utf8'), 'mine\n')
  const { status, stdout } = await runCli(['init', '--force', ...flags], { cwd })
  assert.equal(status, 0)
  assert.match(stdout, /it was there, and stays as it is/)
  assert.equal(await readFile(join(cwd, 'imageset-config.yaml'), 'utf8'), 'mine, too\n')
})

test('a link that leads nowhere is in the way, too, and a name that nothing can have is told', async (t) => {
  const cwd = await tempDir(t)
  await symlink('elsewhere', join(cwd, 'sallyport.yaml'))
  const refused = await runCli(['init', ...flags], { cwd })
  assert.match(refused.stderr, /FILE_EXISTS/)
  assert.equal(await readlink(join(cwd, 'sallyport.yaml')), 'elsewhere')
  const unwritable = await runCli(['init', '--output', 'x'.repeat(256), ...flags], { cwd })
  assert.equal(unwritable.status, 1)
  assert.match(unwritable.stderr, /FILE_UNWRITABLE/)
  assert.deepEqual(await readdir(cwd), ['sallyport.yaml'])
})

test('answers that do not fit together are refused, and leave nothing', async (t) => {
  const cwd = await tempDir(t)
  const { status, stderr } = await runCli(['init', '--yes', '--variant', 'proxy-only', '--registry', 'a.lab/b'], {
    cwd,
  })
  assert.equal(status, 64)
  assert.match(stderr, /variant proxy-only has no mirror/)
  assert.deepEqual(await readdir(cwd), [])
})

test('--set changes a field and keeps the comments; a change that would not load changes nothing', async (t) => {
  const cwd = await tempDir(t)
  await runCli(['init', ...flags], { cwd })
  const file = join(cwd, 'sallyport.yaml')
  const before = await readFile(file, 'utf8')
  const { status, stderr } = await runCli(['init', '--set', 'cluster.computeReplicas=5'], { cwd })
  assert.equal(status, 0, stderr)
  assert.equal(await readFile(file, 'utf8'), before.replace('computeReplicas: 2', 'computeReplicas: 5'))
  const refused = await runCli(['init', '--set', 'cluster.computeReplicas=many'], { cwd })
  assert.equal(refused.status, 78)
  assert.match(refused.stderr, /sallyport\.yaml:\d+:20: cluster\.computeReplicas/)
  assert.equal(await readFile(file, 'utf8'), before.replace('computeReplicas: 2', 'computeReplicas: 5'))
})

const hasScript = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') ?? false
const skip = hasScript ? false : 'script of util-linux is not here'

/** Types `keys` on a terminal, each when what is waited for before it has been shown. */
async function onTerminal(
  cwd: string,
  args: readonly string[],
  keys: readonly (readonly [after: RegExp, type: string])[],
) {
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
  const command = [process.execPath, main, 'init', ...args].join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  const rest = [...keys]
  let shown = ''
  for await (const chunk of child.stdout) {
    shown += String(chunk)
    const [after, type] = rest[0] ?? []
    if (!after?.test(shown)) continue
    rest.shift()
    shown = ''
    child.stdin.write(type ?? '')
  }
  return { status: await ended, rest: rest.length }
}

test('on a terminal it asks for what no flag says, and asks again where an answer is wrong', { skip }, async (t) => {
  const cwd = await tempDir(t)
  const result = await onTerminal(
    cwd,
    ['--platform', 'none', '--release', 'stable-4.18'],
    [
      [/variant .*: /, 'private\r'],
      [/name .*\[cluster1\]: /, 'Not_This\r'],
      [/is no DNS name[\s\S]*name .*: /, 'c7\r'],
      [/base-domain .*: /, '\r'],
      [/registry \[none\]: /, '\r'],
    ],
  )
  assert.deepEqual(result, { status: 0, rest: 0 })
  const written = parse(await readFile(join(cwd, 'sallyport.yaml'), 'utf8'))
  assert.deepEqual([written.name, written.variant, written.mirror], ['c7', 'private', undefined])
  assert.deepEqual(await readdir(cwd), ['sallyport.yaml'])
})

test('answers that are pasted all at once count, too', { skip }, async (t) => {
  const cwd = await tempDir(t)
  const pasted = [[/variant .*: /, 'disconnected\rlab\rc8\r\r\r\r']] as const
  assert.deepEqual(await onTerminal(cwd, [], pasted), { status: 0, rest: 0 })
  assert.equal(parse(await readFile(join(cwd, 'sallyport.yaml'), 'utf8')).name, 'c8')
})

test('Ctrl-C in the middle leaves nothing', { skip }, async (t) => {
  const cwd = await tempDir(t)
  const result = await onTerminal(
    cwd,
    [],
    [
      [/variant .*: /, '\r'],
      [/platform .*: /, '\u0003'],
    ],
  )
  assert.deepEqual(result, { status: 130, rest: 0 })
  assert.deepEqual(await readdir(cwd), [])
})

test('install-config shows no secret, writes it for you alone, and checks what it wrote', async (t) => {
  const cwd = await tempDir(t)
  await runCli(['init', ...flags], { cwd })
  const shown = await runCli(['install-config'], { cwd })
  assert.equal(shown.status, 0, shown.stderr)
  assert.deepEqual(JSON.parse(parse(shown.stdout).pullSecret), {
    auths: { 'mirror.lab.example.com:8443': { auth: '***' } },
  })

  const missing = await runCli(['install-config', '-o', 'ic.yaml'], { cwd })
  assert.deepEqual([missing.status, (await readdir(cwd)).includes('ic.yaml')], [78, false])

  await writeFile(join(cwd, 'auth.json'), '{"auths":{"mirror.lab.example.com:8443":{"auth":"aHVudGVyMg=="}}}')
  await chmod(join(cwd, 'auth.json'), 0o600)
  const written = await runCli(['install-config', '-o', 'ic.yaml', '--mirror-auth', 'auth.json'], { cwd })
  assert.equal(written.status, 0, written.stderr)
  assert.doesNotMatch(written.stdout + written.stderr, /aHVudGVyMg/)
  assert.equal((await stat(join(cwd, 'ic.yaml'))).mode & 0o777, 0o600)
  assert.match(await readFile(join(cwd, 'ic.yaml'), 'utf8'), /aHVudGVyMg==/)

  const checked = await runCli(['install-config', '--check', 'ic.yaml', '--release', '4.18.9'], { cwd })
  assert.deepEqual([checked.status, checked.stdout], [0, '1 file: no error\n'])
  const older = await runCli(['install-config', '--check', 'ic.yaml', '--release', '4.12.1', '--json'], { cwd })
  assert.equal(older.status, 1)
  assert.deepEqual(
    JSON.parse(older.stdout).findings.map(({ id }: { id: string }) => id),
    ['install-config.mirrors'],
  )
})

test('mirrors come out of the cluster resources that are named', async (t) => {
  const cwd = await tempDir(t)
  await runCli(['init', ...flags], { cwd })
  const set = {
    apiVersion: 'config.openshift.io/v1',
    kind: 'ImageDigestMirrorSet',
    metadata: { name: 'x' },
    spec: { imageDigestMirrors: [{ source: 'quay.io/a', mirrors: ['mirror.lab.example.com:8443/a'] }] },
  }
  await writeFile(join(cwd, 'idms.yaml'), JSON.stringify(set))
  const { stdout } = await runCli(['install-config', '--mirrors', 'idms.yaml'], { cwd })
  assert.deepEqual(parse(stdout).imageDigestSources, [
    { source: 'quay.io/a', mirrors: ['mirror.lab.example.com:8443/a'] },
  ])
  await writeFile(join(cwd, 'none.yaml'), 'kind: Other\n')
  const none = await runCli(['install-config', '--mirrors', 'none.yaml'], { cwd })
  assert.equal(none.status, 78)
})
