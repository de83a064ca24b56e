/**
 * Real catalogs, but for the digests of images, which nobody has here: chosen from, made anew, mirrored, verified, and judged
 * by opm.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openCatalog } from '../../src/flows/open-catalog.ts'
import { parseReference } from '../../src/oci/reference.ts'
import { makeCatalogImage } from '../../testkit/catalog-image.ts'
import { makeImage } from '../../testkit/image.ts'
import { peer } from '../../testkit/peers.ts'
import { type CliResult, runCli } from '../../testkit/run-cli.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))

const catalogs: readonly { file: string; wish: object; bundles: RegExp }[] = [
  {
    file: 'mirror/oc-mirror/fbc/jaeger-product/catalog.json',
    wish: { name: 'jaeger-product', heads: 1 },
    bundles: /jaeger-operator\.v/,
  },
  {
    file: 'mirror/oc-mirror/fbc/node-observability-operator-4.14/catalog.json',
    wish: { name: 'node-observability-operator' },
    bundles: /node-observability-operator\.v/,
  },
]

function succeeded(result: CliResult): CliResult {
  assert.equal(result.status, 0, result.stderr + result.stdout)
  return result
}

/** By digest; looked for from the digest backwards, since a bundle has long texts in base64 before it. */
function imageNames(text: string): string[] {
  const found = [...text.matchAll(/@sha256:[0-9a-f]{64}/g)].map(({ 0: digest, index }) => {
    const place = /[\w.-]+(?:\/[\w.-]+)+$/.exec(text.slice(Math.max(0, index - 200), index))?.[0]
    return place === undefined ? [] : [`${place}${digest}`]
  })
  return [...new Set(found.flat())]
}

/** The catalog with the digests of images that are there, pushed where it says that they are. */
async function serve(t: TestContext, text: string): Promise<{ address: string; conf: string; hosts: string[] }> {
  const upstream = await startScriptedRegistry(t, { hasReferrersApi: true })
  const names = imageNames(text)
  assert.ok(names.length > 0)
  let known = text
  const content = names.map((name) => {
    const image = makeImage({ seed: name })
    const [place = ''] = name.split('@')
    known = known.replaceAll(name, `${place}@${image.digest}`)
    return { repository: place.replace(/^[^/]+\//, ''), images: [image] }
  })
  const catalog = makeCatalogImage({ files: new Map([['real/catalog.json', known]]), tag: 'v1' })
  await pushAll(testClient(t).client, upstream.address, [...content, { repository: 'real/index', images: [catalog] }])
  const hosts = [...new Set(names.map((name) => name.replace(/\/.*$/, ''))), 'catalog.invalid']
  const entry = (host: string) =>
    `[[registry]]\nprefix = "${host}"\nlocation = "${upstream.address}"\ninsecure = true\n`
  const conf = join(await tempDir(t), 'registries.conf')
  await writeFile(conf, hosts.map(entry).join(''))
  return { address: upstream.address, conf, hosts }
}

for (const { file, wish, bundles } of catalogs) {
  test(`${file}: selected, made anew, mirrored with its images, verified, and accepted by opm`, async (t) => {
    if (!existsSync(join(data, file))) return t.skip('the shared data is not here')
    const { conf } = await serve(t, await readFile(join(data, file), 'utf8'))
    const target = await startScriptedRegistry(t, { hasReferrersApi: true })
    const root = await tempDir(t)
    const config = join(root, 'isc.yaml')
    const operators = [{ catalog: 'catalog.invalid/real/index:v1', packages: [wish] }]
    const head = { kind: 'ImageSetConfiguration', apiVersion: 'mirror.openshift.io/v2alpha1' }
    await writeFile(config, JSON.stringify({ ...head, mirror: { operators } }))
    const side = ['--registries-conf', conf, '--dest-tls-verify=false', '--retry-times', '0']
    const work = ['--workspace', join(root, 'work')]
    succeeded(await runCli(['mirror', '-c', config, ...side, ...work, `docker://${target.address}/ocp`]))
    succeeded(await runCli(['verify', 'mirror', '--deep', ...work, ...side]))
    succeeded(await runCli(['verify', 'egress', ...work, '--dest-tls-verify=false']))
    const resources = await readdir(join(root, 'work/working-dir/cluster-resources'))
    assert.ok(resources.includes('cs-index-v1.yaml') && resources.includes('cc-index-v1.yaml'), resources.join(' '))
    const explained = succeeded(
      await runCli(['catalog', 'explain', Object.values(wish)[0] as string, '-c', config, ...side], { cwd: root }),
    )
    assert.match(explained.stdout, bundles)
    await acceptedByOpm(t, `${target.address}/ocp/real/index:v1`)
  })
}

async function acceptedByOpm(t: TestContext, image: string): Promise<void> {
  const opm = peer(t, 'opm')
  if (opm === undefined) return
  const directory = await tempDir(t)
  const { files } = await openCatalog(
    { kind: 'registry', reference: parseReference(image) },
    { source: testClient(t).client },
  )
  for await (const { path, open } of files.files()) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), open())
  }
  await promisify(execFile)(opm, ['validate', directory])
}
