/**
 * A release onto a disk and from it into a registry, against the same bytes by parallel `curl`: reading the unique blobs into
 * a file each, and pushing those files.
 *
 *     node tools/build.ts && node bench/crossing.ts [--runs 3]
 *
 * 190 images over 6 shared base layers, 2.7 GiB unique, docker-registry on both sides. Prints Markdown.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { releaseSources, sampleRelease } from '../src/quickstart/sample-release.ts'
import { startDockerRegistry } from '../testkit/docker-registry.ts'
import { releaseContent, writeToDockerRegistryRoot } from '../testkit/seed.ts'
import { tempDir } from '../testkit/temp-dir.ts'
import { blobsOfContent } from '../testkit/upstream.ts'
import { Cleanups, type Measure, measure, median } from './measure.ts'
import { nodeFirst } from './mirror-tools.ts'

const { values: options } = parseArgs({ options: { runs: { type: 'string', default: '3' } } })
const runs = Number(options.runs)
/** As many as Sallyport has under way. */
const parallel = 16
const bundle = new URL('../dist/sallyport.js', import.meta.url).pathname
const t = new Cleanups()

async function startRegistry(cleanups: Cleanups) {
  const registry = await startDockerRegistry(cleanups)
  if (!registry) throw new Error('docker-registry is not installed')
  return registry
}

async function must(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Measure> {
  const one = await measure(command, env)
  if (one.failure !== undefined) throw new Error(`${command.join(' ')}\n${one.failure}`)
  return one
}

interface Scene {
  readonly directory: string
  readonly config: string
  readonly registriesConf: string
  /** A line a blob: its URL at the source, and the file it is read into. */
  readonly urls: string
  readonly uniqueBytes: number
}

async function setUp(): Promise<Scene> {
  const directory = await tempDir(t)
  const release = sampleRelease({
    ...{ seed: 'bench', version: '4.18.9', components: 190, sharedBases: 6 },
    ...{ sharedLayerBytes: 40_000_000, layerBytes: 7_000_000 },
  })
  const source = await startRegistry(t)
  const content = releaseContent(release)
  await writeToDockerRegistryRoot(join(source.root, 'data'), content)
  const [config, registriesConf, urls] = ['isc.yaml', 'registries.conf', 'urls'].map((name) => join(directory, name))
  if (!config || !registriesConf || !urls) throw new Error('three names')
  const pullspec = `${releaseSources.registry}/${releaseSources.images}@${release.image.digest}`
  await writeFile(
    config,
    `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  platform:\n    release: ${pullspec}\n`,
  )
  await writeFile(
    registriesConf,
    `[[registry]]\nlocation = "quay.io"\nblocked = true\n[[registry.mirror]]\nlocation = "${source.address}"\ninsecure = true\n`,
  )
  const lines = content.flatMap(({ repository, images }) =>
    [...blobsOfContent([{ repository, images }])].map(
      ([digest]) => `http://${source.address}/v2/${repository}/blobs/${digest} ${digest.replace(':', '-')}`,
    ),
  )
  const unique = new Map(lines.map((line) => [line.split(' ')[1], line]))
  await writeFile(urls, `${[...unique.values()].join('\n')}\n`)
  return {
    directory,
    config,
    registriesConf,
    urls,
    uniqueBytes: [...blobsOfContent(content).values()].reduce((a, b) => a + b, 0),
  }
}

/** Reads every unique blob into a file. */
function curlRead({ urls }: Scene, into: string): readonly string[] {
  return ['sh', '-c', `cd ${into} && exec xargs -P${parallel} -n2 sh -c 'exec curl -sf -o "$1" "$0"' < ${urls}`]
}

/** Pushes every file: an upload is begun, and its bytes are sent in one request. */
function curlPush(from: string, target: string): readonly string[] {
  const push = [
    `begun=$(curl -sf -o /dev/null -w "%{redirect_url}%header{location}" -X POST http://${target}/v2/ocp/blobs/uploads/)`,
    'digest=$(echo "$0" | tr - :)',
    'case "$begun" in *\\?*) more="&" ;; *) more="?" ;; esac',
    'exec curl -sf -H "content-type: application/octet-stream" -T "$0" "$begun$more""digest=$digest"',
  ].join('; ')
  return ['sh', '-c', `cd ${from} && ls | exec xargs -P${parallel} -n1 sh -c '${push}'`]
}

const samples = new Map<string, Measure[]>()

type Add = (name: string, one: Measure) => void

async function byCurl(scene: Scene, place: string, add: Add): Promise<void> {
  const cleanups = new Cleanups()
  await mkdir(place, { recursive: true })
  try {
    add('curl, read', await must(curlRead(scene, place)))
    await must(['sync'])
    add('curl, push', await must(curlPush(place, (await startRegistry(cleanups)).address)))
  } finally {
    await cleanups.run()
    await rm(place, { recursive: true })
    await must(['sync'])
  }
}

async function bySallyport({ config, registriesConf }: Scene, place: string, add: Add): Promise<void> {
  const cleanups = new Cleanups()
  const disk = join(place, 'disk')
  try {
    const open = ['-q', '--workspace', join(place, 'open'), '--registries-conf', registriesConf]
    add(
      'mirror to disk',
      await must([bundle, 'mirror', '-c', config, '--ignore-release-signature', ...open, `file://${disk}`], nodeFirst),
    )
    await must(['sync'])
    const target = await startRegistry(cleanups)
    const closed = ['-q', '--workspace', join(place, 'closed'), '--dest-tls-verify=false']
    const load = [bundle, 'mirror', '--from', disk, ...closed, `docker://${target.address}/ocp`]
    add('disk to mirror', await must(load, nodeFirst))
  } finally {
    await cleanups.run()
    await rm(place, { recursive: true })
    await must(['sync'])
  }
}

/** One after the other, and what each leaves is taken away: memory that was used before is faster than memory that was not. */
async function round(scene: Scene, run: number): Promise<void> {
  const add: Add = (name, one) => void samples.set(name, [...(samples.get(name) ?? []), one])
  const turns = [byCurl, bySallyport]
  for (const turn of run % 2 === 0 ? turns : turns.toReversed()) await turn(scene, join(scene.directory, 'round'), add)
}

function report(own: string, peer: string): void {
  const of = (name: string) => samples.get(name) ?? []
  const wall = (name: string) => median(of(name).map(({ wallSeconds }) => wallSeconds))
  for (const name of [peer, own]) {
    const walls = of(name).map(({ wallSeconds }) => wallSeconds)
    const cpu = median(of(name).map(({ cpuSeconds }) => cpuSeconds))
    const peak = Math.max(...of(name).map(({ peakMiB }) => peakMiB))
    const range = `${Math.min(...walls).toFixed(2)}–${Math.max(...walls).toFixed(2)}`
    const ratio = name === own ? (wall(own) / wall(peer)).toFixed(2) : ''
    process.stdout.write(
      `| ${name} | **${wall(name).toFixed(2)}** (${range}) | ${cpu.toFixed(2)} | ${peak.toFixed(0)} | ${ratio} |\n`,
    )
  }
}

try {
  const scene = await setUp()
  for (let run = 0; run < runs; run += 1) {
    process.stderr.write(`run ${run + 1} of ${runs}\n`)
    await round(scene, run)
  }
  process.stdout.write(
    `190 images, ${(scene.uniqueBytes / 2 ** 30).toFixed(2)} GiB unique; ${parallel} curls at a time; ${runs} runs of each, in turn; medians.\n\n| | wall s (min–max) | CPU s | peak MiB | Sallyport ÷ curl |\n|---|---|---|---|---|\n`,
  )
  report('mirror to disk', 'curl, read')
  report('disk to mirror', 'curl, push')
} finally {
  await t.run()
}
