/** `list operators` and `catalog explain`, as processes, on catalogs at a registry on loopback, in layouts and directories. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeCatalogImage, makeCatalogIndex } from '../../testkit/catalog-image.ts'
import { writeLayout } from '../../testkit/layout.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'

function bundle(name: string, version: string, more: Readonly<Record<string, unknown>> = {}): object {
  const [of = ''] = name.split('.', 1)
  const properties = [
    { type: 'olm.package', value: { packageName: of, version } },
    { type: 'olm.csv.metadata', value: { displayName: `The ${of} of ${version}` } },
  ]
  const image = `quay.io/operators/${of}-bundle:v${version}`
  return { schema: 'olm.bundle', package: of, name, image, properties, relatedImages: [{ name: '', image }], ...more }
}

const lamp: readonly object[] = [
  { schema: 'olm.package', name: 'lamp', defaultChannel: 'stable' },
  {
    schema: 'olm.channel',
    package: 'lamp',
    name: 'stable',
    entries: [
      { name: 'lamp.v1.10.0', replaces: 'lamp.v1.9.0', skipRange: '>=1.0.0 <1.10.0' },
      { name: 'lamp.v1.9.0', replaces: 'lamp.v1.8.0', skips: ['lamp.v1.8.1'] },
      { name: 'lamp.v1.8.1', replaces: 'lamp.v1.8.0' },
      { name: 'lamp.v1.8.0' },
    ],
  },
  {
    schema: 'olm.channel',
    package: 'lamp',
    name: 'split',
    entries: [{ name: 'lamp.v1.9.0' }, { name: 'lamp.v1.8.0' }],
  },
  { schema: 'olm.channel', package: 'lamp', name: 'old', entries: [{ name: 'lamp.v1.8.0' }] },
  bundle('lamp.v1.8.0', '1.8.0'),
  bundle('lamp.v1.8.1', '1.8.1'),
  bundle('lamp.v1.9.0', '1.9.0'),
  bundle('lamp.v1.10.0', '1.10.0'),
  {
    schema: 'olm.deprecations',
    package: 'lamp',
    entries: [
      { reference: { schema: 'olm.channel', name: 'old' }, message: 'old is no longer served.\nUse stable.' },
      { reference: { schema: 'olm.bundle', name: 'lamp.v1.8.0' }, message: 'it flickers' },
    ],
  },
]

const torch: readonly object[] = [
  { schema: 'olm.package', name: 'torch', defaultChannel: 'stable' },
  { schema: 'olm.channel', package: 'torch', name: 'stable', entries: [{ name: 'torch.v0.1.0' }] },
  bundle('torch.v0.1.0', '0.1.0'),
]

function documents(metas: readonly object[]): string {
  return metas.map((meta) => JSON.stringify(meta, null, 2)).join('\n')
}

const files = new Map([
  ['lamp/catalog.json', documents(lamp)],
  ['torch/catalog.json', documents(torch)],
])

/** A registry that stands for registry.redhat.io and has two of the catalogs of 4.18. */
async function scene(t: TestContext) {
  const registry = await startScriptedRegistry(t)
  const images = [makeCatalogIndex({ files, architectures: ['arm64', 'amd64'], tag: 'v4.18' })]
  await pushAll(testClient(t).client, registry.address, [
    { repository: 'redhat/redhat-operator-index', images },
    { repository: 'redhat/community-operator-index', images },
  ])
  registry.requests.length = 0
  const conf = join(await tempDir(t), 'registries.conf')
  await writeFile(
    conf,
    `[[registry]]\nprefix = "registry.redhat.io"\nlocation = "${registry.address}"\ninsecure = true\n`,
  )
  const run = (...args: readonly string[]) => runCli([...args, '--registries-conf', conf, '--retry-times', '0'])
  return { registry, run, digest: images[0]?.digest }
}

/** The catalog as a directory. */
async function directory(t: TestContext): Promise<string> {
  const root = await tempDir(t)
  for (const [path, text] of files) {
    await mkdir(join(root, dirname(path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return root
}

test('list operators names the catalogs that a version of OpenShift really has, and those it has not', async (t) => {
  const { run, registry } = await scene(t)
  const { status, stdout, stderr } = await run('list', 'operators', '--catalogs', '--version=4.18')
  assert.equal(status, 0, stderr)
  assert.equal(
    stdout,
    'Available OpenShift OperatorHub catalogs:\nOpenShift 4.18:\nregistry.redhat.io/redhat/redhat-operator-index:v4.18\nregistry.redhat.io/redhat/community-operator-index:v4.18\n',
  )
  assert.match(stderr, /there is no registry\.redhat\.io\/redhat\/certified-operator-index:v4\.18/)
  assert.match(stderr, /next: sallyport list operators --catalog registry\.redhat\.io/)
  assert.ok(!registry.requests.some(({ path }) => path.includes('/blobs/')))
  const none = await run('list', 'operators', '--version', '4.11', '--json')
  assert.equal(none.status, 1)
  const { catalogs } = JSON.parse(none.stdout)
  assert.deepEqual(
    catalogs.map(({ exists }: { exists: boolean }) => exists),
    [false, false, false, false],
  )
})

test('list operators lists packages, channels and versions as oc-mirror does', async (t) => {
  const { run } = await scene(t)
  const list = (...args: readonly string[]) =>
    run('list', 'operators', '--catalog', 'registry.redhat.io/redhat/redhat-operator-index:v4.18', ...args)
  const packages = await list()
  assert.equal(packages.status, 0, packages.stderr)
  assert.equal(
    packages.stdout,
    'NAME   DISPLAY NAME        DEFAULT CHANNEL\nlamp   The lamp of 1.10.0  stable\ntorch  The torch of 0.1.0  stable\n',
  )
  const channels = await list('--package', 'lamp')
  assert.deepEqual(
    channels.stdout.split('\n').map((line) => line.split(/ {2,}/)),
    [
      ['PACKAGE', 'CHANNEL', 'HEAD', 'NOTE'],
      ['lamp', 'old', 'lamp.v1.8.0', 'deprecated: old is no longer served.'],
      ['lamp', 'split', 'ERROR: multiple channel heads found in graph: lamp.v1.8.0, lamp.v1.9.0'],
      ['lamp', 'stable', 'lamp.v1.10.0', 'default channel'],
      [''],
    ],
  )
  const versions = await list('--package=lamp', '--channel=stable')
  assert.match(versions.stdout, /^VERSIONS +NOTE\n1\.8\.0 +deprecated: it flickers\n1\.8\.1\n1\.9\.0\n1\.10\.0\n$/)
})

test('a catalog is the same at a registry, in a layout and in a directory, and one of OpenShift has a short name', async (t) => {
  const { run, digest } = await scene(t)
  const list = async (...args: readonly string[]) => {
    const { stdout, stderr } = await run('list', 'operators', ...args, '--json')
    assert.notEqual(stdout, '', stderr)
    return JSON.parse(stdout)
  }
  const far = await list('--catalog', 'redhat-operator-index', '--version', '4.18')
  assert.equal(far.digest, digest)
  assert.equal(far.catalog, 'registry.redhat.io/redhat/redhat-operator-index:v4.18')
  const layout = await tempDir(t)
  await writeLayout(layout, [
    makeCatalogImage({ files, tag: 'one' }),
    makeCatalogImage({ files: new Map(), tag: 'two' }),
  ])
  for (const catalog of [`oci://${layout}:one`, await directory(t)]) {
    const near = await list('--catalog', catalog)
    assert.deepEqual(near.packages, far.packages)
  }
})

test('list operators says what is near a name that is not there, and what is missing on the command line', async (t) => {
  const { run } = await scene(t)
  const catalog = ['--catalog', await directory(t)]
  const wrong = await run('list', 'operators', ...catalog, '--package', 'lamps')
  assert.equal(wrong.status, 1)
  assert.match(wrong.stderr, /error CATALOG_PACKAGE_UNKNOWN: .*"lamps"; the nearest: lamp/)
  const channel = await run('list', 'operators', ...catalog, '--package', 'lamp', '--channel', 'stabel')
  assert.match(channel.stderr, /error CATALOG_CHANNEL_UNKNOWN: .*"stabel"; .*stable/)
  for (const args of [[], ['--catalogs'], ['--package', 'lamp'], [...catalog, '--channel', 'stable']]) {
    const { status, stderr } = await run('list', 'operators', ...args)
    assert.equal(status, 64, args.join(' '))
    assert.match(stderr, /next: Begin with the catalogs of your version: --catalogs --version 4\.18/)
  }
})

test('an image that is no catalog, and a catalog with a broken file, are named as that', async (t) => {
  const { run, registry } = await scene(t)
  const broken = new Map([...files, ['torch/catalog.json', '{"schema": "olm.package", "name": "torch"']])
  await pushAll(testClient(t).client, registry.address, [
    { repository: 'some/broken', images: [makeCatalogImage({ files: broken, tag: '1' })] },
    {
      repository: 'some/database',
      images: [
        makeCatalogImage({
          files: new Map(),
          tag: '1',
          config: { Labels: { 'operators.operatorframework.io.index.database.v1': '/database/index.db' } },
        }),
      ],
    },
  ])
  const list = (name: string) => run('list', 'operators', '--catalog', `registry.redhat.io/some/${name}:1`)
  const cut = await list('broken')
  assert.equal(cut.status, 1)
  assert.match(cut.stderr, /error CATALOG_INVALID: registry\.redhat\.io\/some\/broken:1: torch\/catalog\.json, line 1/)
  const database = await list('database')
  assert.match(database.stderr, /SQLite/)
  const absent = await list('absent')
  assert.match(absent.stderr, /error MANIFEST_UNKNOWN: registry\.redhat\.io\/some\/absent:1/)
})

async function configuration(t: TestContext, operators: readonly object[]): Promise<string> {
  const path = join(await tempDir(t), 'isc.yaml')
  const mirror = { platform: { channels: [{ name: 'stable-4.18' }] }, operators }
  const kind = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' }
  await writeFile(path, JSON.stringify({ ...kind, mirror }))
  return path
}

test('catalog explain draws the channels, and says of every bundle why it is in or out', async (t) => {
  const { run } = await scene(t)
  const { status, stdout, stderr } = await run('catalog', 'explain', 'torch', '--catalog', await directory(t))
  assert.equal(status, 0, stderr)
  assert.match(stdout, /How to read it\n {2}A channel is a line of updates/)
  assert.match(
    stdout,
    /Channel stable \(the default one\): 1 of 1 bundle mirrored\n {2}\[x\] torch\.v0\.1\.0 {2}HEAD\n/,
  )
  assert.match(stdout, /Why\n {2}\[x\] head of channel stable: torch\.v0\.1\.0\n/)
})

test('catalog explain follows a configuration, and the way of what is installed', async (t) => {
  const { run } = await scene(t)
  const catalog = 'registry.redhat.io/redhat/redhat-operator-index:v4.18'
  const stable = { name: 'lamp', channels: [{ name: 'stable', minVersion: '1.9.0' }] }
  const config = await configuration(t, [
    { catalog: 'registry.redhat.io/redhat/certified-operator-index:v4.18' },
    { catalog, packages: [stable] },
  ])
  const explained = await run('catalog', 'explain', 'lamp', '-c', config, '--catalog', catalog, '--installed', '1.8.1')
  assert.equal(explained.status, 0, explained.stderr)
  const { stdout } = explained
  assert.ok(stdout.includes(`asked for:  mirror.operators[1] of ${config}`), stdout)
  assert.match(stdout, /mirrored: {3}2 of 4 bundles; the default channel is stable/)
  assert.match(stdout, /\[x\] lamp\.v1\.9\.0\n/)
  assert.match(stdout, /channel stable: 1\.8\.1 -> lamp\.v1\.10\.0; all of it is mirrored/)
  assert.match(stdout, /Deprecated by its maintainers\n {2}channel old: old is no longer served\. Use stable\./)
  const document = JSON.parse(
    (await run('catalog', 'explain', 'lamp', '-c', config, '--catalog', catalog, '--json')).stdout,
  )
  assert.deepEqual(document.kept.bundles, ['lamp.v1.10.0', 'lamp.v1.9.0'])
  assert.deepEqual(document.releases, ['4.18'])
  assert.equal(document.bundles.length, 4)
})

test('what cannot be selected is drawn all the same, with the problem before it', async (t) => {
  const { run } = await scene(t)
  const catalog = await directory(t)
  const { status, stdout } = await run('catalog', 'explain', 'lamp', '--catalog', catalog)
  assert.equal(status, 1)
  assert.match(
    stdout,
    /error CATALOG_SELECTION_INVALID: Channel "split" of package "lamp" has no clear order of updates/,
  )
  assert.match(stdout, /\[ \] lamp\.v1\.8\.0 \(deprecated\) {2}HEAD 1 of 2/)
  assert.doesNotMatch(stdout, /^Why/m)
  const absent = await run('catalog', 'explain', 'lamp', '--catalog', catalog, '--channel', 'stabel')
  assert.match(absent.stderr, /error CATALOG_CHANNEL_UNKNOWN: .*"stabel"; it has old, split, stable/)
})

test('catalog explain says which configuration, catalog or package it misses', async (t) => {
  const { run } = await scene(t)
  const config = await configuration(t, [{ catalog: 'registry.redhat.io/redhat/certified-operator-index:v4.18' }])
  const none = await run('catalog', 'explain', 'lamp')
  assert.equal(none.status, 64)
  assert.match(none.stderr, /No catalog is named/)
  const other = await run('catalog', 'explain', 'lamp', '-c', config, '--catalog', 'redhat-operator-index:v4.18')
  assert.equal(other.status, 64)
  assert.match(other.stderr, /does not ask for redhat-operator-index:v4\.18; its catalogs: registry\.redhat\.io/)
  const unknown = await run('catalog', 'explain', 'lamps', '--catalog', await directory(t))
  assert.match(unknown.stderr, /error CATALOG_PACKAGE_UNKNOWN: .*nearest: lamp/)
})

test('catalog validate names a channel that nobody can follow, and passes a sound catalog', async (t) => {
  const { run } = await scene(t)
  const root = await directory(t)
  const bad = await run('catalog', 'validate', root)
  assert.equal(bad.status, 1)
  assert.match(bad.stdout, /^not valid: .*: 2 packages, 4 channels, 5 bundles\n/)
  assert.match(bad.stdout, /error catalog\.channel-flawed: channel "split" of package "lamp" cannot be followed/)
  assert.match(bad.stdout, /seen: lamp\/catalog\.json, byte \d+/)
  const good = await run('catalog', 'validate', join(root, 'torch'), '--json')
  assert.equal(good.status, 0)
  assert.deepEqual(JSON.parse(good.stdout).findings, [])
})
