/** Operator catalogs from a real file-based catalog to a mirror: chosen, made anew, mirrored, across the gap, verified. */
import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse } from 'yaml'
import type { SampleImage } from '../../src/quickstart/sample-image.ts'
import { makeCatalogImage } from '../../testkit/catalog-image.ts'
import { makeImage } from '../../testkit/image.ts'
import { writeLayout } from '../../testkit/layout.ts'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { type ScriptedRegistry, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'

const registryName = 'registry.redhat.io'

/** Two packages; `web` has two channels. Images of a bundle are at the registry that is named in it. */
function catalogText(imageOf: (name: string) => string): string {
  const bundle = (name: string, version: string, of: string) => ({
    schema: 'olm.bundle',
    package: of,
    name: `${name}.v${version}`,
    image: imageOf(`${name}-bundle-${version}`),
    properties: [
      { type: 'olm.package', value: { packageName: of, version } },
      ...(version === '2.0.0'
        ? [{ type: 'olm.package.required', value: { packageName: 'db', versionRange: '>=5' } }]
        : []),
    ],
    relatedImages: [
      { name: 'operator', image: imageOf(`${name}-${version}`) },
      { name: 'shared', image: imageOf('shared') },
    ],
  })
  const channel = (of: string, name: string, versions: readonly string[]) => ({
    schema: 'olm.channel',
    package: of,
    name,
    entries: versions.map((version, index) => ({
      name: `${of}.v${version}`,
      ...(index > 0 && { replaces: `${of}.v${versions[index - 1]}` }),
    })),
  })
  const documents = [
    { schema: 'olm.package', name: 'web', defaultChannel: 'stable' },
    channel('web', 'stable', ['1.0.0', '1.1.0', '1.2.0']),
    channel('web', 'beta', ['1.2.0', '2.0.0']),
    ...['1.0.0', '1.1.0', '1.2.0', '2.0.0'].map((version) => bundle('web', version, 'web')),
    { schema: 'olm.package', name: 'db', defaultChannel: 'main' },
    channel('db', 'main', ['5.0.0']),
    bundle('db', '5.0.0', 'db'),
  ]
  return documents.map((document) => JSON.stringify(document)).join('\n')
}

interface Scene {
  readonly target: ScriptedRegistry
  readonly upstream: ScriptedRegistry
  readonly catalog: SampleImage
  readonly root: string
  readonly destination: string
  readonly digestOf: (name: string) => string
  readonly configure: (operators: readonly object[]) => Promise<string>
  readonly run: (...args: readonly string[]) => Promise<CliResult>
}

async function scene(t: TestContext): Promise<Scene> {
  const upstream = await startScriptedRegistry(t, { hasReferrersApi: true })
  const target = await startScriptedRegistry(t, { hasReferrersApi: true })
  const versions = ['web-1.0.0', 'web-1.1.0', 'web-1.2.0', 'web-2.0.0', 'db-5.0.0']
  const names = [...versions, ...versions.map((name) => name.replace('-', '-bundle-')), 'shared']
  const images = new Map(names.map((name) => [name, makeImage({ seed: name })]))
  const digestOf = (name: string) => images.get(name)?.digest ?? assert.fail(name)
  const text = catalogText((name) => `${registryName}/team/${name}@${digestOf(name)}`)
  const catalog = makeCatalogImage({ files: new Map([['all/catalog.json', text]]), tag: 'v4.18' })
  await pushAll(testClient(t).client, upstream.address, [
    ...[...images].map(([name, image]) => ({ repository: `team/${name}`, images: [image] })),
    { repository: 'redhat/redhat-operator-index', images: [catalog] },
  ])
  const root = await tempDir(t)
  const conf = join(root, 'registries.conf')
  await writeFile(conf, `[[registry]]\nprefix = "${registryName}"\nlocation = "${upstream.address}"\ninsecure = true\n`)
  const configure = async (operators: readonly object[]) => {
    const path = join(root, 'isc.yaml')
    const head = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' }
    await writeFile(path, JSON.stringify({ ...head, mirror: { operators } }))
    return path
  }
  const run = (...args: readonly string[]) =>
    runCli([...args, '--registries-conf', conf, '--dest-tls-verify=false', '--retry-times', '0'], { cwd: root })
  return { target, upstream, root, catalog, destination: `docker://${target.address}/ocp`, digestOf, configure, run }
}

const index = `${registryName}/redhat/redhat-operator-index:v4.18`
const oneRange = { catalog: index, packages: [{ name: 'web', minVersion: '1.1.0', channels: undefined }] }

function succeeded(result: CliResult): CliResult {
  assert.equal(result.status, 0, result.stderr + result.stdout)
  return result
}

/** Repositories below the target that hold bundles or images of operators. */
function operatorRepositories({ content }: ScriptedRegistry): string[] {
  const names = [...content.tags.keys()].filter((name) => name.startsWith('ocp/team/'))
  return [...new Set(names.map((name) => name.replace(/^ocp\/team\//, '').replace(/:.*$/, '')))].sort()
}

const wantedOfRange = ['shared', 'web-1.1.0', 'web-1.2.0', 'web-2.0.0'].flatMap((name) =>
  name === 'shared' ? [name] : [name, name.replace('-', '-bundle-')],
)

test('a range of a package: its bundles and their images, the filtered catalog, and the resources that lead there', async (t) => {
  const { target, root, destination, configure, run } = await scene(t)
  const config = await configure([oneRange])
  const workspace = ['--workspace', join(root, 'work')]
  succeeded(await run('mirror', '-c', config, ...workspace, destination))
  assert.deepEqual(operatorRepositories(target), wantedOfRange.toSorted())
  assert.ok(target.content.tags.has('ocp/redhat/redhat-operator-index:v4.18'))
  const resources = join(root, 'work/working-dir/cluster-resources')
  const names = (await readdir(resources)).sort()
  assert.deepEqual(names, [
    'cc-redhat-operator-index-v4-18.yaml',
    'cs-redhat-operator-index-v4-18.yaml',
    'idms-oc-mirror.yaml',
    'operatorhub.yaml',
  ])
  const source = parse(await readFile(join(resources, 'cs-redhat-operator-index-v4-18.yaml'), 'utf8')) as {
    spec: { image: string }
  }
  assert.match(source.spec.image, new RegExp(`^${target.address}/ocp/redhat/redhat-operator-index[:@]`))
  assert.doesNotMatch(await readFile(join(resources, 'idms-oc-mirror.yaml'), 'utf8'), /operator-index|\.invalid/)
  succeeded(await run('verify', 'mirror', ...workspace, '--deep', destination))
  succeeded(await run('verify', 'egress', ...workspace))
  const again = succeeded(await run('mirror', '-c', config, ...workspace, destination))
  assert.match(again.stdout, /nothing to move/)
})

test('across the gap the catalog arrives as it was made, with its bundles, and nothing outside is asked', async (t) => {
  const { upstream, target, root, destination, configure, run } = await scene(t)
  const config = await configure([oneRange])
  const disk = join(root, 'disk')
  succeeded(await run('mirror', '-c', config, `file://${disk}`))
  await upstream.close()
  const load = ['mirror', '--from', disk, '--workspace', join(root, 'closed'), destination]
  succeeded(await run(...load))
  assert.deepEqual(operatorRepositories(target), wantedOfRange.toSorted())
  succeeded(await run('verify', 'mirror', '--workspace', join(root, 'closed'), '--deep', destination))
})

test('the same configuration gives the same catalog image, whoever makes it', async (t) => {
  const { target, root, destination, configure, run } = await scene(t)
  const config = await configure([oneRange])
  const digests = []
  for (const name of ['one', 'two']) {
    succeeded(await run('mirror', '-c', config, '--workspace', join(root, name), destination))
    digests.push(target.content.tags.get('ocp/redhat/redhat-operator-index:v4.18'))
  }
  assert.equal(digests[0], digests[1])
})

test('a package that the catalog does not have is an error of its catalog, with the nearest name; other catalogs go on', async (t) => {
  const { target, root, destination, configure, run } = await scene(t)
  const config = await configure([
    { catalog: index, targetCatalog: 'mine/web', packages: [{ name: 'wep' }] },
    { catalog: index, targetCatalog: 'mine/db', packages: [{ name: 'db' }] },
  ])
  const result = await run('mirror', '-c', config, '--workspace', join(root, 'work'), destination)
  assert.equal(result.status, 4)
  assert.match(result.stdout, /CATALOG_PACKAGE_UNKNOWN[\s\S]*wep[\s\S]*web/)
  assert.ok(target.content.tags.has('ocp/mine/db:v4.18'))
  assert.ok(!target.content.tags.has('ocp/mine/web:v4.18'))
  assert.deepEqual(operatorRepositories(target), ['db-5.0.0', 'db-bundle-5.0.0', 'shared'])
})

test('a full catalog is copied as it is, byte for byte', async (t) => {
  const { target, upstream, root, destination, configure, run } = await scene(t)
  const config = await configure([{ catalog: index, full: true }])
  succeeded(await run('mirror', '-c', config, '--workspace', join(root, 'work'), destination))
  const [there, here] = ['ocp/redhat/redhat-operator-index:v4.18', 'redhat/redhat-operator-index:v4.18']
  assert.equal(target.content.tags.get(there), upstream.content.tags.get(here))
  assert.equal(operatorRepositories(target).length, 11)
})

test('a plan with a filtered catalog is carried out later, by what was made when it was planned', async (t) => {
  const { target, root, destination, configure, run } = await scene(t)
  const config = await configure([oneRange])
  const [plan, work] = [join(root, 'plan.json'), ['--workspace', join(root, 'work')]]
  succeeded(await run('mirror', '-c', config, '--plan-only', plan, ...work, destination))
  assert.deepEqual([...target.content.tags.keys()], [])
  succeeded(await run('mirror', '--plan', plan, ...work, destination))
  assert.deepEqual(operatorRepositories(target), wantedOfRange.toSorted())
  assert.ok(target.content.tags.has('ocp/redhat/redhat-operator-index:v4.18'))
})

test('what a bundle requires of another package is told, and taken where that is wanted, on both sides of the gap', async (t) => {
  const { target, upstream, root, destination, configure, run } = await scene(t)
  const wish = { catalog: index, packages: [{ name: 'web', channels: [{ name: 'beta' }], defaultChannel: 'beta' }] }
  const told = succeeded(await run('mirror', '-c', await configure([wish]), `file://${join(root, 'told')}`))
  assert.match(told.stderr, /warn: .*web\.v2\.0\.0.*db/)
  const config = await configure([{ ...wish, dependencies: 'take' }])
  const disk = join(root, 'disk')
  succeeded(await run('mirror', '-c', config, '--workspace', join(root, 'open'), `file://${disk}`))
  await upstream.close()
  succeeded(await run('mirror', '--from', disk, '--workspace', join(root, 'closed'), destination))
  const [db, web] = [
    ['db-5.0.0', 'db-bundle-5.0.0'],
    ['web-2.0.0', 'web-bundle-2.0.0'],
  ]
  assert.deepEqual(operatorRepositories(target), [...db, 'shared', ...web])
})

test('a deletion takes nothing that a configuration with operators may need, and refuses one of which nothing is known', async (t) => {
  const { target, root, destination, configure, run } = await scene(t)
  const config = await configure([oneRange])
  const work = ['--workspace', join(root, 'work')]
  succeeded(await run('mirror', '-c', config, ...work, destination))
  const unwanted = join(root, 'disc.yaml')
  const shared = [...target.content.tags].find(([name]) => name.startsWith('ocp/team/shared:'))
  const name = `${registryName}/team/shared@${shared?.[1]}`
  const head = { kind: 'DeleteImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' }
  await writeFile(unwanted, JSON.stringify({ ...head, delete: { additionalImages: [{ name }] } }))
  const remove = ['delete', '-c', unwanted, '--generate', '--keep-for', config, '--dest-tls-verify=false']
  const kept = succeeded(await runCli([...remove, ...work, destination], { cwd: root }))
  assert.match(kept.stdout, /stays|kept|0 images/)
  const list = await readFile(join(root, 'work/working-dir/delete/delete-images.yaml'), 'utf8')
  assert.doesNotMatch(list, /team\/shared/)
  const unknown = await runCli([...remove, '--workspace', join(root, 'other'), destination], { cwd: root })
  assert.equal(unknown.status, 78)
  assert.match(unknown.stderr, /nothing of the class operator was mirrored with this workspace/)
})

test('a catalog in an OCI layout goes the same way, also across the gap', async (t) => {
  const { target, root, catalog, destination, configure, run } = await scene(t)
  const layout = join(root, 'my-index')
  await writeLayout(layout, [catalog])
  const config = await configure([{ catalog: `oci://${layout}`, packages: [{ name: 'db' }] }])
  succeeded(await run('mirror', '-c', config, '--workspace', join(root, 'work'), destination))
  assert.ok(target.content.tags.has('ocp/my-index:latest'))
  const digest = target.content.tags.get('ocp/my-index:latest')
  const disk = join(root, 'disk')
  succeeded(await run('mirror', '-c', config, '--workspace', join(root, 'open'), `file://${disk}`))
  target.content.tags.delete('ocp/my-index:latest')
  succeeded(await run('mirror', '--from', disk, '--workspace', join(root, 'closed'), destination))
  assert.equal(target.content.tags.get('ocp/my-index:latest'), digest)
  assert.deepEqual(operatorRepositories(target), ['db-5.0.0', 'db-bundle-5.0.0', 'shared'])
})
