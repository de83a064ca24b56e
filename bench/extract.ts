/**
 * One tool out of a release at a registry, against one GET of the layer that holds it, in the same run.
 *
 *     node tools/build.ts && node bench/extract.ts [--rounds 5] [--tool-mib 600]
 *
 * openshift-install of 600 MiB, a third of that when it is compressed, in the topmost of three layers; those below have 60 and
 * 100 MB and are not to be read. docker-registry on loopback; in turn, medians. Prints Markdown.
 */
import { once } from 'node:events'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { tarFile, writeTar } from '../src/archive/tar/ustar.ts'
import type { Descriptor } from '../src/oci/descriptor.ts'
import { digestOf } from '../src/oci/digest.ts'
import { mediaTypes } from '../src/oci/media-type.ts'
import { sampleBytes } from '../src/quickstart/sample-bytes.ts'
import { type SampleImage, sampleImage } from '../src/quickstart/sample-image.ts'
import { blobOf, sampleLayer } from '../src/quickstart/sample-layer.ts'
import { payloadEntries } from '../src/quickstart/sample-payload.ts'
import { releaseSources } from '../src/quickstart/sample-release.ts'
import { placeholderOf } from '../src/release/patch-binary.ts'
import { startDockerRegistry } from '../testkit/docker-registry.ts'
import { writeToDockerRegistryRoot } from '../testkit/seed.ts'
import { makeLayer } from '../testkit/tar.ts'
import { tempDir } from '../testkit/temp-dir.ts'
import { Cleanups, type Measure, measure, median } from './measure.ts'
import { nodeFirst } from './mirror-tools.ts'
import { startRelay } from './relay.ts'

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, 'tool-mib': { type: 'string', default: '600' } },
})
const program = fileURLToPath(new URL('../dist/sallyport.js', import.meta.url))
const mebibyte = 1024 * 1024
const path = 'usr/bin/openshift-install'
const mediaType = mediaTypes.dockerLayerGzip

/** Of each MiB a third does not compress; the places for the release stand where two thirds are over. */
function makeTool(mebibytes: number): Buffer {
  const tool = Buffer.alloc(mebibytes * mebibyte, 'as compilers repeat themselves ')
  for (let at = 0; at < tool.length; at += mebibyte) {
    const [random = Buffer.alloc(0)] = sampleBytes(`tool/${at}`, 256 * 1024)
    tool.set(random, at)
  }
  let at = Math.floor(tool.length * 0.67)
  for (const mark of ['image', 'version', 'architecture'] as const) at += placeholderOf(mark).copy(tool, at)
  return tool
}

function installerImage(): SampleImage {
  const tar = Buffer.concat([...writeTar([tarFile(path, makeTool(Number(options['tool-mib'])))])])
  const top = { ...blobOf(gzipSync(tar, { level: 1 }), mediaType), diffId: digestOf(tar) }
  const below = [100_000_000, 60_000_000].map((sizeBytes) =>
    sampleLayer({ seed: String(sizeBytes), sizeBytes, mediaType }),
  )
  return sampleImage({ layers: [...below, top], mediaTypes: 'docker' })
}

async function startRelease(t: Cleanups): Promise<{ address: string; layer: Descriptor }> {
  const installer = installerImage()
  const reference = `${releaseSources.registry}/${releaseSources.components}@${installer.digest}`
  const payload = makeLayer(
    payloadEntries([{ name: 'installer', reference, seed: 'installer' }], { version: '4.18.9' }),
    mediaType,
  )
  const release = sampleImage({ layers: [payload], mediaTypes: 'docker', tag: '4.18.9-x86_64' })
  const registry = await startDockerRegistry(t)
  if (!registry) throw new Error('docker-registry is not installed')
  await writeToDockerRegistryRoot(join(registry.root, 'data'), [
    { repository: releaseSources.components, images: [installer] },
    { repository: releaseSources.images, images: [release] },
  ])
  const layer = installer.blobs.at(-2)?.descriptor
  if (!layer) throw new Error('the image has no layer')
  return { address: registry.address, layer }
}

/** Command lines by what they do. */
function waysOf(url: string, directory: string, conf: string): Record<string, readonly string[]> {
  const shell = (script: string) => ['bash', '-o', 'pipefail', '-c', script]
  const file = join(directory, 'by-hand')
  return {
    'curl, one GET of the layer': ['curl', '-sSf', '-o', '/dev/null', url],
    'curl and tar, nothing proven or patched': shell(`curl -sSf ${url} | tar -xzO ${path} > ${file}`),
    'curl, sha256sum and tar, nothing patched': shell(
      `curl -sSf ${url} | tee >(sha256sum > ${file}.sum) | tar -xzO ${path} > ${file}`,
    ),
    'sallyport release extract': extractWords(conf, directory),
  }
}

function extractWords(conf: string, directory: string): readonly string[] {
  const words = ['--command', 'openshift-install', '--command-os', 'linux/amd64', '--no-run']
  return [
    process.execPath,
    program,
    'release',
    'extract',
    '4.18.9',
    ...words,
    '--registries-conf',
    conf,
    '--to',
    directory,
  ]
}

async function writeConf(t: Cleanups, address: string): Promise<string> {
  const file = join(await tempDir(t), 'registries.conf')
  await writeFile(file, `[[registry]]\nprefix = "quay.io"\nlocation = "${address}"\ninsecure = true\n`)
  return file
}

/** How many bytes of answers one extraction takes, of all the layers that there are. */
async function bytesRead(t: Cleanups, address: string, directory: string): Promise<number> {
  const relay = await startRelay(t, address)
  const { failure } = await measure(extractWords(await writeConf(t, relay.address), directory), nodeFirst)
  if (failure !== undefined) throw new Error(failure)
  return relay.count.fromServer
}

/** What was extracted is the tool that was put in, but for the release that it is told. */
async function checkTool(directory: string): Promise<void> {
  const extracted = await readFile(join(directory, 'openshift-install'))
  const tool = makeTool(Number(options['tool-mib']))
  const at = Math.floor(tool.length * 0.67)
  const end =
    at + (['image', 'version', 'architecture'] as const).reduce((sum, mark) => sum + placeholderOf(mark).length, 0)
  const isSame =
    extracted.subarray(0, at).equals(tool.subarray(0, at)) && extracted.subarray(end).equals(tool.subarray(end))
  if (!isSame || !extracted.subarray(at, end).includes('quay.io/')) throw new Error('another tool was extracted')
}

async function run(t: Cleanups): Promise<void> {
  const { address, layer } = await startRelease(t)
  const directory = await tempDir(t)
  const conf = await writeConf(t, address)
  const url = `http://${address}/v2/${releaseSources.components}/blobs/${layer.digest}`
  const read = await bytesRead(t, address, directory)
  await checkTool(directory)
  const found = new Map<string, Measure[]>()
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const [name, words] of Object.entries(waysOf(url, directory, conf))) {
      await rm(join(directory, 'openshift-install'), { force: true })
      const result = await measure(words, nodeFirst)
      if (result.failure !== undefined) throw new Error(`${name}: ${result.failure}`)
      found.set(name, [...(found.get(name) ?? []), result])
    }
  }
  const wall = (name: string) => median((found.get(name) ?? []).map(({ wallSeconds }) => wallSeconds))
  const [first = ''] = found.keys()
  const lines = [...found].map(([name, all]) => {
    const cpu = median(all.map(({ cpuSeconds }) => cpuSeconds))
    const peak = Math.max(...all.map(({ peakMiB }) => peakMiB))
    return `| ${name} | **${wall(name).toFixed(2)}** | ${cpu.toFixed(2)} | ${peak.toFixed(0)} | ${(wall(name) / wall(first)).toFixed(2)} |`
  })
  const text = [
    `| ${options['tool-mib']} MiB, ${(layer.size / mebibyte).toFixed(0)} MiB compressed | wall s | CPU s | peak MiB | ÷ GET |`,
    '|---|---|---|---|---|',
    ...lines,
    '',
    `Bytes of all answers, heads included: ${read}, ${(read / layer.size).toFixed(4)} × the one layer that holds the tool.`,
  ]
  process.stdout.write(`${text.join('\n')}\n`)
  if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain')
}

const cleanups = new Cleanups()
try {
  await run(cleanups)
} finally {
  await cleanups.run()
}
