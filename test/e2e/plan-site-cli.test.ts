/** `sallyport plan disconnected`, and what a run says before it begins, as an administrator reads them. */
import assert from 'node:assert/strict'
import { access, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../../testkit/run-cli.ts'
import { smallDisk } from '../../testkit/small-disk.ts'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'

async function newSite(t: Cleanup, ...words: string[]): Promise<string> {
  const directory = await tempDir(t)
  const place = ['--name', 'demo', '--base-domain', 'lab.test', '--registry', 'mirror.demo.lab.test:8443/ocp']
  const made = await runCli(['init', '--variant', 'disconnected', ...place, ...words, '--yes'], { cwd: directory })
  assert.equal(made.status, 0, made.stderr)
  return directory
}

async function programs(t: Cleanup, ...names: string[]): Promise<string> {
  const folder = join(await tempDir(t), 'bin')
  await mkdir(folder)
  for (const name of names) {
    const path = await firstOf(['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((place) => join(place, name)))
    if (path !== undefined) await symlink(path, join(folder, name))
  }
  return folder
}

async function firstOf(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}

test('the plan of a lab is a screen: what each step is, what it writes and moves, and each value once, with its line', async (t) => {
  const directory = await newSite(t, '--platform', 'lab')
  const { stdout } = await runCli(['plan', 'disconnected'], { cwd: directory })
  assert.ok(stdout.split('\n').length < 50, stdout)
  assert.match(
    stdout,
    /^ {2}run +connected {2}06-mirror-images\/collect +the release and its images, .*; \d.* MiB to move/m,
  )
  assert.match(stdout, /^ +writes RUN\/lab\/bastion\/bin\/oc, openshift-install, ccoctl$/m)
  assert.match(stdout, /^ {2}[\d.]+ MiB to move, [\d.]+ MiB of disk, as far as is known$/m)
  const text = await readFile(join(directory, 'sallyport.yaml'), 'utf8')
  const line = text.split('\n').indexOf('  registry: mirror.demo.lab.test:8443/ocp') + 1
  assert.equal(stdout.split(`mirror.registry=mirror.demo.lab.test:8443/ocp (line ${line})`).length, 2)
  assert.ok(stdout.includes('mirror.imageSet=imageset-config.yaml (default)'))
  assert.ok(!stdout.includes('has not run yet'))

  const verbose = await runCli(['plan', 'disconnected', '--verbose'], { cwd: directory })
  assert.ok(verbose.stdout.split('mirror.registry=').length > 4, 'under each step that goes by it')
})

test('a secret that is not there is told with its line before a run begins', async (t) => {
  const directory = await newSite(t, '--platform', 'none')
  const { stdout } = await runCli(['plan', 'disconnected', '--json'], { cwd: directory })
  const { findings } = JSON.parse(stdout) as { findings: { id: string; where?: { line?: number } }[] }
  const lines = (await readFile(join(directory, 'sallyport.yaml'), 'utf8')).split('\n')
  const found = findings.find(({ id }) => id === 'site.secret-absent')
  assert.equal(found?.where?.line, lines.lastIndexOf('  pullSecret:') + 1)
})

test('a file that the site names and that is not there is told with its line before a run begins', async (t) => {
  const directory = await newSite(t, '--platform', 'none')
  await rm(join(directory, 'imageset-config.yaml'))
  const set = ['--set', 'mirror.service=existing', '--set', 'mirror.ca=ca.pem', '--set', 'cluster.sshPublicKey=id.pub']
  assert.equal((await runCli(['init', ...set], { cwd: directory })).status, 0)
  const { stdout } = await runCli(['plan', 'disconnected', '--json'], { cwd: directory })
  const { findings } = JSON.parse(stdout) as { findings: { id: string; summary: string; where?: { line?: number } }[] }
  const lines = (await readFile(join(directory, 'sallyport.yaml'), 'utf8')).split('\n')
  const told = findings.filter(({ id }) => id === 'site.file-absent').map(({ where }) => lines[(where?.line ?? 0) - 1])
  assert.deepEqual(
    told.map((line) => line?.trim()),
    ['imageSet: imageset-config.yaml', 'ca: ca.pem', 'sshPublicKey: id.pub'],
  )
  for (const name of ['imageset-config.yaml', 'ca.pem', 'id.pub']) await writeFile(join(directory, name), '')
  assert.doesNotMatch((await runCli(['plan', 'disconnected'], { cwd: directory })).stdout, /site.file-absent/)
})

test('a site that is not there is a file that does not load', async (t) => {
  const directory = await tempDir(t)
  for (const words of [
    ['plan', 'disconnected'],
    ['run', 'disconnected', '-f', '.'],
  ]) {
    const { status, stderr } = await runCli(words, { cwd: directory })
    assert.equal(status, 78, stderr)
    assert.match(stderr, /^error CONFIG_INVALID: Cannot read .*\n(?:.*\n)* {2}next: .* sallyport init writes one\.\n$/)
  }
})

test('the plan of a site says what is skipped and why, what people do, and how to learn the bytes', async (t) => {
  const directory = await newSite(t, '--platform', 'none')
  const { stdout } = await runCli(['plan', 'disconnected'], { cwd: directory })
  assert.match(
    stdout,
    /^ {2}skip .*01-infrastructure\/network .*; machines, network, load balancer and DNS are yours$/m,
  )
  assert.match(stdout, /^ +writes tools\/oc, openshift-install, ccoctl$/m)
  assert.match(stdout, /^ +how many bytes: sallyport mirror -c imageset-config.yaml --dry-run file:/m)
  assert.match(stdout, /08-install\/machines .*\n +by hand: .*openshift-install wait-for/m)
})

test('a disk without room for what is expected is told with both figures, in a plan and before a run', async (t) => {
  const disk = await smallDisk(t, 100 * 1024)
  if (disk === undefined) return
  const directory = await newSite(t, '--platform', 'lab')
  const runs = join(disk.path, 'runs')
  const plan = await runCli(['plan', 'disconnected', '--runs', runs], { cwd: directory })
  const [, needed] = /, ([\d.]+ MiB) of disk/.exec(plan.stdout) ?? []
  const told = `warning run.disk-short: The steps are expected to keep ${needed} in ${runs}, and its disk has 100 KiB free\n  next: Free at least `
  assert.ok(plan.stdout.includes(told), plan.stdout)
  assert.doesNotMatch((await runCli(['plan', 'disconnected'], { cwd: directory })).stdout, /disk-short/)
  // Without skopeo it is not begun.
  const env = { PATH: await programs(t, 'ip', 'nft', 'unshare', 'sh', 'mount') }
  const run = await runCli(['run', 'disconnected', '--runs', runs], { cwd: directory, env })
  assert.match(run.stdout, /^not begun: 1 thing missing/)
  assert.ok(run.stdout.includes(told), run.stdout)
  const part = ['--runs', runs, '--only', '05-mirror-registry/serve']
  assert.doesNotMatch((await runCli(['plan', 'disconnected', ...part], { cwd: directory })).stdout, /disk-short/)
})

test('a program that a step of the lab needs for certain is missed before the first step', async (t) => {
  const directory = await newSite(t, '--platform', 'lab')
  const PATH = await programs(t, 'ip', 'nft', 'unshare', 'sh', 'mount', 'squid')
  const run = await runCli(['run', 'disconnected'], { cwd: directory, env: { PATH } })
  assert.equal(run.status, 1, run.stderr)
  assert.match(
    run.stdout,
    /not begun: 1 thing missing[\s\S]*skopeo is not installed: 08-install\/nodes[\s\S]*Install the package skopeo/,
  )
  await assert.rejects(access(join(directory, '.sallyport')), 'nothing was begun')
  const plan = await runCli(['plan', 'disconnected', '--until', '07-prepare/rehearse'], {
    cwd: directory,
    env: { PATH },
  })
  assert.equal(plan.status, 0, plan.stdout)
})

test('a lab that must have namespaces, or a proxy, is told at once that it cannot', async (t) => {
  const directory = await newSite(t, '--platform', 'lab')
  const file = join(directory, 'sallyport.yaml')
  const text = await readFile(file, 'utf8')
  await writeFile(
    file,
    `${text.replace('network: auto', 'network: namespaces')}proxy:\n  url: http://proxy.lab.test:3128\n`,
  )
  const PATH = await programs(t, 'sh', 'skopeo')
  const { status, stdout } = await runCli(['plan', 'disconnected', '--json'], { cwd: directory, env: { PATH } })
  assert.equal(status, 1)
  const ids = JSON.parse(stdout).findings.map(({ id }: { id: string }) => id)
  assert.deepEqual(ids, ['lab.no-namespaces'])
})
