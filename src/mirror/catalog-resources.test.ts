import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { type Cleanup, tempDir } from '../../testkit/temp-dir.ts'
import { digestOf } from '../oci/digest.ts'
import { parseReference } from '../oci/reference.ts'
import { type MirroredCatalog, writeCatalogResources } from './catalog-resources.ts'
import { type Workspace, workspaceAt } from './workspace.ts'

const digest = digestOf('catalog')

function catalog(text: string, more: Partial<MirroredCatalog> = {}): MirroredCatalog {
  return { destination: parseReference(text), digest, ...more }
}

const redhat = catalog('reg.lab:8443/ocp/redhat/redhat-operator-index:v4.18')

async function emptyWorkspace(t: Cleanup): Promise<Workspace> {
  return workspaceAt(await tempDir(t), '/')
}

async function contents({ clusterResources }: Workspace): Promise<Record<string, string>> {
  const names = (await readdir(clusterResources)).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(clusterResources, name), 'utf8')))
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']))
}

test('a catalog gets the files that oc-mirror writes, and the switch for the sources that a cluster cannot reach', async (t) => {
  const workspace = await emptyWorkspace(t)
  const { files, findings } = await writeCatalogResources(workspace, [redhat])
  assert.deepEqual(
    files.map((file) => basename(file)),
    ['cc-redhat-operator-index-v4-18.yaml', 'cs-redhat-operator-index-v4-18.yaml', 'operatorhub.yaml'],
  )
  assert.deepEqual(findings, [])
  const written = await contents(workspace)
  const source = parse(written['cs-redhat-operator-index-v4-18.yaml'] ?? '')
  assert.equal(source.metadata.name, 'cs-redhat-operator-index-v4-18')
  assert.equal(source.spec.image, 'reg.lab:8443/ocp/redhat/redhat-operator-index:v4.18')
  const clusterCatalog = parse(written['cc-redhat-operator-index-v4-18.yaml'] ?? '')
  assert.equal(clusterCatalog.spec.source.image.ref, 'reg.lab:8443/ocp/redhat/redhat-operator-index:v4.18')
  assert.equal(parse(written['operatorhub.yaml'] ?? '').spec.disableAllDefaultSources, true)
})

test('without a catalog nothing is written', async (t) => {
  const workspace = await emptyWorkspace(t)
  assert.deepEqual(await writeCatalogResources(workspace, []), { files: [], findings: [] })
  await assert.rejects(readdir(workspace.clusterResources), { code: 'ENOENT' })
})

test('a run with nothing new changes no byte, and a later version stands beside the earlier one', async (t) => {
  const workspace = await emptyWorkspace(t)
  await writeCatalogResources(workspace, [redhat])
  const first = await contents(workspace)
  await writeCatalogResources(workspace, [redhat])
  assert.deepEqual(await contents(workspace), first)

  await writeCatalogResources(workspace, [catalog('reg.lab:8443/ocp/redhat/redhat-operator-index:v4.19')])
  const both = await contents(workspace)
  assert.equal(Object.keys(both).length, 5)
  for (const [name, text] of Object.entries(first)) assert.equal(both[name], text, name)
})

test('catalogs whose names are cut to the same stand side by side, now and in later runs, and it is told', async (t) => {
  const workspace = await emptyWorkspace(t)
  const january = catalog('reg.lab/redhat-operator-index:v4.18-20260101')
  const february = catalog('reg.lab/redhat-operator-index:v4.18-20260102')
  assert.deepEqual((await writeCatalogResources(workspace, [january])).findings, [])
  const before = await contents(workspace)
  const { findings, files } = await writeCatalogResources(workspace, [february])
  assert.deepEqual(
    findings.map(({ id, severity }) => `${severity} ${id}`),
    ['warning mirror.catalog-name-taken', 'warning mirror.catalog-name-taken'],
  )
  const added = basename(files.find((file) => basename(file).startsWith('cs-')) ?? '')
  assert.match(added, /^cs-redhat-operator-index-v4-18-202601-[0-9a-f]{8}\.yaml$/)
  assert.match(findings[0]?.summary ?? '', new RegExp(added.replace('.yaml', '')))
  const both = await contents(workspace)
  for (const [name, text] of Object.entries(before)) assert.equal(both[name], text, name)
  await writeCatalogResources(workspace, [february, january])
  assert.deepEqual(await contents(workspace), both)
})

test('what moves to another registry keeps its name', async (t) => {
  const workspace = await emptyWorkspace(t)
  await writeCatalogResources(workspace, [redhat])
  await writeCatalogResources(workspace, [catalog('new.lab/ocp/redhat/redhat-operator-index:v4.18')])
  const written = await contents(workspace)
  assert.equal(Object.keys(written).length, 3)
  assert.match(written['cs-redhat-operator-index-v4-18.yaml'] ?? '', /image: new\.lab\/ocp/)
})

test('a catalog that somebody pinned stays pinned, to what is at the target now', async (t) => {
  const workspace = await emptyWorkspace(t)
  await writeCatalogResources(workspace, [redhat])
  const path = join(workspace.clusterResources, 'cs-redhat-operator-index-v4-18.yaml')
  const repository = 'reg.lab:8443/ocp/redhat/redhat-operator-index'
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace(`${repository}:v4.18`, `${repository}@${digestOf('old')}`))
  await writeCatalogResources(workspace, [redhat])
  assert.equal(parse(await readFile(path, 'utf8')).spec.image, `${repository}@${digest}`)
})

test('a chosen name is that of the resource and of its file, and a later version takes it over', async (t) => {
  const workspace = await emptyWorkspace(t)
  await writeCatalogResources(workspace, [{ ...redhat, name: 'redhat-operators' }])
  const next = catalog('reg.lab:8443/ocp/redhat/redhat-operator-index:v4.19', { name: 'redhat-operators' })
  assert.deepEqual((await writeCatalogResources(workspace, [next])).findings, [])
  const { metadata, spec } = parse((await contents(workspace))['cs-redhat-operators.yaml'] ?? '')
  assert.equal(metadata.name, 'redhat-operators')
  assert.match(spec.image, /:v4\.19$/)
})

test('a catalog that gets another name is told to be there twice', async (t) => {
  const workspace = await emptyWorkspace(t)
  await writeCatalogResources(workspace, [redhat])
  const { findings } = await writeCatalogResources(workspace, [{ ...redhat, name: 'redhat-operators' }])
  assert.deepEqual(
    findings.map(({ id }) => id),
    ['mirror.catalog-twice'],
  )
  assert.match(findings[0]?.summary ?? '', /by cs-redhat-operator-index-v4-18\.yaml of an earlier run/)
})

test('a broken template, or a broken file, is an error before anything is written', async (t) => {
  const workspace = await emptyWorkspace(t)
  const template = { text: 'kind: ImageDigestMirrorSet\n', file: 'template.yaml' }
  const refused = { code: 'CONFIG_INVALID', message: /^template\.yaml:1:1: not a CatalogSource/ }
  await assert.rejects(writeCatalogResources(workspace, [redhat, { ...redhat, template, name: 'a' }]), refused)
  await assert.rejects(readdir(workspace.clusterResources), { code: 'ENOENT' })

  await mkdir(workspace.clusterResources, { recursive: true })
  const path = join(workspace.clusterResources, 'cs-redhat-operator-index-v4-18.yaml')
  await writeFile(path, 'kind: Secret\n')
  await assert.rejects(writeCatalogResources(workspace, [redhat]), { code: 'CONFIG_INVALID' })
  assert.deepEqual(await contents(workspace), { 'cs-redhat-operator-index-v4-18.yaml': 'kind: Secret\n' })
  const other = catalog('reg.lab/redhat/certified-operator-index:v4.18')
  assert.equal((await writeCatalogResources(workspace, [other])).files.length, 3)
})

test('a template that a filtered catalog cannot be served with is told', async (t) => {
  const workspace = await emptyWorkspace(t)
  const text = `apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: x, namespace: olm}
spec: {grpcPodConfig: {extractContent: {cacheDir: /tmp/cache, catalogDir: /configs}}}
`
  const template = { text, file: 'template.yaml' }
  const told = async (isRebuilt: boolean) => {
    const { findings } = await writeCatalogResources(workspace, [{ ...redhat, template, isRebuilt }])
    return findings.map(({ id, where }) => `${id} ${where?.file}`)
  }
  assert.deepEqual(await told(true), ['mirror.template-namespace template.yaml', 'mirror.template-cache template.yaml'])
  assert.deepEqual(await told(false), ['mirror.template-namespace template.yaml'])
})
