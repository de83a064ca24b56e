/** Three trips over a gap: two registries that cannot see each other, and a directory that is carried from one to the other. */
import assert from 'node:assert/strict'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startEmbeddedRegistry } from '../../testkit/embedded-registry.ts'
import { makeImage } from '../../testkit/image.ts'
import { runMirror } from '../../testkit/mirror-run.ts'
import { networkNamespace } from '../../testkit/network-namespace.ts'
import { snapshotRegistry } from '../../testkit/registry-snapshot.ts'
import { makeRelease } from '../../testkit/release-payload.ts'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { pushAll, type RepositoryContent, releaseContent } from '../../testkit/seed.ts'
import { type ServeProcess, serveProcess } from '../../testkit/serve-process.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import { imageSetText, imagesOfEveryKind, releaseName, writeRegistriesConf } from '../../testkit/upstream.ts'

/** One side of the gap: a registry, and the commands that are run beside it. */
interface Side {
  readonly root: string
  readonly registry: ServeProcess
  run(args: readonly string[]): Promise<CliResult>
}

async function startSide(t: TestContext, content: readonly RepositoryContent[]): Promise<Side> {
  const root = await tempDir(t)
  await push(t, root, content)
  // Where there are no namespaces the two differ in their ports, and the outer one is stopped before anything is loaded.
  const { prefix = [] } = (await networkNamespace(t)) ?? {}
  const registry = await serveProcess(t, root, { prefix })
  return { root, registry, run: (args) => runCli(args, { prefix }) }
}

/** While the registry of that side stands still or serves: its store is made for several. */
async function push(t: TestContext, root: string, content: readonly RepositoryContent[]): Promise<void> {
  const registry = await startEmbeddedRegistry(t, { root })
  await pushAll(testClient(t).client, registry.address, content)
  await registry.close(0)
}

function succeeded(result: CliResult): string {
  assert.equal(result.status, 0, `${result.stdout}${result.stderr}`)
  return result.stdout
}

interface ArchiveJson {
  readonly archive?: { readonly sequence: number; readonly kind: string; readonly totals: Record<string, number> }
}

test('a release crosses the gap, the cluster there needs nothing from outside, and later trips carry only what changed', async (t) => {
  const images = imagesOfEveryKind()
  const first = makeRelease()
  const outside = await startSide(t, [...releaseContent(first), ...images.content])
  const inside = await startSide(t, [])
  const registriesConf = await writeRegistriesConf(t, outside.registry.address)
  const desk = await tempDir(t)
  const target = `docker://${inside.registry.address}/ocp`
  const closedWork = ['--workspace', join(desk, 'closed'), '--dest-tls-verify=false']
  const configure = async (release: typeof first, additional = images.additional) => {
    await writeFile(join(desk, 'isc.yaml'), imageSetText({ release: releaseName(release), additional }))
  }
  let trips = 0
  /** Writes what is new onto the disk, carries it, and loads it. */
  const cross = async (args: readonly string[] = []): Promise<ArchiveJson> => {
    trips += 1
    const usb = join(desk, `usb-${trips}`)
    const work = ['--workspace', join(desk, 'open'), '--registries-conf', registriesConf]
    const written = await outside.run([
      'mirror',
      '-c',
      join(desk, 'isc.yaml'),
      '--ignore-release-signature',
      ...work,
      ...args,
      `file://${usb}`,
      '--json',
    ])
    const result = JSON.parse(succeeded(written)) as ArchiveJson
    const carried = join(desk, `carried-${trips}`)
    await rename(usb, carried)
    succeeded(await inside.run(['archive', 'verify', carried]))
    succeeded(await inside.run(['mirror', '--from', carried, ...closedWork, target]))
    return result
  }
  const prove = async () => {
    succeeded(await inside.run(['verify', 'mirror', '--deep', ...closedWork, target]))
    assert.match(succeeded(await inside.run(['verify', 'egress', ...closedWork])), /^closed: /)
  }

  await configure(first)
  const full = await cross()
  assert.equal(full.archive?.kind, 'full')
  await prove()

  const second = makeRelease({ version: '4.18.10' })
  const extra = makeImage({ seed: 'new', tag: '9' })
  await push(t, outside.root, [...releaseContent(second), { repository: 'extra/new', images: [extra] }])
  const more = [...images.additional, { name: 'quay.io/extra/new:9', destination: 'extra/new:9', image: extra }]
  await configure(second, more)
  const increment = await cross(['--archive-size', '10MiB'])
  assert.equal(increment.archive?.kind, 'increment')
  assert.ok((increment.archive?.totals['bytes'] ?? 0) < (full.archive?.totals['bytes'] ?? 0))
  await prove()

  const receipt = join(desk, 'receipt.json')
  succeeded(await inside.run(['archive', 'receipt', target, ...closedWork, '--output', receipt]))
  const changed = makeImage({ seed: 'changed', tag: '9' })
  await push(t, outside.root, [{ repository: 'extra/new', images: [changed] }])
  const third = await cross(['--base', receipt])
  assert.equal(third.archive?.sequence, 3)
  assert.deepEqual(third.archive?.totals, {
    blobs: changed.blobs.length,
    manifests: 1,
    bytes: [
      ...changed.blobs.map(({ descriptor }) => descriptor.size),
      ...changed.manifests.map(({ bytes }) => bytes.byteLength),
    ].reduce((a, b) => a + b),
  })
  await prove()
  await assertSameAsDirect(t, {
    outside,
    inside,
    config: imageSetText({ release: releaseName(second), additional: more }),
    registriesConf,
  })
})

/** What the last configuration asks for is at the closed side, byte for byte as if there had been no gap. */
async function assertSameAsDirect(
  t: TestContext,
  {
    outside,
    inside,
    config,
    registriesConf: _,
  }: { outside: Side; inside: Side; config: string; registriesConf: string },
): Promise<void> {
  const upstream = await startEmbeddedRegistry(t, { root: outside.root })
  const direct = await startEmbeddedRegistry(t)
  const registriesConf = await writeRegistriesConf(t, upstream.address)
  await runMirror(t, { config, registriesConf, target: `docker://${direct.address}/ocp`, workspace: await tempDir(t) })
  const carried = await startEmbeddedRegistry(t, { root: inside.root })
  const [wanted, found] = [await snapshotRegistry(direct.url), await snapshotRegistry(carried.url)]
  for (const [name, value] of Object.entries(wanted)) assert.equal(found[name], value, name)
}
