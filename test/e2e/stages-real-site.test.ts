/** The built-in workflow on the platform none: with real registries, on both sides of a gap. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type RealSite, startRealSite } from '../../testkit/real-site.ts'

const seconds = 1000

function siteOf({ registry }: RealSite, variant: string): object {
  return {
    variant,
    platform: { none: {} },
    release: { version: '4.18.9' },
    mirror: { registry: `${registry}/ocp`, service: 'existing', credentials: 'mirror', ca: 'mirror-ca.pem' },
    ...(variant === 'disconnected' && { cluster: {} }),
    secrets: { mirror: { file: 'mirror-auth.json' } },
    teardown: 'never',
  }
}

/** False after the test was marked as skipped. */
function canNameHosts(t: TestContext): boolean {
  if (process.platform === 'linux' && process.getuid?.() === 0) return true
  t.skip('names of a site need a mount namespace, and that needs root on Linux')
  return false
}

test('registry-only fills a mirror that is there, and proves that it is full', {
  timeout: 600 * seconds,
}, async (t) => {
  if (!canNameHosts(t)) return
  const site = await startRealSite(t)
  await site.write(site.connected, { ...siteOf(site, 'registry-only'), release: { channel: 'stable-4.18' } })
  const run = await site.cli(site.connected, 'run', 'disconnected', '--json')
  assert.equal(run.status, 0, run.stdout + run.stderr)
  const steps = await statuses(site)
  assert.equal(steps['06-mirror-images/load'], 'succeeded')
  assert.equal(steps['09-verify/mirror'], 'succeeded')
  assert.equal(steps['09-verify/egress'], 'succeeded')
  assert.equal(steps['07-prepare/install-config'], 'skipped')
})

test('disconnected collects, crosses the gap in two parts, and stops where machines have to boot', {
  timeout: 600 * seconds,
}, async (t) => {
  if (!canNameHosts(t)) return
  const site = await startRealSite(t)
  const { connected, closed } = site
  await site.write(connected, siteOf(site, 'disconnected'))
  const collected = await site.cli(connected, 'run', 'disconnected', '--where', 'connected')
  assert.equal(collected.status, 0, collected.stdout + collected.stderr)
  assert.match(collected.stdout, /gap/)
  const exported = await site.cli(connected, 'run', 'export', '-o', join(closed, 'run.tar'))
  assert.equal(exported.status, 0, exported.stderr)

  await site.write(closed, siteOf(site, 'disconnected'))
  await cp(join(connected, 'archive'), join(closed, 'archive'), { recursive: true })
  const imported = await site.cli(closed, 'run', 'import', 'run.tar')
  assert.equal(imported.status, 0, imported.stderr)
  assert.match(
    (await site.cli(closed, 'run', 'show')).stdout,
    /next: sallyport resume \S+ --where bastion,closed goes on here\n$/,
  )
  await site.write(closed, { ...siteOf(site, 'disconnected'), teardown: 'sometimes' })
  const misspelled = await site.cli(closed, 'resume', '--where', 'bastion,closed')
  assert.equal(misspelled.status, 78, 'the sallyport.yaml of this side is the one that counts here')
  await site.write(closed, siteOf(site, 'disconnected'))
  const prepared = await site.cli(closed, 'resume', '--where', 'bastion,closed')
  assert.equal(prepared.status, 1)
  assert.match(prepared.stdout, /next: .*sallyport resume \S+ --where bastion,closed goes on there/)
  assert.match(prepared.stdout, /08-install\/machines[\s\S]*does not drive openshift-install yet/)
  assert.match(
    prepared.stdout,
    /hint: [^\n]*sallyport resume \S+ --where bastion,closed --mark-done 08-install\/machines --reason/,
  )
  await installerWasRight(site)

  const done = ['--mark-done', '08-install/machines', '--reason', 'booted by hand']
  const verified = await site.cli(closed, 'resume', '--where', 'bastion,closed', ...done)
  assert.equal(verified.status, 0, verified.stdout + verified.stderr)

  const down = await site.cli(closed, 'run', 'teardown', '--where', 'bastion,closed')
  assert.equal(down.status, 0, down.stdout + down.stderr)
  const runs = join(closed, '.sallyport', 'runs')
  const [run = ''] = (await readdir(runs)).filter((one) => /^\d/.test(one))
  const left = await readdir(join(runs, run, 'work'), { recursive: true, withFileTypes: true })
  assert.deepEqual(
    left.filter((entry) => entry.isFile()),
    [],
    'files with secrets are gone',
  )
  assert.ok((await stat(join(closed, 'archive'))).isDirectory(), 'content outlives the run')
})

test('a mirror that is not trusted, or refuses the login, is told in the words of sallyport.yaml', {
  timeout: 120 * seconds,
}, async (t) => {
  if (!canNameHosts(t)) return
  const site = await startRealSite(t)
  const { connected, registry } = site
  const words = ['run', 'disconnected', '--until', '05-mirror-registry/check']
  const given = siteOf(site, 'registry-only')
  await site.write(connected, given)
  const [ca, auth] = [join(connected, 'mirror-ca.pem'), join(connected, 'mirror-auth.json')]
  const right = await readFile(ca)
  await writeFile(ca, 'no certificate')
  const distrusted = await site.cli(connected, ...words)
  assert.match(distrusted.stdout, /hint: The authority .* is not in mirror-ca.pem \(mirror.ca of sallyport.yaml\)/)
  await rm(ca)
  const absent = await site.cli(connected, ...words)
  assert.match(absent.stdout, /mirror-ca.pem: .* cannot be read\n {2}hint: .*sallyport.yaml names: mirror.ca\.\n/)
  await writeFile(ca, right)
  await writeFile(auth, JSON.stringify({ auths: { [registry]: { auth: Buffer.from('a:wrong').toString('base64') } } }))
  const refused = await site.cli(connected, ...words)
  assert.match(
    refused.stdout,
    /hint: podman login --authfile mirror-auth.json mirror\.c1\.lab\.test:\d+ .*secrets.mirror/,
  )
  await site.write(connected, given)
  assert.equal((await site.cli(connected, ...words)).status, 0)
})

test('private without a mirror takes everything from where the release is, up to machines that boot', {
  timeout: 600 * seconds,
}, async (t) => {
  if (!canNameHosts(t)) return
  const site = await startRealSite(t)
  const { connected } = site
  const given = { variant: 'private', platform: { none: {} }, release: { version: '4.18.9' }, cluster: {} }
  await site.write(connected, given)
  const without = await site.cli(connected, 'run', 'disconnected')
  assert.match(without.stdout, /03-credentials\/release: release.pullSecret is not said/)
  const secrets = { pull: { file: 'pull-secret.json' } }
  await site.write(connected, { ...given, release: { ...given.release, pullSecret: 'pull' }, secrets })
  await writeFile(join(connected, 'pull-secret.json'), '{"auths":{"quay.io":{"auth":"YTpi"}}}', { mode: 0o644 })
  const run = await site.cli(connected, 'run', 'disconnected')
  assert.match(run.stdout, /08-install\/machines: Sallyport does not drive openshift-install yet/, run.stderr)
  assert.match(await site.calls(), /^create manifests .* image=quay.io\/openshift-release-dev\/ocp-release@sha256:/m)
  const log = await site.cli(connected, 'logs', '03-credentials/release')
  assert.match(log.stdout, /warning: secrets.pull: others on this machine can read/)
})

test('an embedded mirror is served on this machine until the teardown, and what is in it stays', {
  timeout: 600 * seconds,
}, async (t) => {
  if (!canNameHosts(t)) return
  const made: { site?: RealSite } = {}
  // Before the directory goes, which the teardown needs.
  t.after(() => made.site?.cli(made.site.connected, 'run', 'teardown'))
  const site = await startRealSite(t)
  made.site = site
  const { connected } = site
  const registry = `${site.registry.split(':')[0]}:${await freePort()}`
  await site.write(connected, {
    ...siteOf(site, 'registry-only'),
    mirror: { registry: `${registry}/ocp`, service: 'embedded' },
  })
  const run = await site.cli(connected, 'run', 'disconnected')
  assert.equal(run.status, 0, run.stdout + run.stderr)
  assert.equal(await isListening(registry), true)
  const again = await site.cli(connected, 'run', 'disconnected', '--new')
  assert.equal(again.status, 0, again.stdout + again.stderr)
  for (const id of await readdir(join(connected, '.sallyport', 'runs')).then((all) =>
    all.filter((one) => /^\d/.test(one)),
  )) {
    const down = await site.cli(connected, 'run', 'teardown', id)
    assert.equal(down.status, 0, down.stdout + down.stderr)
  }
  assert.equal(await isListening(registry), false)
  assert.ok((await readdir(join(connected, 'mirror-registry'))).includes('blobs'))
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** By its port: names of the site are known to its commands only. */
async function isListening(registry: string): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port: Number(registry.split(':')[1]) })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function statuses({ connected, cli }: RealSite): Promise<Readonly<Record<string, string>>> {
  const { steps } = JSON.parse((await cli(connected, 'run', 'show', '--json')).stdout)
  return Object.fromEntries(steps.map(({ step, status }: { step: string; status: string }) => [step, status]))
}

/** Out of the mirror, told of the mirror, without a proxy; its install-config is still there. */
async function installerWasRight({ calls, closed, registry }: RealSite): Promise<void> {
  const said = await calls()
  const asked = ['version', 'create manifests --dir \\S+', 'create ignition-configs --dir \\S+']
  const told = `proxy= override= image=${registry}/ocp/openshift/release-images@sha256:`
  for (const words of asked) assert.match(said, new RegExp(`^${words} ${told}`, 'm'))
  const runs = join(closed, '.sallyport', 'runs')
  const [run = ''] = (await readdir(runs)).filter((one) => /^\d/.test(one))
  const install = join(runs, run, 'work', 'install')
  const config = await readFile(join(install, 'install-config.yaml'), 'utf8')
  assert.match(config, new RegExp(`${registry}/ocp/openshift/release-images`))
  assert.equal((await stat(join(install, 'install-config.yaml'))).mode & 0o777, 0o600)
  assert.ok((await readdir(join(install, 'assets'))).includes('bootstrap.ign'))
}
