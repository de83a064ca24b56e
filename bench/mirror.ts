/**
 * A release from one docker-registry to another: Sallyport against the tools people use, in the same run.
 *
 *     node tools/build.ts && node bench/mirror.ts [--runs 3] [--plain]
 *
 * 190 images over 6 shared base layers, 2.7 GiB unique. Every copy goes into a fresh registry; then the same command runs
 * again with nothing to do. One more run of Sallyport goes through relays that count bytes. Prints Markdown.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { releaseSources, sampleRelease } from '../src/quickstart/sample-release.ts'
import { startDockerRegistry } from '../testkit/docker-registry.ts'
import { releaseContent, writeToDockerRegistryRoot } from '../testkit/seed.ts'
import { tempDir } from '../testkit/temp-dir.ts'
import { Cleanups, type Measure, measure, median } from './measure.ts'
import { type Job, peers, requirePeers, sallyport, type Tool } from './mirror-tools.ts'
import { startRelay } from './relay.ts'

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '3' }, plain: { type: 'boolean', default: false } },
})
const runs = Number(options.runs)
const t = new Cleanups()

interface Row {
  readonly tool: Tool
  readonly copies: Measure[]
  readonly repeats: Measure[]
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

async function startSource(directory: string): Promise<{ job: Omit<Job, 'target'>; uniqueBytes: number }> {
  const release = sampleRelease({
    seed: 'bench',
    version: '4.18.9',
    components: 190,
    sharedBases: 6,
    sharedLayerBytes: 40_000_000,
    layerBytes: 7_000_000,
  })
  const registry = await startDockerRegistry(t)
  if (!registry) throw new Error('docker-registry is not installed')
  await writeToDockerRegistryRoot(join(registry.root, 'data'), releaseContent(release))
  const blobs = new Map(
    releaseContent(release)
      .flatMap(({ images }) => images.flatMap((image) => image.blobs))
      .map(({ descriptor }) => [descriptor.digest, descriptor.size]),
  )
  const images = release.components.map(({ name, image }) => ({
    repository: releaseSources.components,
    digest: image.digest,
    name,
  }))
  const pullspec = `${releaseSources.registry}/${releaseSources.images}@${release.image.digest}`
  const job = { directory, source: registry.address, images, release: pullspec }
  return { job, uniqueBytes: [...blobs.values()].reduce((sum, size) => sum + size, 0) }
}

async function copyAndRepeat(row: Row, job: Omit<Job, 'target'>): Promise<void> {
  const round = new Cleanups()
  try {
    const registry = await startDockerRegistry(round)
    if (!registry) throw new Error('docker-registry is not installed')
    const { command, env } = await row.tool.prepare({ ...job, target: registry.address })
    for (const measures of [row.copies, row.repeats]) {
      const one = await measure(command, env)
      measures.push(one)
      if (one.failure === undefined) continue
      process.stderr.write(`${row.tool.name} failed:\n${one.failure}\n`)
      if (row.tool === sallyport) throw new Error('a benchmark of a run that failed says nothing')
    }
  } finally {
    await round.run()
  }
}

function table(title: string, rows: readonly Row[], pick: (row: Row) => readonly Measure[]): void {
  const wall = (row: Row) => median(pick(row).map(({ wallSeconds }) => wallSeconds))
  const ours = rows.find(({ tool }) => tool === sallyport)
  const own = ours ? wall(ours) : Number.NaN
  print(`\n${title}\n\n| tool | wall s (min–max) | CPU s | peak MiB | Sallyport ÷ it |\n|---|---|---|---|---|`)
  for (const row of rows) {
    const walls = pick(row).map(({ wallSeconds }) => wallSeconds)
    const cpu = median(pick(row).map(({ cpuSeconds }) => cpuSeconds))
    const peak = Math.max(...pick(row).map(({ peakMiB }) => peakMiB))
    const range = `${Math.min(...walls).toFixed(2)}–${Math.max(...walls).toFixed(2)}`
    print(
      `| ${row.tool.name} | **${wall(row).toFixed(2)}** (${range}) | ${cpu.toFixed(2)} | ${peak.toFixed(0)} | ${(own / wall(row)).toFixed(2)} |`,
    )
  }
}

async function countBytes(job: Omit<Job, 'target'>, uniqueBytes: number): Promise<void> {
  const registry = await startDockerRegistry(t)
  if (!registry) throw new Error('docker-registry is not installed')
  const source = await startRelay(t, job.source)
  const target = await startRelay(t, registry.address)
  const directory = join(job.directory, 'counted')
  await mkdir(directory, { recursive: true })
  const { command, env } = await sallyport.prepare({
    ...job,
    directory,
    source: source.address,
    target: target.address,
  })
  await measure(command, env)
  const ratio = (bytes: number) => `${bytes} (${(bytes / uniqueBytes).toFixed(4)} ×)`
  print(
    `\nBytes, requests and heads included, for ${uniqueBytes} unique bytes of blobs: read from the source ${ratio(source.count.fromServer)}, written to the target ${ratio(target.count.toServer)}.`,
  )
}

try {
  requirePeers(t)
  const { job, uniqueBytes } = await startSource(await tempDir(t))
  const tools = [sallyport, ...peers.filter(({ isPlain }) => isPlain || !options.plain)]
  const rows = tools.map((tool): Row => ({ tool, copies: [], repeats: [] }))
  for (let run = 0; run < runs; run += 1) {
    for (const row of rows) {
      process.stderr.write(`run ${run + 1} of ${runs}: ${row.tool.name}\n`)
      await copyAndRepeat(row, job)
    }
  }
  print(
    `190 images, 6 shared base layers, ${(uniqueBytes / 2 ** 30).toFixed(2)} GiB unique; ${runs} runs of each, in turn; medians.`,
  )
  table('Into a fresh registry:', rows, ({ copies }) => copies)
  table('The same again, with nothing to do:', rows, ({ repeats }) => repeats)
  await countBytes(job, uniqueBytes)
} finally {
  await t.run()
}
