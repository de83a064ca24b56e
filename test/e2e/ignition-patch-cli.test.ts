/** `ignition patch`, `size` and `pointer` as people call them. */
import assert from 'node:assert/strict'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import type { IgnitionConfig } from '../../src/ignition/config.ts'
import { inlineText } from '../../src/ignition/contents.ts'
import { testCertificate } from '../../testkit/certificates.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { makeBootstrap } from '../../testkit/sample-bootstrap.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const patchText = `
trust: [corp.pem]
hosts: {mirror.lab: 192.0.2.10}
chrony: {servers: [ntp.lab]}
files: [{path: /root/.docker/config.json, mode: "0600", contents: '{"auths":{}}'}]
`

interface Site {
  readonly cwd: string
  readonly original: string
  read(name: string): Promise<string>
  run(...args: readonly string[]): ReturnType<typeof runCli>
}

async function site(t: TestContext): Promise<Site> {
  const cwd = await tempDir(t)
  const original = `${JSON.stringify(JSON.parse(String(await makeBootstrap())), null, 2)}\n`
  await writeFile(join(cwd, 'bootstrap.ign'), original, { mode: 0o640 })
  await writeFile(join(cwd, 'corp.pem'), (await testCertificate(t)).ca)
  await writeFile(join(cwd, 'lab.yaml'), patchText)
  return {
    cwd,
    original,
    read: (name) => readFile(join(cwd, name), 'utf8'),
    run: (...args) => runCli(['ignition', ...args], { cwd }),
  }
}

async function modeOf({ cwd }: Site, name: string): Promise<string> {
  return ((await stat(join(cwd, name))).mode & 0o777).toString(8)
}

function textOf(config: string, path: string): string | undefined {
  const file = (JSON.parse(config) as IgnitionConfig).storage?.files?.find((one) => one.path === path)
  return file && inlineText(file)
}

test('a patch is written and undone to the byte, and the undo with its secrets is for its owner alone', async (t) => {
  const at = await site(t)
  const patched = await at.run('patch', 'bootstrap.ign', '-p', 'lab.yaml', '-o', 'lab.ign', '--undo', 'undo.json')
  assert.equal(patched.status, 0, patched.stderr)
  assert.match(patched.stdout, /^4 changes in bootstrap\.ign\n {2}added +file +\/etc\/pki\/.*corp\.crt$/m)
  assert.match(patched.stdout, /the undo holds secrets, of \/root\/\.docker\/config\.json/)
  assert.equal(await modeOf(at, 'undo.json'), '600')
  assert.equal(await modeOf(at, 'lab.ign'), '640')
  assert.match(textOf(await at.read('lab.ign'), '/etc/hosts') ?? '', /192\.0\.2\.10 mirror\.lab/)
  const undone = await at.run('patch', 'lab.ign', '-p', 'undo.json', '-o', 'again.ign')
  assert.equal(undone.status, 0, undone.stderr)
  assert.equal(await at.read('again.ign'), at.original)
  const twice = await at.run('patch', 'lab.ign', '-p', 'lab.yaml', '-o', 'twice.ign')
  assert.match(twice.stdout, /^nothing to change in lab\.ign/)
  assert.equal(await at.read('twice.ign'), await at.read('lab.ign'))
})

test('flags do what the patch file does, and both go together', async (t) => {
  const at = await site(t)
  await writeFile(join(at.cwd, 'a.service'), '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n')
  await writeFile(join(at.cwd, '10-lab.conf'), '[Unit]\n')
  await writeFile(join(at.cwd, 'lab.conf'), '[[registry]]\nlocation = "a.lab"\n')
  const flags = ['--unit', 'a.service', '--dropin', 'crio.service=10-lab.conf', '--registries', 'lab.conf']
  const more = [
    '--file',
    '/etc/x=lab.yaml:0600',
    '--ntp',
    'ntp2.lab',
    '--http-proxy',
    'http://p:1',
    '--proxy-except',
    'lab',
  ]
  const result = await at.run('patch', 'bootstrap.ign', '-p', 'lab.yaml', ...flags, ...more, '-o', 'lab.ign')
  assert.equal(result.status, 0, `${result.stdout}${result.stderr}`)
  const text = await at.read('lab.ign')
  const { systemd, storage } = JSON.parse(text) as IgnitionConfig
  assert.match(textOf(text, '/etc/chrony.conf') ?? '', /^server ntp\.lab iburst\nserver ntp2\.lab iburst\n/)
  assert.equal(textOf(text, '/etc/x'), patchText)
  assert.equal(storage?.files?.find(({ path }) => path === '/etc/x')?.mode, 0o600)
  assert.match(textOf(text, '/etc/profile.d/proxy.sh') ?? '', /NO_PROXY="lab"/)
  assert.ok(textOf(text, '/etc/containers/registries.conf.d/50-lab.conf'))
  assert.equal(systemd?.units?.find((one) => one.name === 'a.service')?.enabled, true)
  assert.equal(systemd?.units?.find((one) => one.name === 'crio.service')?.dropins?.[0]?.name, '10-lab.conf')
})

test('a patch that is refused writes nothing, says why, and ends with 1', async (t) => {
  const at = await site(t)
  const before = await readdir(at.cwd)
  const outputs = ['-o', 'lab.ign', '--undo', 'undo.json', '--overlay', 'o.ign', '--machine-configs', 'mc']
  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [['--host', 'quay.io=192.0.2.10'], /ignition\.patch-host-public.*TLS/],
    [['--trust', 'lab.yaml'], /ignition\.patch-trust-invalid/],
    [['--registries', 'lab.yaml'], /ignition\.patch-registries-invalid/],
  ]
  for (const [flags, message] of refused) {
    const { status, stdout } = await at.run('patch', 'bootstrap.ign', ...flags, ...outputs)
    assert.equal(status, 1)
    assert.match(stdout, /^refused: /)
    assert.match(stdout, message)
  }
  const kernel = await at.run('patch', 'bootstrap.ign', '--karg', 'quiet', '-o', 'lab.ign', '--json')
  assert.equal(kernel.status, 1)
  const document = JSON.parse(kernel.stdout)
  assert.deepEqual(document.written, [])
  assert.match(document.findings[0].summary, /3\.2\.0/)
  assert.match(document.findings[0].remedy, /--machine-configs/)
  assert.deepEqual(await readdir(at.cwd), before)
})

test('without a place to write to, what would change is told', async (t) => {
  const at = await site(t)
  const before = await readdir(at.cwd)
  const { status, stdout } = await at.run('patch', 'bootstrap.ign', '-p', 'lab.yaml')
  assert.equal(status, 0)
  assert.match(stdout, /4 changes in bootstrap\.ign; nothing was written/)
  assert.deepEqual(await readdir(at.cwd), before)
})

test('MachineConfigs, an overlay and its parent come from the same patch', async (t) => {
  const at = await site(t)
  const parent = ['--parent', 'p.ign', '--bootstrap-url', 'https://web.lab/b.ign', '--ca', 'corp.pem']
  const nodes = ['--machine-configs', 'openshift', '--roles', 'master,infra', '--karg', 'audit=1', '--name', 'site']
  const result = await at.run('patch', 'bootstrap.ign', '-p', 'lab.yaml', '--overlay', 'o.ign', ...parent, ...nodes)
  assert.equal(result.status, 0, result.stdout)
  assert.match(result.stdout, /warning machine-config\.hosts/)
  assert.match(result.stdout, /warning ignition\.patch-kernel-arguments/)
  const names = ['99-infra-sallyport-site.yaml', '99-master-sallyport-site.yaml']
  assert.deepEqual((await readdir(join(at.cwd, 'openshift'))).sort(), names)
  const { spec } = parse(await at.read('openshift/99-infra-sallyport-site.yaml'))
  assert.deepEqual(spec.kernelArguments, ['audit=1'])
  const overlay = JSON.parse(await at.read('o.ign')) as IgnitionConfig
  assert.deepEqual(spec.config.storage, overlay.storage)
  const [first, second] = (JSON.parse(await at.read('p.ign')) as IgnitionConfig).ignition.config?.merge ?? []
  assert.equal(first?.source, 'https://web.lab/b.ign')
  assert.match(first?.verification?.hash ?? '', /^sha512-/)
  assert.match(second?.source ?? '', /^data:application\/vnd\.coreos\.ignition\+json;base64,/)
})

test('what does not go together is refused before anything is read from the network or written', async (t) => {
  const at = await site(t)
  const wrong = [
    ['patch', 'bootstrap.ign'],
    ['patch', 'bootstrap.ign', '--ntp', 'a', '--parent', 'p.ign'],
    ['patch', 'bootstrap.ign', '--ntp', 'a', '--ca', 'corp.pem'],
    ['patch', 'bootstrap.ign', '--ntp', 'a', '--parent', 'p', '--bootstrap-url', 'u', '--overlay-url', 'v'],
    ['patch', 'bootstrap.ign', '--host', 'a'],
    ['patch', 'bootstrap.ign', '--ntp', 'a', '--machine-configs', 'd', '--roles', 'A B'],
    ['size', 'bootstrap.ign', '--platform', 'moon'],
    ['pointer', 'bootstrap.ign'],
  ]
  for (const args of wrong) assert.equal((await at.run(...args)).status, 64, args.join(' '))
  assert.equal((await at.run('patch', 'lab.yaml', '--ntp', 'a')).status, 78)
})

test('sizes are told for every platform, and the compressed form is written with the permissions of the config', async (t) => {
  const at = await site(t)
  await chmod(join(at.cwd, 'bootstrap.ign'), 0o400)
  const told = await at.run('size', 'bootstrap.ign', '--compress', 'small.ign')
  assert.equal(told.status, 0, told.stderr)
  assert.match(told.stdout, /^aws +16,384 +[\d,]+ +by a pointer/m)
  assert.equal(await modeOf(at, 'small.ign'), '600')
  const document = JSON.parse((await at.run('size', 'small.ign', '--platform', 'aws', '--json')).stdout)
  assert.equal(document.sizes.raw, (await at.read('small.ign')).length)
  assert.equal(document.sizes.compressedFiles, 0)
  assert.deepEqual(
    document.platforms.map(({ name, fit }: { name: string; fit: string }) => [name, fit]),
    [['aws', 'pointer']],
  )
  assert.equal((await at.run('size', 'small.ign', '--platform', 'aws')).status, 1)
})

test('a pointer goes to standard output, and what it would not work with is refused', async (t) => {
  const at = await site(t)
  const url = 'https://web.lab/bootstrap.ign'
  const told = await at.run('pointer', 'bootstrap.ign', '--url', url, '--ca', 'corp.pem', '--platform', 'aws')
  assert.equal(told.status, 0, told.stderr)
  const pointer = JSON.parse(told.stdout) as IgnitionConfig
  assert.equal(pointer.ignition.version, '3.2.0')
  assert.equal(pointer.ignition.config?.replace?.source, url)
  assert.match(told.stderr, /serve bootstrap\.ign at https:\/\/web\.lab/)
  const gzip = ['--gzip', 'b.ign.gz', '-o', 'p.ign']
  const refused = await at.run('pointer', 'bootstrap.ign', '--url', 's3://lab/bootstrap.ign', ...gzip)
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /ignition\.pointer-s3-gzip/)
  assert.equal(refused.stdout, '')
  assert.deepEqual(
    (await readdir(at.cwd)).filter((name) => name.startsWith('p.') || name.endsWith('.gz')),
    [],
  )
  assert.equal((await at.run('pointer', 'bootstrap.ign', '--url', url, ...gzip)).status, 0)
  assert.equal((JSON.parse(await at.read('p.ign')) as IgnitionConfig).ignition.config?.replace?.compression, 'gzip')
})
