/**
 * The contents of a release read from a registry, against one GET of the layers that hold them, in the same run.
 *
 *     node tools/build.ts && node bench/payload.ts [--rounds 9] [--archive FILE] [--times 1]
 *
 * 190 components. The release image has layers of 60 and 100 MB below the one with the payload: they are not to be read. The
 * payload is that of 4.12.0 (643 files), or what is in a tar.gz, `--times` times over. In turn, over loopback and over
 * links as slow as those to a registry far away; medians. Prints Markdown.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { extract } from 'tar-stream'
import { loadRegistriesConf } from '../src/config/registries-conf.ts'
import { systemClock } from '../src/host/clock.ts'
import { createLog } from '../src/host/log.ts'
import type { Descriptor } from '../src/oci/descriptor.ts'
import { mediaTypes } from '../src/oci/media-type.ts'
import { sampleImage } from '../src/quickstart/sample-image.ts'
import { sampleLayer } from '../src/quickstart/sample-layer.ts'
import { payloadEntries } from '../src/quickstart/sample-payload.ts'
import { releaseSources, sampleRelease } from '../src/quickstart/sample-release.ts'
import { readReleaseContents } from '../src/release/payload-contents.ts'
import { createRegistryClient } from '../src/remote/client.ts'
import { noCredentials } from '../src/remote/credentials.ts'
import { withRegistriesConf } from '../src/remote/registries-conf-source.ts'
import { startDockerRegistry } from '../testkit/docker-registry.ts'
import { peer } from '../testkit/peers.ts'
import { writeToDockerRegistryRoot } from '../testkit/seed.ts'
import { makeLayer } from '../testkit/tar.ts'
import { tempDir } from '../testkit/temp-dir.ts'
import { Cleanups, median } from './measure.ts'
import { nodeFirst } from './mirror-tools.ts'
import { startRelay } from './relay.ts'
import { startSlowLink } from './slow-link.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    archive: { type: 'string' },
    times: { type: 'string', default: '1' },
    read: { type: 'string' },
    'registries-conf': { type: 'string' },
  },
})
const program = fileURLToPath(new URL('../dist/sallyport.js', import.meta.url))
const shared = fileURLToPath(
  new URL('../../shared/data/release/payload-4.12.0/ocp-4.12.0-x86_64-release-manifests.tar.gz', import.meta.url),
)

/** The files of a `.tar.gz` with `release-manifests/`, by their paths below it. */
async function realManifests(): Promise<Record<string, string>> {
  const archive = options.archive ?? shared
  if (!existsSync(archive))
    throw new Error(`${archive} is not here: name a tar.gz with release-manifests/ by --archive`)
  const tar = extract()
  tar.end(gunzipSync(await readFile(archive)))
  const files: Record<string, string> = {}
  for await (const entry of tar) {
    const content = Buffer.concat(await Array.fromAsync(entry as AsyncIterable<Buffer>)).toString('utf8')
    const path = entry.header.name.replace(/^release-manifests\//, '')
    if (entry.header.type !== 'file' || /^(?:image-references|release-metadata)$/.test(path)) continue
    for (let copy = 0; copy < Number(options.times); copy += 1) files[copy === 0 ? path : `${copy}_${path}`] = content
  }
  return files
}

async function startRelease(t: Cleanups) {
  const { components } = sampleRelease({ seed: 'bench', version: '4.18.9', layerBytes: 2000, sharedLayerBytes: 4000 })
  const repository = `${releaseSources.registry}/${releaseSources.components}`
  const named = components.map(({ name, image }) => ({ name, reference: `${repository}@${image.digest}`, seed: name }))
  const payload = makeLayer(
    payloadEntries(named, { version: '4.18.9', manifests: await realManifests() }),
    mediaTypes.dockerLayerGzip,
  )
  const below = [100_000_000, 60_000_000].map((sizeBytes) =>
    sampleLayer({ seed: String(sizeBytes), sizeBytes, mediaType: mediaTypes.dockerLayerGzip }),
  )
  const image = sampleImage({ layers: [...below, payload], mediaTypes: 'docker', tag: '4.18.9-x86_64' })
  const registry = await startDockerRegistry(t)
  if (!registry) throw new Error('docker-registry is not installed')
  await writeToDockerRegistryRoot(join(registry.root, 'data'), [
    { repository: releaseSources.components, images: components.map((component) => component.image) },
    { repository: releaseSources.images, images: [image] },
  ])
  return { address: registry.address, layer: payload.descriptor }
}

const reference = { registry: releaseSources.registry, repository: releaseSources.images, tag: '4.18.9-x86_64' }

/** Milliseconds from the question to the contents, in this process, which has not read anything before. */
async function readHere(file: string, withImages: boolean): Promise<number> {
  const { conf } = await loadRegistriesConf({ path: file, env: {} })
  const client = createRegistryClient({
    clock: systemClock,
    log: createLog('error', () => undefined),
    credentials: noCredentials,
    tls: { certsDirs: [] },
    proxies: { noProxy: '' },
  })
  const startedAt = performance.now()
  const source = withRegistriesConf(client, conf)
  const { components } = await readReleaseContents(reference, { source, withImages })
  const milliseconds = performance.now() - startedAt
  client.close()
  if (components.length !== 190 || components.some(({ problem }) => problem)) throw new Error('it was not read whole')
  return milliseconds
}

interface Timed {
  /** Of the process, from its start to its end. */
  readonly milliseconds: number
  readonly output: string
}

async function run([word = '', ...words]: readonly string[]): Promise<Timed> {
  const startedAt = performance.now()
  const child = spawn(word, words, { env: { ...process.env, ...nodeFirst }, stdio: ['ignore', 'pipe', 'inherit'] })
  const output = text(child.stdout)
  const [status] = (await once(child, 'close')) as [number | null]
  if (status !== 0) throw new Error(`${word} ended with ${status}`)
  return { milliseconds: performance.now() - startedAt, output: await output }
}

async function wallOf(...command: readonly string[]): Promise<number> {
  return (await run(command)).milliseconds
}

/** In a process of its own, whose start does not count. */
async function readApart(file: string, what: 'contents' | 'images'): Promise<number> {
  const self = fileURLToPath(import.meta.url)
  return Number((await run([process.execPath, self, '--read', what, '--registries-conf', file])).output)
}

async function writeConf(t: Cleanups, address: string): Promise<string> {
  const file = join(await tempDir(t), 'registries.conf')
  await writeFile(file, `[[registry]]\nprefix = "quay.io"\nlocation = "${address}"\ninsecure = true\n`)
  return file
}

interface Link {
  readonly name: string
  /** `HOST:PORT` */
  readonly address: string
}

/** One line of the table. A peer that is not installed ends the run. */
async function compare(t: Cleanups, { name, address }: Link, layer: Descriptor): Promise<void> {
  const file = await writeConf(t, address)
  const url = `http://${address}/v2/${releaseSources.images}/blobs/${layer.digest}`
  const crane = peer(t, 'crane') ?? ''
  const flags = ['release', 'info', '4.18.9', '--pullspecs', '--registries-conf', file]
  const ways = {
    get: () => wallOf('curl', '-sSf', '-o', '/dev/null', url),
    crane: () => wallOf(crane, 'blob', '--insecure', `${address}/${releaseSources.images}@${layer.digest}`),
    tar: () => wallOf('sh', '-c', `curl -sSf ${url} | tar -xzO release-manifests/image-references`),
    contents: () => readApart(file, 'contents'),
    images: () => readApart(file, 'images'),
    program: () => wallOf(process.execPath, program, ...flags),
  }
  const found: Record<keyof typeof ways, number[]> = {
    get: [],
    crane: [],
    tar: [],
    contents: [],
    images: [],
    program: [],
  }
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const way of Object.keys(ways) as (keyof typeof ways)[]) found[way].push(await ways[way]())
  }
  const get = median(found.get)
  const cell = (way: keyof typeof ways) => {
    const middle = median(found[way])
    return `${middle.toFixed(0)} (${(middle / get).toFixed(2)})`
  }
  print(
    `| ${name} | ${get.toFixed(0)} | **${cell('contents')}** | ${cell('crane')} | ${cell('tar')} | ${cell('images')} | ${cell('program')} |`,
  )
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Bytes that the registry is asked for, against those of the layer. */
async function countBytes(t: Cleanups, address: string, layer: Descriptor): Promise<void> {
  const relay = await startRelay(t, address)
  await readApart(await writeConf(t, relay.address), 'contents')
  const { fromServer } = relay.count
  print(
    `\nRead from the registry, heads of answers included: ${fromServer} bytes, ${(fromServer / layer.size).toFixed(3)} × the layer.`,
  )
}

async function compareAll(t: Cleanups): Promise<void> {
  const { address, layer } = await startRelease(t)
  const size = `${(layer.size / 2 ** 20).toFixed(1)} MiB`
  print(`190 components; payload layer ${size}; ${options.rounds} rounds; medians in ms, and ÷ GET.\n`)
  print(
    '| link | one GET (curl) | contents | crane blob | curl and tar | and 190 manifests | the whole program |\n|---|---|---|---|---|---|',
  )
  await compare(t, { name: 'loopback', address }, layer)
  for (const [name, megabits, roundTripMs] of [
    ['1 Gbit/s, 5 ms there and back', 1000, 5],
    ['100 Mbit/s, 20 ms', 100, 20],
  ] as const) {
    const link = await startSlowLink(t, address, { bytesPerSecond: (megabits * 1e6) / 8, roundTripMs })
    await compare(t, { name, address: link.address }, layer)
  }
  await countBytes(t, address, layer)
}

const { read, 'registries-conf': conf } = options
if (read !== undefined && conf !== undefined) print(String(await readHere(conf, read === 'images')))
else {
  const t = new Cleanups()
  try {
    await compareAll(t)
  } finally {
    await t.run()
  }
}
