import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { hasSystemCode } from '../../src/errors/known-error.ts'
import type { QuickstartResult } from '../../src/flows/quickstart.ts'
import { quickstartSteps, type StepFacts } from '../../src/flows/quickstart-steps.ts'
import { peer } from '../../testkit/peers.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

function facts<Step extends StepFacts['step']>(result: QuickstartResult, step: Step) {
  const found = result.steps.find((one): one is Extract<StepFacts, { step: Step }> => one.step === step)
  assert.ok(found, step)
  return found
}

test('the quickstart proves every step with nothing but Node, and leaves nothing behind', async (t) => {
  const temporary = await tempDir(t)
  const startedAt = performance.now()
  const { status, stdout, stderr } = await runCli(['quickstart', '--json'], { env: { TMPDIR: temporary, PATH: '' } })
  assert.deepEqual([status, stderr], [0, ''])
  const took = performance.now() - startedAt
  // Below 30 s where nobody else uses the machine.
  assert.ok(took < 120_000, `${Math.round(took)} ms`)
  assert.deepEqual(await readdir(temporary), [])

  const result = JSON.parse(stdout) as QuickstartResult
  assert.deepEqual(
    result.steps.map(({ step }) => step),
    quickstartSteps,
  )
  const { components, blobs, bytes } = facts(result, 'upstream')
  assert.equal(components, 190)
  const { read, sent, images } = facts(result, 'mirror')
  assert.equal(images, 191)
  assert.deepEqual([read.transfers, read.blobs, read.bytes], [blobs, blobs, bytes])
  assert.deepEqual([sent.transfers, sent.blobs, sent.bytes], [blobs, blobs, bytes])
  const again = facts(result, 'again')
  assert.deepEqual([again.read.bytes, again.sent.bytes, again.sent.manifests], [0, 0, 0])
  assert.equal(facts(result, 'coverage').images, 191)
  assert.ok(facts(result, 'coverage').bytes >= bytes)
  assert.equal(facts(result, 'egress').components, 190)
  assert.deepEqual(
    facts(result, 'damage').images.map(({ command, finding }) => [command, finding.id]),
    [
      ['verify mirror', 'mirror.blob-missing'],
      ['verify mirror --deep', 'mirror.blob-changed'],
    ],
  )
  assert.equal(facts(result, 'repair').sent.blobs, 2)
  const rehearsal = facts(result, 'rehearsal')
  assert.equal(rehearsal.images, 191)
  assert.equal(rehearsal.withoutTrust.finding.id, 'rehearse.ca-unknown')
  if (rehearsal.unavailable !== undefined) return t.diagnostic(`level 2: ${rehearsal.unavailable}`)
  assert.ok(rehearsal.stages >= 15)
  assert.deepEqual(rehearsal.withoutTrust.stoppedAt, { unit: 'release-image.service', stage: 'pull-release-image' })
})

test('a directory with something in it is refused, and left as it was', async (t) => {
  const directory = await tempDir(t)
  await writeFile(join(directory, 'mine'), 'precious')
  const { status, stderr } = await runCli(['quickstart', '--dir', directory])
  assert.equal(status, 64)
  assert.match(stderr, /is not empty\n {2}next: Name a new directory/)
  assert.deepEqual(await readdir(directory), ['mine'])
})

test('a place where nothing can be written ends in one error that says what to do', async (t) => {
  const directory = join(await tempDir(t), 'file')
  await writeFile(directory, '')
  const { status, stderr } = await runCli(['quickstart', '--dir', join(directory, 'below')])
  assert.equal(status, 1)
  assert.match(stderr, /^error FILE_UNREADABLE: Cannot make files in .*\n {2}because: .*\n {2}next: .*--dir DIR\.\n$/)
})

const mainFile = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** A quickstart that is stopped, at the latest, with the test. */
function start(
  t: TestContext,
  args: readonly string[],
  temporary: string,
): ChildProcess & { stdout: NodeJS.ReadableStream } {
  const child = spawn(process.execPath, [mainFile, 'quickstart', ...args], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', TMPDIR: temporary },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

test('with --keep both registries serve until Ctrl-C, and skopeo pulls by digest as a node would', async (t) => {
  const directory = join(await tempDir(t), 'qs')
  const child = start(t, ['--keep', '--dir', directory], directory)
  const printed: string[] = []
  for await (const line of createInterface(child.stdout)) {
    printed.push(line)
    if (line.includes('npx sallyport')) break
  }
  await assertReadable(printed, directory)
  const urls = ['mirror', 'upstream'].map(
    (name) => printed.join('\n').match(`  the ${name} +(https?://[0-9.:]+)`)?.[1] ?? '',
  )
  assert.equal((await fetch(`${urls[1]}/v2/`)).status, 200)
  const release = printed.join('\n').match(/docker:\/\/quay\.io\/\S+@sha256:\w{64}/)?.[0] ?? ''
  await pullWithSkopeo(t, release, directory)

  child.kill('SIGINT')
  assert.deepEqual(await once(child, 'close'), [0, null])
  for (const url of urls) await assert.rejects(fetch(`${url}/v2/`), hasRefused)
  assert.ok((await readdir(directory)).includes('isc.yaml'), 'the files stay')
})

function hasRefused(error: unknown): boolean {
  return error instanceof Error && hasSystemCode(error.cause, 'ECONNREFUSED')
}

/** Fits a terminal, names files that are there, and tells no password. */
async function assertReadable(printed: readonly string[], directory: string): Promise<void> {
  const own = printed.filter((line) => !line.includes(directory) && !line.includes('docker://quay.io'))
  assert.deepEqual(
    own.filter((line) => line.length > 80),
    [],
  )
  const numbered = printed.filter((line) => /^\[\d+\/\d+\] /.test(line))
  assert.equal(numbered.length, quickstartSteps.length)
  const password = (await readFile(join(directory, 'mirror/admin.password'), 'utf8')).trim()
  assert.ok(!printed.some((line) => line.includes(password)))
  for (const secret of ['mirror/admin.password', 'auth.json', 'mirror/tls/ca.key']) {
    assert.equal((await stat(join(directory, secret))).mode & 0o077, 0, secret)
  }
  const from = printed.findIndex((line) => line.startsWith('Files in ')) + 1
  const named = printed.slice(from, printed.indexOf('', from)).map((line) => line.trim().split(/ +/)[0] ?? '')
  assert.equal(named.length, 9)
  for (const path of named) await stat(join(directory, path))
}

async function pullWithSkopeo(t: TestContext, release: string, directory: string): Promise<void> {
  const skopeo = peer(t, 'skopeo')
  if (skopeo === undefined) return
  const home = await tempDir(t)
  const copy = join(home, 'copy')
  await mkdir(copy)
  const policy = join(home, 'policy.json')
  await writeFile(policy, JSON.stringify({ default: [{ type: 'insecureAcceptAnything' }] }))
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    SSL_CERT_FILE: join(directory, 'mirror/tls/ca.crt'),
    REGISTRY_AUTH_FILE: join(directory, 'auth.json'),
  }
  const conf = join(directory, 'node-registries.conf')
  await promisify(execFile)(skopeo, ['--policy', policy, '--registries-conf', conf, 'copy', release, `dir:${copy}`], {
    env,
  })
  assert.ok((await readdir(copy)).includes('manifest.json'))
}

for (const step of ['upstream', 'mirror']) {
  test(`Ctrl-C during the step "${step}" ends it with 130 and leaves nothing behind`, async (t) => {
    const temporary = await mkdtemp(join(await tempDir(t), 'tmp-'))
    const child = start(t, ['--keep', '--json', '--events', '-'], temporary)
    for await (const line of createInterface(child.stdout)) {
      const event = JSON.parse(line) as { type: string; step?: string }
      if (event.type !== 'quickstart.step-began' || event.step !== step) continue
      child.kill('SIGINT')
      break
    }
    const complaint = child.stderr ? text(child.stderr) : ''
    assert.deepEqual(await once(child, 'close'), [130, null])
    assert.match(await complaint, /error INTERRUPTED/)
    assert.deepEqual(await readdir(temporary), [])
  })
}
