/** What we write, given to Ignition itself and to systemd. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { parse } from 'yaml'
import { type PatchWishes, patchIgnition } from '../../src/flows/patch-ignition.ts'
import type { IgnitionConfig } from '../../src/ignition/config.ts'
import { encodeDataUrl } from '../../src/ignition/data-url.ts'
import { gzipped, hashLike } from '../../src/ignition/patch/file-entry.ts'
import type { IgnitionPatch } from '../../src/ignition/patch/patch.ts'
import { pointerConfig } from '../../src/ignition/pointer/pointer-config.ts'
import { compressFiles } from '../../src/ignition/size/compress-files.ts'
import { bootstrapEras } from '../../src/quickstart/sample-bootstrap/bootstrap-options.ts'
import { testCertificate } from '../../testkit/certificates.ts'
import { peer } from '../../testkit/peers.ts'
import { makeBootstrap } from '../../testkit/sample-bootstrap.ts'
import { startScriptedWeb } from '../../testkit/scripted-web.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const service = `[Unit]
Description=Tells the site of this host

[Service]
Type=oneshot
ExecStart=/usr/bin/true

[Install]
WantedBy=multi-user.target
`

async function sitePatch(t: TestContext): Promise<IgnitionPatch> {
  const { ca } = await testCertificate(t)
  return {
    name: 'lab',
    trust: [{ name: 'corp', pem: ca }],
    hosts: [{ name: 'mirror.lab', address: '192.0.2.10' }],
    chrony: { servers: ['ntp.lab'] },
    registries: [{ fileName: '50-lab.conf', text: '[[registry]]\nlocation = "a.lab"\n' }],
    proxy: { httpProxy: 'http://user:p%40ss@proxy.lab:3128', noProxy: ['lab'] },
    units: [{ name: 'site.service', enabled: true, contents: service }],
    dropins: [{ unit: 'bootkube.service', name: '10-lab.conf', contents: '[Service]\nEnvironment=SITE=lab\n' }],
    files: [
      { path: '/etc/motd.d/lab', mode: 0o644, contents: Buffer.from('hello\n') },
      { path: '/usr/local/bin/bootkube.sh', mode: 0o555, contents: Buffer.from('#!/bin/bash\ntrue\n') },
    ],
  }
}

function patched(text: string, patch: IgnitionPatch, wishes: Partial<PatchWishes> = {}) {
  const outcome = patchIgnition({ name: 'bootstrap.ign', text }, patch, { now: new Date(), ...wishes })
  const errors = outcome.findings.filter(({ severity }) => severity === 'error')
  assert.deepEqual(errors, [])
  return outcome
}

/** What `ignition-validate` has to say, without the places, which move. */
function verdict(program: string, text: string): { readonly status: number | null; readonly said: readonly string[] } {
  const { status, stdout, stderr } = spawnSync(program, ['-'], { input: text, encoding: 'utf8' })
  const lines = `${stdout}${stderr}`.split('\n').filter(Boolean)
  return { status, said: lines.map((line) => line.replace(/, line \d+ col \d+/, '')) }
}

test('ignition-validate accepts every sample bootstrap that was patched, compressed, laid over and pointed to', async (t) => {
  const program = peer(t, 'ignition-validate')
  if (program === undefined) return
  const patch = await sitePatch(t)
  const wishes = { overlay: true, parent: { bootstrapUrl: 'https://web.lab/b.ign' }, roles: ['master'] }
  for (const era of bootstrapEras) {
    const text = String(await makeBootstrap({ era }))
    const outcome = patched(text, patch, wishes)
    const before = verdict(program, text)
    assert.equal(before.status, 0)
    assert.deepEqual(verdict(program, outcome.text), before)
    assert.deepEqual(verdict(program, compressFiles(outcome.text, 'a').text), before)
    const inner = JSON.stringify(parse(outcome.machineConfigs[0]?.yaml ?? '').spec.config)
    for (const small of [outcome.overlay ?? '', outcome.parent ?? '', inner])
      assert.deepEqual(verdict(program, small), { status: 0, said: [] })
  }
})

const name = fc.constantFrom('a', 'b', 'c')
const node = fc.record({ path: fc.tuple(name, name).map((parts) => `/etc/${parts.join('/')}`) })
const unit = fc.record({ name: name.map((one) => `${one}.service`), contents: fc.constant('[Unit]\n') })
const anyConfig = fc.record({
  ignition: fc.constantFrom({ version: '3.2.0' }, { version: '3.3.0' }),
  storage: fc.record(
    {
      files: fc.array(
        node.map((one) => ({ ...one, contents: { source: 'data:,x' }, mode: 0o600 })),
        { maxLength: 2 },
      ),
      links: fc.array(
        fc.oneof(node, fc.constant({ path: '/etc/a' })).map((one) => ({ ...one, target: '/x' })),
        {
          maxLength: 1,
        },
      ),
      directories: fc.array(node, { maxLength: 1 }),
    },
    { requiredKeys: [] },
  ),
  systemd: fc.record({ units: fc.array(unit, { maxLength: 2 }) }, { requiredKeys: [] }),
})
const anyPatch = fc.record({
  name: fc.constant('any'),
  files: fc.array(
    fc
      .oneof(
        node,
        unit.map((one) => ({ path: `/etc/systemd/system/${one.name}` })),
      )
      .map(({ path }) => ({
        path,
        contents: Buffer.from('new'),
      })),
    { maxLength: 2 },
  ),
  units: fc.array(unit, { maxLength: 2 }),
  dropins: fc.array(
    unit.map((one) => ({ unit: one.name, name: 'a.conf', contents: one.contents })),
    { maxLength: 1 },
  ),
  kernelArguments: fc.constant({ shouldExist: ['quiet'], shouldNotExist: [] }),
})

test('a patch of a config that ignition-validate accepts is refused by us, or accepted by ignition-validate', (t) => {
  const program = peer(t, 'ignition-validate')
  if (program === undefined) return
  const counted = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(anyConfig, anyPatch, (config, patch) => {
      const text = JSON.stringify(config)
      fc.pre(verdict(program, text).status === 0)
      const { findings, ...outcome } = patchIgnition({ name: 'a', text }, patch, { now: new Date(), roles: ['a'] })
      if (findings.some(({ severity }) => severity === 'error')) counted.refused += 1
      else {
        counted.accepted += 1
        assert.equal(verdict(program, outcome.text).status, 0, outcome.text)
      }
    }),
    { numRuns: 60 },
  )
  assert.ok(counted.accepted > 5 && counted.refused > 5, JSON.stringify(counted))
})

const realConfigs = '../shared/data/installer/ign'

test('what ignition-validate says of real bootstrap configs is the same after a patch', async (t) => {
  const program = peer(t, 'ignition-validate')
  if (program === undefined) return
  if (!existsSync(realConfigs)) return t.skip(`${realConfigs} is not there`)
  const patch = await sitePatch(t)
  let compared = 0
  for (const name of await readdir(realConfigs)) {
    const text = await readFile(join(realConfigs, name), 'utf8')
    if (!(JSON.parse(text) as IgnitionConfig).ignition.version.startsWith('3.')) continue
    // Its modes are replaced with the file.
    const { files: _, ...rest } = patch
    assert.deepEqual(verdict(program, patched(text, rest).text), verdict(program, text), name)
    compared += 1
  }
  assert.ok(compared >= 3)
})

interface Applied {
  readonly isAccepted: boolean
  readonly log: string
  readonly root: string
}

/** `ignition-apply` of a config that may lead elsewhere. */
async function applying(t: TestContext): Promise<((config: string) => Promise<Applied>) | undefined> {
  const program = peer(t, 'ignition')
  if (program === undefined) return undefined
  const folder = await tempDir(t)
  const name = join(folder, 'ignition-apply')
  await symlink(program, name)
  let runs = 0
  return async (config) => {
    runs += 1
    const [file, root] = [join(folder, `${runs}.ign`), join(folder, `root-${runs}`)]
    await mkdir(join(root, 'etc'), { recursive: true })
    await writeFile(join(root, 'etc', 'hosts'), 'of the image\n')
    await writeFile(join(root, 'etc', 'passwd'), 'root:x:0:0::/root:/bin/bash\n')
    await writeFile(join(root, 'etc', 'group'), 'root:x:0:\n')
    await writeFile(file, config)
    // It refuses to run on what looks like a machine and not like a container.
    const env = { PATH: process.env['PATH'], container: 'sallyport-test' }
    // What cannot be fetched it asks for again without end.
    return promisify(execFile)(name, ['--root', root, file], { env, timeout: 20_000 }).then(
      ({ stdout, stderr }) => ({ isAccepted: true, log: `${stdout}${stderr}`, root }),
      ({ stdout, stderr }) => ({ isAccepted: false, log: `${stdout}${stderr}`, root }),
    )
  }
}

/** Contents and modes of all files below a directory. */
async function filesBelow(root: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {}
  for (const path of (await readdir(root, { recursive: true })).sort()) {
    const { mode } = await stat(join(root, path)).catch(() => ({ mode: 0 }))
    const isFile = (mode & 0o170000) === 0o100000
    if (!isFile) continue
    const text = await readFile(join(root, path), 'latin1')
    // Ignition 2.14 writes the lines of this file in no order.
    const lines = path.endsWith('20-ignition.preset') ? text.split('\n').sort().join('\n') : text
    found[path] = `${(mode & 0o7777).toString(8)} ${lines}`
  }
  return found
}

/** Everything of a bootstrap config but users, who need a system to be made in; one file is compressed and has a hash. */
async function bareBootstrap(): Promise<string> {
  const { passwd: _, ...config } = JSON.parse(String(await makeBootstrap())) as IgnitionConfig
  const old = Buffer.from('pool of the image\n')
  const verification = { hash: hashLike('sha512-', old) }
  const contents = { source: encodeDataUrl(gzipped(old), ''), compression: 'gzip', verification }
  const files = [...(config.storage?.files ?? []), { path: '/etc/chrony.conf', overwrite: true, mode: 0o600, contents }]
  return JSON.stringify({ ...config, storage: { ...config.storage, files } })
}

test('an overlay that is merged after its base makes the same system as the base patched in place', async (t) => {
  const apply = await applying(t)
  if (apply === undefined) return
  const web = await startScriptedWeb(t)
  const text = await bareBootstrap()
  web.files.set('/bootstrap.ign', Buffer.from(text))
  const bootstrapUrl = `${web.url}/bootstrap.ign`
  const patch = await sitePatch(t)
  const inline = patched(text, patch, { overlay: true, parent: { bootstrapUrl } })
  const served = patched(text, patch, { overlay: true, parent: { bootstrapUrl, overlayUrl: `${web.url}/overlay.ign` } })
  web.files.set('/overlay.ign', Buffer.from(served.overlay ?? ''))
  const inPlace = await apply(inline.text)
  assert.ok(inPlace.isAccepted, inPlace.log)
  const expected = await filesBelow(inPlace.root)
  assert.equal(expected['etc/motd.d/lab'], '644 hello\n')
  for (const parent of [inline.parent, served.parent]) {
    const merged = await apply(parent ?? '')
    assert.ok(merged.isAccepted, merged.log)
    assert.deepEqual(await filesBelow(merged.root), expected)
  }
})

const small = JSON.stringify({
  ignition: { version: '3.2.0' },
  storage: { files: [{ path: '/etc/hello', contents: { source: 'data:,hello' } }] },
})

test('a pointer leads to its config: replaced or merged, compressed, by https with an own CA', async (t) => {
  const apply = await applying(t)
  if (apply === undefined) return
  const { tls, ca } = await testCertificate(t)
  const bytes = Buffer.from(small)
  const [web, secure] = [await startScriptedWeb(t), await startScriptedWeb(t, { tls })]
  for (const { files } of [web, secure]) files.set('/a.ign', bytes).set('/a.ign.gz', gzipped(bytes))
  const target = { url: `${web.url}/a.ign`, bytes, hash: 'sha512' as const, isGzip: false }
  const pointers = [
    { via: 'replace' as const, targets: [target] },
    { via: 'merge' as const, targets: [{ ...target, hash: 'sha256' as const }] },
    { via: 'replace' as const, targets: [{ ...target, url: `${web.url}/a.ign.gz`, isGzip: true }] },
    { via: 'merge' as const, targets: [{ ...target, url: `${secure.url}/a.ign` }], ca },
  ].map((request) => Buffer.from(JSON.stringify(pointerConfig({ version: '3.0.0', ...request }))))
  for (const [index, pointer] of pointers.entries()) {
    // ignition-apply, unlike Ignition in a machine, uses CAs only of configs that it fetched: so this one is fetched too.
    web.files.set('/pointer.ign', pointer)
    const outer = { ...target, url: `${web.url}/pointer.ign`, bytes: pointer }
    const { isAccepted, log, root } = await apply(
      JSON.stringify(pointerConfig({ version: '3.0.0', via: 'replace', targets: [outer] })),
    )
    assert.ok(isAccepted, `${index}: ${log}`)
    assert.equal(await readFile(join(root, 'etc', 'hello'), 'utf8'), 'hello')
  }
})

test('a pointer with the hash of another config is refused', async (t) => {
  const apply = await applying(t)
  if (apply === undefined) return
  const web = await startScriptedWeb(t)
  web.files.set('/a.ign', Buffer.from(small.replace('hello', 'other')))
  for (const hash of ['sha512', 'sha256'] as const) {
    const targets = [{ url: `${web.url}/a.ign`, bytes: Buffer.from(small), hash, isGzip: false }]
    const { isAccepted, log } = await apply(
      JSON.stringify(pointerConfig({ version: '3.1.0', via: 'replace', targets })),
    )
    assert.equal(isAccepted, false)
    assert.match(log, /hash verification failed/)
  }
})

test('a config that is compressed file by file makes the same system', async (t) => {
  const apply = await applying(t)
  if (apply === undefined) return
  const text = await bareBootstrap()
  const [before, after] = [await apply(text), await apply(compressFiles(text, 'a').text)]
  assert.ok(before.isAccepted && after.isAccepted, after.log)
  assert.deepEqual(await filesBelow(after.root), await filesBelow(before.root))
})

function unitVerdict(analyze: string, root: string): { readonly status: number | null; readonly stderr: string } {
  const args = ['verify', '--man=no', `--root=${root}`, 'site.service']
  const { status, stderr } = spawnSync(analyze, args, { encoding: 'utf8' })
  return { status, stderr }
}

test('systemd has nothing to say about the units of a patch, on the bootstrap host and on nodes', async (t) => {
  const analyze = peer(t, 'systemd-analyze')
  if (analyze === undefined) return
  const { machineConfigs, text } = patched(String(await makeBootstrap()), await sitePatch(t), { roles: ['worker'] })
  const onNode = parse(machineConfigs[0]?.yaml ?? '').spec.config as IgnitionConfig
  for (const config of [JSON.parse(text) as IgnitionConfig, onNode]) {
    const root = await tempDir(t)
    const write = async (path: string, contents: string, mode = 0o644) => {
      await mkdir(dirname(join(root, path)), { recursive: true })
      await writeFile(join(root, path), contents, { mode })
    }
    await write('usr/bin/true', '', 0o755)
    for (const target of ['multi-user', 'basic', 'sysinit', 'shutdown'])
      await write(`usr/lib/systemd/system/${target}.target`, `[Unit]\nDescription=${target}\n`)
    const unit = config.systemd?.units?.find(({ name }) => name === 'site.service')
    await write('etc/systemd/system/site.service', unit?.contents ?? '')
    // The drop-in is for a unit that nodes do not have: it is verified with one.
    const dropins = config.systemd?.units?.flatMap((one) => one.dropins ?? []) ?? []
    for (const { name, contents } of dropins.filter((one) => one.name === '10-lab.conf'))
      await write(`etc/systemd/system/site.service.d/${name}`, contents ?? '')
    assert.deepEqual(unitVerdict(analyze, root), { status: 0, stderr: '' })
  }
})
