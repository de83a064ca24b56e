import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sampleFraction } from '../../src/quickstart/sample-bytes.ts'
import { type CountingProxy, startCountingProxy } from '../../testkit/counting-proxy.ts'
import { startDockerRegistry } from '../../testkit/docker-registry.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { makeImage } from '../../testkit/image.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { type RegistrySnapshot, snapshotRegistry } from '../../testkit/registry-snapshot.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { blobsOfContent, imageSetText, imagesOfEveryKind, releaseName, startUpstream } from '../../testkit/upstream.ts'

/** How often the mirror is killed. CI takes a few; before a release take a hundred. */
const kills = Number(process.env['SALLYPORT_KILLS'] ?? 12)
/** Where a failure is to be repeated: the same seed kills after the same bytes. */
const seed = process.env['SALLYPORT_SEED'] ?? `${Date.now()}`
const chunkBytes = 256 * 1024
const concurrency = 4
const bigLayerBytes = 2_500_000

const childFile = fileURLToPath(new URL('../../testkit/mirror-child.ts', import.meta.url))
const mainFile = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

async function scene(t: TestContext) {
  const every = imagesOfEveryKind()
  const big = makeImage({ seed: 'big', layers: 5, layerBytes: bigLayerBytes, tag: 'big' })
  const upstream = await startUpstream(t, {
    release: { components: 6 },
    images: {
      content: [...every.content, { repository: 'extra/big', images: [big] }],
      additional: [...every.additional, { name: 'quay.io/extra/big:big', destination: 'extra/big:big', image: big }],
    },
  })
  const { release, additional, registriesConf, content } = upstream
  const config = imageSetText({ release: releaseName(release), additional })
  const [, ...referrers] = content.find(({ repository }) => repository === 'extra/subject')?.images ?? []
  const untagged = referrers.map(({ digest }) => `ocp/extra/subject@${digest}`)
  const uniqueBytes = [...blobsOfContent(content).values()].reduce((total, size) => total + size, 0)
  return { config, registriesConf, uniqueBytes, untagged }
}

type Scene = Awaited<ReturnType<typeof scene>>

/** What a run that nobody disturbs leaves behind. */
async function undisturbed(t: TestContext, { untagged, ...run }: Scene): Promise<RegistrySnapshot> {
  const registry = await startEmbeddedRegistry(t)
  await runMirror(t, { ...run, target: `docker://${registry.address}/ocp`, workspace: await tempDir(t) })
  return snapshotRegistry(registry.url, untagged)
}

interface ChildRun {
  readonly config: string
  readonly registriesConf: string
  readonly target: string
  readonly workspace: string
}

/** Runs a mirror; it is killed as soon as `killAfter` more bytes of blobs have reached the proxy. */
async function runChild(run: ChildRun, proxy: CountingProxy, killAfter = Number.POSITIVE_INFINITY) {
  const child = spawn(process.execPath, [childFile, JSON.stringify({ ...run, chunkBytes, concurrency })], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const limit = proxy.blobBytes + killAfter
  proxy.onBytes = () => {
    if (proxy.blobBytes >= limit) child.kill('SIGKILL')
  }
  const [stderr, [status, signal]] = await Promise.all([text(child.stderr), once(child, 'close')])
  proxy.onBytes = undefined
  return { status, signal, stderr }
}

for (const kind of ['embedded', 'docker'] as const) {
  test(`a mirror into the ${kind} registry that is killed again and again ends as one that nobody disturbed`, async (t) => {
    t.diagnostic(`SALLYPORT_SEED=${seed} SALLYPORT_KILLS=${kills}`)
    const made = await scene(t)
    const { config, registriesConf, uniqueBytes, untagged } = made
    const wanted = kind === 'embedded' ? kills : Math.ceil(kills / 3)
    const target = kind === 'embedded' ? await serveRegistry(t) : await startDockerRegistry(t)
    if (!target) return
    const expected = await undisturbed(t, made)
    const proxy = await startCountingProxy(t, target.address)
    const run = { config, registriesConf, target: `docker://${proxy.address}/ocp`, workspace: await tempDir(t) }

    let killed = 0
    for (let round = 0; round < wanted; round += 1) {
      const killAfter = Math.floor((sampleFraction(`${seed}/${round}`) * uniqueBytes) / wanted)
      const { signal, status, stderr } = await runChild(run, proxy, killAfter)
      if (signal === 'SIGKILL') killed += 1
      else assert.equal(status, 0, stderr)
    }
    const last = await runChild(run, proxy)
    assert.equal(last.status, 0, last.stderr)
    t.diagnostic(`${killed} kills, ${proxy.blobBytes} bytes for ${uniqueBytes}`)
    assert.ok(killed >= wanted / 2, `only ${killed} of ${wanted} were killed before they were done`)

    assert.deepEqual(withoutFallbackTags(await snapshotRegistry(`http://${target.address}`, untagged)), expected)
    // distribution signs the offset into the session, so that one that was cut inside a chunk is lost as a whole
    // (registry/handlers/blobupload.go:ResumeBlobUpload); ours goes on from the byte that it has.
    const most = uniqueBytes + killed * concurrency * (kind === 'embedded' ? chunkBytes : bigLayerBytes)
    assert.ok(proxy.blobBytes <= most, `${proxy.blobBytes} bytes arrived, ${most} would be all that may`)
    const before = proxy.blobBytes
    assert.equal((await runChild(run, proxy)).status, 0)
    assert.equal(proxy.blobBytes, before, 'nothing is left to move')
  })
}

/** docker-registry has no referrers API: clients keep an index for each subject under a tag in its place. */
function withoutFallbackTags(snapshot: RegistrySnapshot): RegistrySnapshot {
  const entries = Object.entries(snapshot)
  const tags = entries.filter(([name]) => /\/subject:sha256-[0-9a-f]{64}$/.test(name))
  const extra = new Set(tags.flatMap(([name, digest]) => [name, `${name.split(':')[0]}@${digest}`]))
  return Object.fromEntries(entries.filter(([name]) => !extra.has(name)))
}

test('a registry that is killed while a mirror runs into it loses nothing that it said it had', async (t) => {
  const made = await scene(t)
  const { config, registriesConf, uniqueBytes, untagged } = made
  const expected = await undisturbed(t, made)
  const registry = await serveRegistry(t)
  const proxy = await startCountingProxy(t, registry.address)
  const run = { config, registriesConf, target: `docker://${proxy.address}/ocp`, workspace: await tempDir(t) }
  for (let round = 0; round < 3; round += 1) {
    const limit = proxy.blobBytes + Math.floor((sampleFraction(`${seed}/registry/${round}`) * uniqueBytes) / 2)
    const running = runChild(run, proxy)
    let restarted: Promise<void> | undefined
    proxy.onBytes = () => {
      if (proxy.blobBytes >= limit) restarted ??= registry.killAndRestart()
    }
    await running
    await restarted
  }
  const last = await runChild(run, proxy)
  assert.equal(last.status, 0, last.stderr)
  assert.deepEqual(await snapshotRegistry(`http://${registry.address}`, untagged), expected)
})

/** Our registry in a process of its own, that can be killed and comes back at the same address. */
async function serveRegistry(t: TestContext) {
  const root = await tempDir(t)
  const address = `127.0.0.1:${await freePort()}`
  const start = async (): Promise<ChildProcess> => {
    const args = [mainFile, 'registry', 'serve', '--root', root, '--listen', address]
    const child = spawn(process.execPath, args, { stdio: 'ignore' })
    await answers(address, child)
    return child
  }
  let child = await start()
  t.after(() => child.kill('SIGKILL'))
  return {
    address,
    killAndRestart: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      child = await start()
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function answers(address: string, child: ChildProcess): Promise<void> {
  const [host = '', port] = address.split(':')
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the registry ended with ${child.exitCode}`)
    const socket = connect(Number(port), host)
    const isUp = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => setTimeout(() => resolve(false), 20))
    })
    socket.destroy()
    if (isUp) return
  }
}
