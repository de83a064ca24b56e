import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type Digest, digestOf } from '../../src/oci/digest.ts'
import { sampleFraction } from '../../src/quickstart/sample-bytes.ts'
import { type CountingProxy, startCountingProxy } from '../../testkit/counting-proxy.ts'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { makeImage } from '../../testkit/image.ts'
import type { MirrorChildOptions } from '../../testkit/mirror-child.ts'
import { snapshotRegistry } from '../../testkit/registry-snapshot.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import {
  blobsOfContent,
  imageSetText,
  imagesOfEveryKind,
  releaseName,
  startUpstream,
  writeRegistriesConf,
} from '../../testkit/upstream.ts'

/** How often each side is killed. CI takes a few; before a release take a hundred. */
const kills = Number(process.env['SALLYPORT_KILLS'] ?? 8)
/** Where a failure is to be repeated: the same seed kills after the same bytes. */
const seed = process.env['SALLYPORT_SEED'] ?? `${Date.now()}`
const chunkBytes = 256 * 1024
const concurrency = 4
/** The writer notes how far it is this often, and may have as much waiting (src/archive/write/write-archive.ts). */
const notedEveryBytes = 8 * 1024 * 1024

const childFile = fileURLToPath(new URL('../../testkit/mirror-child.ts', import.meta.url))

async function runChild(options: MirrorChildOptions, proxy?: CountingProxy, killAfter = Number.POSITIVE_INFINITY) {
  const child = spawn(process.execPath, [childFile, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'pipe'] })
  const moved = () => (proxy ? proxy.blobBytes + proxy.readBytes : 0)
  const limit = moved() + killAfter
  if (proxy) {
    proxy.onBytes = () => {
      if (moved() >= limit) child.kill('SIGKILL')
    }
  }
  const [stderr, [status, signal]] = await Promise.all([text(child.stderr), once(child, 'close')])
  if (proxy) proxy.onBytes = undefined
  return { status, signal, stderr }
}

/** Kills the same run again and again, then lets it end. */
async function runKilled(
  options: MirrorChildOptions,
  proxy: CountingProxy,
  { name, bytes }: { name: string; bytes: number },
) {
  let killed = 0
  for (let round = 0; round < kills; round += 1) {
    const killAfter = Math.floor((sampleFraction(`${seed}/${name}/${round}`) * bytes) / kills)
    const { signal, status, stderr } = await runChild(options, proxy, killAfter)
    if (signal === 'SIGKILL') killed += 1
    else assert.equal(status, 0, stderr)
  }
  const last = await runChild(options, proxy)
  assert.equal(last.status, 0, last.stderr)
  // Nothing is done twice, so that a run that is killed very often is done before the last kill.
  assert.ok(killed >= Math.min(kills / 2, 20), `only ${killed} of ${kills} were killed before they were done`)
  return killed
}

async function volumesIn(directory: string): Promise<Record<string, Digest>> {
  const names = (await readdir(directory)).filter((name) => name.startsWith('sallyport-')).sort()
  const digests = await Promise.all(
    names.map(async (name) => [name, digestOf(await readFile(join(directory, name)))] as const),
  )
  return Object.fromEntries(digests)
}

async function scene(t: TestContext) {
  const every = imagesOfEveryKind()
  const big = makeImage({ seed: 'big', layers: 5, layerBytes: 2_500_000, tag: 'big' })
  const upstream = await startUpstream(t, {
    release: { components: 6 },
    images: {
      content: [...every.content, { repository: 'extra/big', images: [big] }],
      additional: [...every.additional, { name: 'quay.io/extra/big:big', destination: 'extra/big:big', image: big }],
    },
  })
  const config = imageSetText({ release: releaseName(upstream.release), additional: upstream.additional })
  const bytes = [...blobsOfContent(upstream.content).values()].reduce((total, size) => total + size, 0)
  const common = { config, chunkBytes, concurrency, target: 'docker://unused.invalid/ocp' }
  return { upstream, bytes, common }
}

test('an archive whose writing and loading are killed again and again crosses as one that nobody disturbed', async (t) => {
  t.diagnostic(`SALLYPORT_SEED=${seed} SALLYPORT_KILLS=${kills}`)
  const { upstream, bytes, common } = await scene(t)
  const outward = await startCountingProxy(t, upstream.registry.address)
  const registriesConf = await writeRegistriesConf(t, outward.address)
  const write = async (): Promise<MirrorChildOptions & { disk: { directory: string } }> => ({
    ...{ ...common, registriesConf, workspace: await tempDir(t) },
    disk: { directory: await tempDir(t), volumeBytes: 2 * 1024 * 1024 },
  })
  const [calm, disturbed] = [await write(), await write()]
  assert.equal((await runChild(calm)).status, 0)
  outward.readBytes = 0
  const written = await runKilled(disturbed, outward, { name: 'write', bytes })
  t.diagnostic(`writing: ${written} kills, ${outward.readBytes} bytes read for ${bytes}`)
  assert.deepEqual(await volumesIn(disturbed.disk.directory), await volumesIn(calm.disk.directory))
  assert.ok(outward.readBytes <= bytes + written * notedEveryBytes, `${outward.readBytes} bytes were read for ${bytes}`)

  const [direct, target] = [await startEmbeddedRegistry(t), await startEmbeddedRegistry(t)]
  const inward = await startCountingProxy(t, target.address)
  const load = { ...common, registriesConf, from: calm.disk.directory }
  assert.equal(
    (await runChild({ ...load, workspace: await tempDir(t), target: `docker://${direct.address}/ocp` })).status,
    0,
  )
  const loading = { ...load, workspace: await tempDir(t), target: `docker://${inward.address}/ocp` }
  const loaded = await runKilled(loading, inward, { name: 'load', bytes })
  t.diagnostic(`loading: ${loaded} kills, ${inward.blobBytes} bytes arrived for ${bytes}`)
  assert.deepEqual(await snapshotRegistry(target.url), await snapshotRegistry(direct.url))
  const most = bytes + loaded * concurrency * chunkBytes
  assert.ok(inward.blobBytes <= most, `${inward.blobBytes} bytes arrived, ${most} would be all that may`)
})
