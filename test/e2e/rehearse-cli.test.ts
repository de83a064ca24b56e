import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { RehearsalReport } from '../../src/rehearse/rehearsal-report.ts'
import { whyNoSandbox } from '../../src/rehearse/sandbox/sandbox.ts'
import { bootstrapFaults, type FaultySite, startFaultyBootstrap } from '../../testkit/bootstrap-faults.ts'
import { startBootstrapSite } from '../../testkit/bootstrap-site.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'

function viaFlags(via: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(via).flatMap(([host, address]) => ['--via', `${host}=${address}`])
}

function faulty(t: Cleanup, id: string): Promise<FaultySite> {
  const fault = bootstrapFaults.find((one) => one.id === id)
  if (fault === undefined) throw new Error(`no fault ${id}`)
  return startFaultyBootstrap(t, fault)
}

test('a sound bootstrap: one document, no finding, exit status 0', async (t) => {
  const site = await startBootstrapSite(t)
  const { status, stdout, stderr } = await runCli(['rehearse', site.path, '--json', ...viaFlags(site.via)])
  assert.deepEqual([status, stderr], [0, ''])
  const report = JSON.parse(stdout) as RehearsalReport
  assert.equal(report.verdict.isSound, true)
  assert.deepEqual(
    report.findings.filter(({ severity }) => severity === 'error'),
    [],
  )
  assert.equal(stdout.includes(site.credentials.password), false)
  assert.equal(stdout.includes('PRIVATE KEY'), false)
})

test('Ctrl-C while the scripts run ends it with 130, and leaves nothing behind', async (t) => {
  const unavailable = await whyNoSandbox()
  if (unavailable !== undefined) return t.skip(`no sandbox: ${unavailable}`)
  const site = await startBootstrapSite(t)
  const temporary = await tempDir(t)
  const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
  const words = [main, '--events', '-', 'rehearse', site.path, ...viaFlags(site.via)]
  const env = { PATH: process.env['PATH'], TMPDIR: temporary }
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const complaint = text(child.stderr)
  for await (const line of createInterface(child.stdout)) {
    if (!line.includes('"bootkube.service","outcome":"started"')) continue
    child.kill('SIGINT')
    break
  }
  assert.deepEqual(await once(child, 'close'), [130, null])
  assert.match(await complaint, /error INTERRUPTED: Interrupted\n {2}next: Nothing was changed/)
  assert.deepEqual(await readdir(temporary), [])
})

test('the first line says where it would fail, the second what to do, and the status is 1', async (t) => {
  if ((await whyNoSandbox()) !== undefined) return t.skip('no sandbox on this machine')
  const { path, via } = await faulty(t, 'release-image-missing')
  const { status, stdout } = await runCli(['rehearse', path, '--timeout', '3s', ...viaFlags(via)])
  assert.equal(status, 1)
  const [first, second] = stdout.split('\n')
  assert.match(
    first ?? '',
    /^the bootstrap would fail at release-image\.service, stage pull-release-image: mirror\.lab\.test:/,
  )
  assert.match(second ?? '', /^next: Mirror the release again/)
  assert.match(stdout, /✗ release-image\.service .* tries without end at pull-release-image\n/)
  assert.match(stdout, /\| Error: initializing source docker:/)
  assert.match(stdout, /\nnot proven: /)
})

test('the report is one HTML file beside what is printed', async (t) => {
  const { path, via } = await faulty(t, 'ca-removed')
  const report = join(await tempDir(t), 'sub', 'rehearsal.html')
  const { status, stdout } = await runCli(['rehearse', path, '--level', '1', '--report', report, ...viaFlags(via)])
  assert.equal(status, 1)
  assert.match(stdout, new RegExp(`\nreport: ${report}\n$`))
  const page = await readFile(report, 'utf8')
  assert.match(page, /^<!doctype html>/)
  assert.match(page, /rehearse\.ca-unknown/)
})

test('what somebody takes upon himself does not fail the rehearsal', async (t) => {
  const { path, via } = await faulty(t, 'signature-missing')
  const args = ['rehearse', path, '--level', '1', '--json', ...viaFlags(via)]
  assert.equal((await runCli(args)).status, 1)
  const { status, stdout } = await runCli([...args, '--accept', 'rehearse.signature-missing', '--accept', 'not.there'])
  assert.equal(status, 0)
  assert.deepEqual((JSON.parse(stdout) as RehearsalReport).accepted, ['rehearse.signature-missing'])
})

test('a file that is no config is a finding, a file that is not there an error', async (t) => {
  const path = join(await tempDir(t), 'cut.ign')
  await writeFile(path, '{"ignition":{"version":"3.2')
  const { status, stdout } = await runCli(['rehearse', path])
  assert.equal(status, 1)
  assert.match(stdout, /^the bootstrap would fail: Ignition refuses the config/)
  const absent = await runCli(['rehearse', `${path}.not`])
  assert.equal(absent.status, 1)
  assert.match(absent.stderr, /^error FILE_UNREADABLE/)
})

test('addresses, levels and architectures that are none are refused with status 64', async () => {
  for (const wrong of [
    ['--via', 'mirror.lab'],
    ['--via', 'mirror.lab=other'],
    ['--level', '3'],
    ['--architecture', 'vax'],
  ]) {
    const { status } = await runCli(['rehearse', 'x.ign', ...wrong])
    assert.equal(status, 64, wrong.join(' '))
  }
})

test('level 1 of 190 images takes seconds, the whole command', async (t) => {
  const site = await startBootstrapSite(t, { components: 'whole' })
  const begun = performance.now()
  const { status, stdout } = await runCli(['rehearse', site.path, '--level', '1', '--json', ...viaFlags(site.via)])
  const took = performance.now() - begun
  assert.equal(status, 0)
  assert.ok((JSON.parse(stdout) as RehearsalReport).levelOne?.images.length === 191)
  // On a machine that others use too: a figure for every change is kept in bench/.
  assert.ok(took < 30_000, `${Math.round(took)} ms`)
})
