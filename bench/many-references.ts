/**
 * Ten thousand references that are at the target already, half of them named by tag, half by digest.
 *
 *     node tools/build.ts && node bench/many-references.ts [--references 10000]
 *
 * Prints Markdown: the first mirror, the same again, and the same again without what the workspace remembers; then the same
 * over a gap: to a disk, from it, and to a disk again by a receipt that names everything.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sampleImage } from '../src/quickstart/sample-image.ts'
import { sampleLayer } from '../src/quickstart/sample-layer.ts'
import { startDockerRegistry } from '../testkit/docker-registry.ts'
import { type RepositoryContent, writeToDockerRegistryRoot } from '../testkit/seed.ts'
import { tempDir } from '../testkit/temp-dir.ts'
import { Cleanups, type Measure, measure } from './measure.ts'
import { nodeFirst } from './mirror-tools.ts'

const { values: options } = parseArgs({ options: { references: { type: 'string', default: '10000' } } })
const references = Number(options.references)
const imagesPerRepository = 100
const bundle = new URL('../dist/sallyport.js', import.meta.url).pathname
const t = new Cleanups()

function makeContent(): RepositoryContent[] {
  const base = sampleLayer({ seed: 'base', sizeBytes: 20_000 })
  return Array.from({ length: Math.ceil(references / imagesPerRepository) }, (_, group) => ({
    repository: `team-${group % 10}/app-${group}`,
    images: Array.from({ length: imagesPerRepository }, (_unused, index) =>
      sampleImage({ layers: [base], labels: { image: `${group}/${index}` }, tag: `v${index}` }),
    ),
  }))
}

function configuration(content: readonly RepositoryContent[]): string {
  const names = content.flatMap(({ repository, images }) =>
    images.map(({ digest }, index) => `quay.io/${repository}${index % 2 === 0 ? `:v${index}` : `@${digest}`}`),
  )
  const lines = names.map((name) => `  - name: ${name}`)
  return `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  additionalImages:\n${lines.join('\n')}\n`
}

function print(what: string, { wallSeconds, cpuSeconds, peakMiB }: Measure): void {
  process.stdout.write(
    `| ${what} | **${wallSeconds.toFixed(2)}** | ${cpuSeconds.toFixed(2)} | ${peakMiB.toFixed(0)} |\n`,
  )
}

async function run(command: readonly string[]): Promise<Measure> {
  const one = await measure(command, nodeFirst)
  if (one.failure !== undefined) throw new Error(one.failure)
  return one
}

try {
  const directory = await tempDir(t)
  const source = await startDockerRegistry(t)
  const target = await startDockerRegistry(t)
  if (!source || !target) throw new Error('docker-registry is not installed')
  const content = makeContent()
  await writeToDockerRegistryRoot(join(source.root, 'data'), content)
  const config = join(directory, 'isc.yaml')
  const registries = join(directory, 'registries.conf')
  await writeFile(config, configuration(content))
  await writeFile(
    registries,
    `[[registry]]\nlocation = "quay.io"\nblocked = true\n[[registry.mirror]]\nlocation = "${source.address}"\ninsecure = true\n`,
  )
  const flags = ['--registries-conf', registries, '--dest-tls-verify=false', '--workspace', directory]
  const command = [
    bundle,
    'mirror',
    '-c',
    config,
    '--ignore-release-signature',
    ...flags,
    `docker://${target.address}/ocp`,
  ]
  process.stdout.write(
    `${references} references in ${content.length} repositories, docker-registry to docker-registry.\n\n| run | wall s | CPU s | peak MiB |\n|---|---|---|---|\n`,
  )
  print('first', await run(command))
  print('again, everything there', await run(command))
  await rm(join(directory, 'working-dir', 'sallyport'), { recursive: true })
  print('again, with the memory of the workspace deleted', await run(command))
  const [open, closed] = [join(directory, 'open'), join(directory, 'closed')]
  const outside = ['-q', '--registries-conf', registries, '--workspace', open]
  const inside = ['-q', '--workspace', closed, '--dest-tls-verify=false']
  const [disk, receipt] = [join(directory, 'disk'), join(directory, 'receipt.json')]
  const site = `docker://${target.address}/carried`
  const write = [bundle, 'mirror', '-c', config, '--ignore-release-signature', ...outside]
  print('to disk', await run([...write, `file://${disk}`]))
  print('from disk', await run([bundle, 'mirror', '--from', disk, ...inside, site]))
  const [, ...access] = inside
  print(
    'receipt, everything looked for',
    await run([bundle, 'archive', 'receipt', site, ...access, '--output', receipt]),
  )
  print('to disk by the receipt, nothing new', await run([...write, '--base', receipt, `file://${disk}`]))
} finally {
  await t.run()
}
