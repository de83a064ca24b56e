/** Mirroring to a disk and from it, where something goes wrong or was here before. */
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeImage } from '../../testkit/image.ts'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { type ScriptedRegistry, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { smallDisk } from '../../testkit/small-disk.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText, releaseName, startUpstream, type Upstream } from '../../testkit/upstream.ts'

interface Scene {
  readonly upstream: Upstream
  readonly desk: string
  readonly closed: ScriptedRegistry
  readonly target: string
  configure(options?: { failurePolicy?: object; additional?: readonly { name: string }[] }): Promise<void>
  write(directory: string, ...args: readonly string[]): Promise<CliResult>
  load(directory: string, ...args: readonly string[]): Promise<CliResult>
}

async function scene(t: TestContext): Promise<Scene> {
  const upstream = await startUpstream(t, { release: { components: 4 } })
  const closed = await startScriptedRegistry(t, { hasReferrersApi: true })
  const desk = await tempDir(t)
  const isc = join(desk, 'isc.yaml')
  const target = `docker://${closed.address}/ocp`
  const configure: Scene['configure'] = async ({ failurePolicy, additional = upstream.additional } = {}) => {
    const document = JSON.parse(imageSetText({ release: releaseName(upstream.release), additional })) as object
    await writeFile(isc, JSON.stringify({ ...document, ...(failurePolicy && { failurePolicy }) }))
  }
  await configure()
  const open = ['--workspace', join(desk, 'open'), '--registries-conf', upstream.registriesConf, '--retry-times', '0']
  const inside = ['--workspace', join(desk, 'closed'), '--dest-tls-verify=false']
  return {
    ...{ upstream, desk, closed, target, configure },
    write: (directory, ...args) =>
      runCli(['mirror', '-c', isc, '--ignore-release-signature', ...open, ...args, `file://${directory}`]),
    load: (directory, ...args) => runCli(['mirror', '--from', directory, ...inside, ...args, target]),
  }
}

function status(result: CliResult, expected: number): string {
  assert.equal(result.status, expected, `${result.stdout}${result.stderr}`)
  return result.stdout
}

async function volumes(directory: string): Promise<string[]> {
  return (await readdir(directory)).filter((name) => name.startsWith('sallyport-')).sort()
}

test('what cannot be had is a hole that both sides name, and the next archive brings it', async (t) => {
  const { upstream, desk, configure, write, load } = await scene(t)
  const late = makeImage({ seed: 'late', tag: '1' })
  await configure({ additional: [...upstream.additional, { name: 'quay.io/extra/late:1' }] })
  const [first, second] = [join(desk, 'first'), join(desk, 'second')]
  const out = status(await write(first), 8)
  assert.match(out, /archive 1 \(full/)
  assert.match(out, /extra\/late/)
  const loaded = status(await load(first), 8)
  assert.match(loaded, /extra\/late:1[^\n]*was not to be had/)
  await pushAll(testClient(t).client, upstream.registry.address, [{ repository: 'extra/late', images: [late] }])
  const json = JSON.parse(status(await write(second, '--json'), 0)) as { archive: { sequence: number; totals: object } }
  assert.deepEqual([json.archive.sequence, json.archive.totals], [2, { blobs: 3, manifests: 1, bytes: bytesOf(late) }])
  status(await load(second), 0)
})

test('a hole in one archive that the next one fills keeps neither from being loaded, and is no failure in the end', async (t) => {
  const { upstream, desk, configure, write, load } = await scene(t)
  const late = makeImage({ seed: 'late', tag: '1' })
  const disk = join(desk, 'disk')
  await configure({ additional: [...upstream.additional, { name: 'quay.io/extra/late:1' }] })
  status(await write(disk), 8)
  await pushAll(testClient(t).client, upstream.registry.address, [{ repository: 'extra/late', images: [late] }])
  status(await write(disk), 0)
  assert.match(status(await load(disk), 0), /archive 1 \(full\)[\s\S]*was not to be had[\s\S]*archive 2 \(increment\)/)
})

function bytesOf({ blobs, manifests }: ReturnType<typeof makeImage>): number {
  const sizes = [...blobs.map(({ descriptor }) => descriptor.size), ...manifests.map(({ bytes }) => bytes.byteLength)]
  return sizes.reduce((sum, size) => sum + size, 0)
}

test('a blob that fails leaves zeros in its place, and everything else of the archive is whole', async (t) => {
  const { upstream, desk, write, load } = await scene(t)
  const [image] = upstream.additional
  const layer = image?.image.blobs.at(-1)?.descriptor.digest ?? ''
  upstream.registry.fault({ path: new RegExp(`/blobs/${layer}`), status: 500 })
  const disk = join(desk, 'disk')
  assert.match(status(await write(disk), 8), /failed/)
  assert.match(status(await runCli(['archive', 'verify', disk]), 0), /hole/)
  const out = status(await load(disk), 8)
  assert.match(out, /1 image|failed/)
})

test('of an image that lost one blob in an archive, the next archive brings all that the other side left in the first', async (t) => {
  const { upstream, desk, configure, write, load } = await scene(t)
  const fresh = makeImage({ seed: 'fresh', tag: '1', layers: 3 })
  await pushAll(testClient(t).client, upstream.registry.address, [{ repository: 'extra/fresh', images: [fresh] }])
  await configure({ additional: [...upstream.additional, { name: 'quay.io/extra/fresh:1' }] })
  const layer = fresh.blobs.at(-1)?.descriptor.digest ?? ''
  upstream.registry.fault({ path: new RegExp(`/blobs/${layer}`), times: 1, status: 404 })
  const [first, second] = [join(desk, 'first'), join(desk, 'second')]
  assert.match(status(await write(first), 8), /extra\/fresh/)
  status(await load(first), 8)
  const json = JSON.parse(status(await write(second, '--json'), 0)) as { archive: { totals: object } }
  assert.deepEqual(json.archive.totals, { blobs: 4, manifests: 1, bytes: bytesOf(fresh) })
  status(await load(second), 0)
  assert.match(status(await write(join(desk, 'third')), 0), /nothing new/)
})

test('the failure policy decides what a missing image means: an exit status, a word, or nothing at all', async (t) => {
  const { desk, configure, write } = await scene(t)
  const additional = [{ name: 'quay.io/extra/none:1' }]
  await configure({ additional, failurePolicy: { additional: 'warn' } })
  assert.match(status(await write(join(desk, 'warned')), 0), /extra\/none/)
  assert.match(status(await write(join(desk, 'failed'), '--full', '--on-failure', 'additional=fail'), 8), /extra\/none/)
  const skipped = status(await write(join(desk, 'skipped'), '--full', '--on-failure', 'additional=skip'), 0)
  assert.doesNotMatch(skipped, /extra\/none/)
})

test('--retry-failed tries what failed the last time, and asks for nothing else', async (t) => {
  const { upstream, desk, configure, write } = await scene(t)
  const late = makeImage({ seed: 'late', tag: '1' })
  await configure({ additional: [...upstream.additional, { name: 'quay.io/extra/late:1' }] })
  status(await write(join(desk, 'first')), 8)
  await pushAll(testClient(t).client, upstream.registry.address, [{ repository: 'extra/late', images: [late] }])
  upstream.registry.requests.length = 0
  status(await write(join(desk, 'second'), '--retry-failed'), 0)
  const asked = new Set(
    upstream.registry.requests
      .filter(({ method }) => method === 'GET')
      .map(({ path }) => path.replace(/\/(?:manifests|blobs|referrers)\/.*/, '')),
  )
  assert.deepEqual(
    [...asked].filter((path) => path !== '/v2/' && !path.includes('extra/late')),
    [],
  )
})

test('with nothing new no archive is written, and neither a blob nor a manifest is read', async (t) => {
  const { upstream, desk, write } = await scene(t)
  status(await write(join(desk, 'first')), 0)
  upstream.registry.requests.length = 0
  assert.match(status(await write(join(desk, 'second')), 0), /nothing new/)
  const read = upstream.registry.requests.filter(
    ({ method, path }) => method === 'GET' && /\/(blobs|manifests)\//.test(path),
  )
  assert.deepEqual(read, [])
  await assert.rejects(readdir(join(desk, 'second')), { code: 'ENOENT' })
})

test('an archive out of order, or for another target, is refused with what is missing, and loaded where that is wanted', async (t) => {
  const { upstream, desk, configure, write, load } = await scene(t)
  const [first, second, foreign] = ['first', 'second', 'foreign'].map((name) => join(desk, name)) as [
    string,
    string,
    string,
  ]
  await configure({ additional: upstream.additional.slice(1) })
  status(await write(first), 0)
  await configure()
  status(await write(second), 0)
  const refused = await load(second)
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /ARCHIVE_OUT_OF_ORDER[\s\S]*archive 1 is missing/i)
  status(await load(first), 0)
  status(await load(second), 0)
  status(await write(foreign, '--full', '--for', 'other.lab:8443/ocp'), 0)
  const other = await load(foreign)
  assert.match(other.stderr, /ARCHIVE_OTHER_TARGET[\s\S]*other\.lab:8443\/ocp/)
  status(await load(foreign, '--accept-order'), 0)
})

test('a disk without room for the archive is told before the first byte, and with room the same command writes it', async (t) => {
  const { upstream, configure, write, load } = await scene(t)
  const disk = await smallDisk(t, 600_000)
  if (!disk) return
  const big = makeImage({ seed: 'big', layers: 2, layerBytes: 900_000, tag: '1' })
  await pushAll(testClient(t).client, upstream.registry.address, [{ repository: 'extra/big', images: [big] }])
  await configure({ additional: [{ name: 'quay.io/extra/big:1' }] })
  const full = await write(disk.path)
  assert.equal(full.status, 1)
  assert.match(full.stderr, /DISK_FULL[\s\S]*nothing was written[\s\S]*needs \d MiB/)
  assert.deepEqual(await volumes(disk.path), [])
  await disk.free()
  status(await write(disk.path), 0)
  assert.deepEqual(await volumes(disk.path), ['sallyport-v1-000001-0001.tar'])
  status(await load(disk.path), 0)
})

test('an archive that is signed is known by its key, and any other is refused', async (t) => {
  const { desk, write, load } = await scene(t)
  const keys = join(desk, 'keys')
  status(await runCli(['archive', 'keygen', keys]), 0)
  const names = await readdir(keys).catch(async () => (await readdir(desk)).filter((name) => name.startsWith('keys')))
  assert.ok(names.length >= 2, names.join())
  const at = async (pattern: string) => {
    for (const name of [...names.map((one) => join(keys, one)), ...names.map((one) => join(desk, one))]) {
      const text = await readFile(name, 'utf8').catch(() => '')
      if (text.includes(pattern)) return name
    }
    throw new Error(pattern)
  }
  const disk = join(desk, 'disk')
  status(await write(disk, '--sign-key', await at('PRIVATE KEY')), 0)
  status(await load(disk, '--verify-key', await at('PUBLIC KEY')), 0)
  const unsigned = join(desk, 'unsigned')
  status(await write(unsigned, '--full'), 0)
  const refused = await load(unsigned, '--verify-key', await at('PUBLIC KEY'))
  assert.match(refused.stderr, /SIGNATURE_INVALID/)
})
