/** Operators in what oc-mirror left in a directory: its filtered catalog arrives as it is, with the bundles that are in it. */
import assert from 'node:assert/strict'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { hexOf } from '../../src/oci/digest.ts'
import type { SampleImage } from '../../src/quickstart/sample-image.ts'
import { makeCatalogImage } from '../../testkit/catalog-image.ts'
import { makeImage, makeIndex } from '../../testkit/image.ts'
import { writeOcMirrorArchive } from '../../testkit/oc-mirror-archive.ts'
import { runCli } from '../../testkit/run-cli.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import type { RepositoryContent } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'

const catalog = 'registry.redhat.io/redhat/redhat-operator-index:v4.18'
const names = ['web-bundle', 'web-operator', 'db-bundle', 'db-operator'] as const

function imageOf(name: string): SampleImage {
  const { digest } = makeImage({ seed: name })
  // By digest alone, oc-mirror tags an image with its digest.
  return makeImage({ seed: name, tag: `sha256-${hexOf(digest)}` })
}

function catalogOf(packages: readonly string[], tag: string, architecture = 'amd64'): SampleImage {
  const named = (name: string) => `registry.redhat.io/team/${name}@${imageOf(name).digest}`
  const documents = packages.flatMap((name) => [
    { schema: 'olm.package', name, defaultChannel: 'stable' },
    { schema: 'olm.channel', package: name, name: 'stable', entries: [{ name: `${name}.v1.0.0` }] },
    {
      schema: 'olm.bundle',
      package: name,
      name: `${name}.v1.0.0`,
      image: named(`${name}-bundle`),
      properties: [{ type: 'olm.package', value: { packageName: name, version: '1.0.0' } }],
      relatedImages: [{ name: 'operator', image: named(`${name}-operator`) }],
    },
  ])
  const text = documents.map((document) => JSON.stringify(document)).join('\n')
  return makeCatalogImage({ files: new Map([['catalog.json', text]]), tag, architecture })
}

interface Wish {
  readonly entry: Readonly<Record<string, unknown>>
  /** Where oc-mirror has the catalogs. */
  readonly repository: string
  readonly catalogs: readonly SampleImage[]
  /** Of the images in the archive. */
  readonly carried: readonly string[]
}

async function load(t: TestContext, { entry, repository, catalogs, carried }: Wish) {
  const head = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' }
  const content: RepositoryContent[] = carried.map((name) => ({ repository: `team/${name}`, images: [imageOf(name)] }))
  const { directory } = await writeOcMirrorArchive(t, {
    content: [...content, { repository, images: catalogs }],
    configuration: JSON.stringify({ ...head, mirror: { operators: [{ catalog, ...entry }] } }),
  })
  const [target, workspace] = [await startScriptedRegistry(t, { hasReferrersApi: true }), await tempDir(t)]
  const side = ['--workspace', workspace, '--dest-tls-verify=false', `docker://${target.address}/ocp`]
  const result = await runCli(['mirror', '--from', directory, ...side])
  return { target, workspace, result, verify: () => runCli(['verify', 'mirror', '--deep', ...side]) }
}

const whole = catalogOf(['web', 'db'], 'v4.18')
const filtered = catalogOf(['web'], 'a'.repeat(32))
const ofWeb = names.filter((name) => name.startsWith('web'))

for (const [entry, repository, place] of [
  [{}, 'redhat/redhat-operator-index', 'redhat/redhat-operator-index:v4.18'],
  [{ targetCatalog: 'mine/web', targetTag: 'v9' }, 'mine/web', 'mine/web:v9'],
] as const) {
  test(`the catalog that oc-mirror filtered arrives as ${place}, with its bundles and resources`, async (t) => {
    const wish = { entry: { packages: [{ name: 'web' }], ...entry }, repository, carried: ofWeb }
    const { target, workspace, result, verify } = await load(t, { ...wish, catalogs: [whole, filtered] })
    assert.equal(result.status, 0, result.stdout + result.stderr)
    assert.equal(target.content.tags.get(`ocp/${place}`), filtered.digest)
    const tagged = [...target.content.tags.keys()].filter((name) => name.startsWith('ocp/team/'))
    assert.deepEqual(
      tagged.toSorted(),
      ofWeb.map((name) => `ocp/team/${name}:sha256-${hexOf(imageOf(name).digest)}`).toSorted(),
    )
    const source = `cs-${place.replace(/^.*\//, '').replace(/[:.]/g, '-')}.yaml`
    await access(join(workspace, 'working-dir/cluster-resources', source))
    const verified = await verify()
    assert.equal(verified.status, 0, verified.stdout + verified.stderr)
  })
}

test('of a catalog for several platforms only those that are wanted are there, and only those are read', async (t) => {
  const children = ['amd64', 'arm64'].map((architecture) => catalogOf(['web'], 'x', architecture))
  const index = makeIndex({ children, tag: 'a'.repeat(32) })
  const [amd, ...carriedOf] = index.manifests
  assert.ok(amd)
  const { target, result } = await load(t, {
    entry: { packages: [{ name: 'web' }], platforms: [{ os: 'linux', architecture: 'arm64' }] },
    repository: 'redhat/redhat-operator-index',
    carried: ofWeb,
    catalogs: [whole, { ...index, manifests: carriedOf }],
  })
  assert.equal(result.status, 0, result.stdout + result.stderr)
  assert.equal(target.content.tags.get('ocp/redhat/redhat-operator-index:v4.18'), index.digest)
})

test('a whole catalog is taken under the name that oc-mirror gave it', async (t) => {
  const entry = { full: true, targetCatalog: 'mine/all', targetTag: 'v9' }
  const all = catalogOf(['web', 'db'], 'v9')
  const { target, result } = await load(t, { entry, repository: 'mine/all', catalogs: [all], carried: names })
  assert.equal(result.status, 0, result.stdout + result.stderr)
  assert.equal(target.content.tags.get('ocp/mine/all:v9'), all.digest)
})

test('a catalog that oc-mirror did not filter for this configuration is named as it is configured', async (t) => {
  const wish = { entry: { packages: [{ name: 'web' }] }, repository: 'redhat/redhat-operator-index', carried: ofWeb }
  const { result } = await load(t, { ...wish, catalogs: [whole] })
  assert.equal(result.status, 4, result.stdout + result.stderr)
  assert.ok(result.stdout.includes(`operators ${catalog} is neither in the archive nor at the target`), result.stdout)
})
