import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { parse, stringify } from 'yaml'
import { parseCatalogSource, renderCatalogSource } from './catalog-source.ts'

const data = fileURLToPath(new URL('../../../shared/data', import.meta.url))
const wanted = { name: 'cs-redhat-operator-index-v4-18', image: 'reg.lab:8443/redhat/redhat-operator-index:v4.18' }
const custom = { name: 'cs-index-1', image: 'reg.lab:8443/my/index:1' }

function template(text: string) {
  return { template: { text, file: 'template.yaml' } }
}

test('a CatalogSource is what oc-mirror writes, without its time stamps', () => {
  assert.equal(
    renderCatalogSource(custom),
    `apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata:
  name: cs-index-1
  namespace: openshift-marketplace
spec:
  sourceType: grpc
  image: reg.lab:8443/my/index:1
`,
  )
})

test('the catalog of an OpenShift release runs restricted, as the sources of the cluster itself; of others nobody knows', () => {
  const podOf = (tag: string) => parse(renderCatalogSource({ ...custom, image: `reg.lab/i:${tag}` })).spec.grpcPodConfig
  for (const tag of ['v4.12', 'v4.18', 'v4.18-custom', 'v5.0'])
    assert.deepEqual(podOf(tag), { securityContextConfig: 'restricted' }, tag)
  for (const tag of ['v4.11', 'latest', 'v4', '4.18', 'v4.181x']) assert.equal(podOf(tag), undefined, tag)
})

test('of a template all is kept but name, namespace, type and image', () => {
  const text = `apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: totalRubbish, namespace: mine, labels: {team: a}}
spec:
  image: totalRubbish
  displayName: Ours
  priority: -10
  updateStrategy: {registryPoll: {interval: 30m0s}}
  grpcPodConfig: {memoryTarget: 30Mi, tolerations: [{operator: Exists}]}
`
  assert.deepEqual(parse(renderCatalogSource(wanted, template(text))), {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'CatalogSource',
    metadata: { name: wanted.name, namespace: 'openshift-marketplace', labels: { team: 'a' } },
    spec: {
      sourceType: 'grpc',
      image: wanted.image,
      displayName: 'Ours',
      priority: -10,
      updateStrategy: { registryPoll: { interval: '30m0s' } },
      grpcPodConfig: { memoryTarget: '30Mi', tolerations: [{ operator: 'Exists' }] },
    },
  })
})

test('a template that cannot be used is an error with its place, and not passed over', () => {
  const refuses = (text: string, message: RegExp) =>
    assert.throws(() => renderCatalogSource(wanted, template(text)), { code: 'CONFIG_INVALID', message })
  const head = 'apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\n'
  refuses(`${head}spec: {sourceType: internal}\n`, /template\.yaml:3:20: .*spec\.sourceType is "internal", not grpc/)
  refuses(`${head}spec:\n  configMap: mine\n`, /template\.yaml:4:14: .*spec\.configMap/)
  refuses(`${head}spec:\n  updateStrategy: {registryPoll: {interval: 30}}\n`, /:4:45: .*interval/)
  refuses(`${head}spec:\n  updateStrategy: {registryPoll: {interval: soon}}\n`, /:4:45: .*no duration/)
  refuses(`${head}spec: {grpcPodConfig: {securityContextConfig: none}}\n`, /:3:47: .*securityContextConfig/)
  refuses('kind: CatalogSource\n', /template\.yaml:1:1: not a CatalogSource: apiVersion is not there/)
  refuses('a: [', /template\.yaml:1:/)
  refuses('a: *b\n', /template\.yaml:1:/)
  refuses(`${head}---\n${head}`, /template\.yaml:3:1: .*several documents/)
})

test('what a person changed is kept, also against the name, and then nothing changes any more', () => {
  const text = `# ours
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata:
  name: redhat-operators
  namespace: olm
  annotations: {argocd.argoproj.io/sync-wave: "3", createdAt: "Sunday, 31-Aug-25"}
spec: {sourceType: grpc, image: "old.lab/redhat/redhat-operator-index:v4.18", priority: 5}
status: {}
`
  const rendered = renderCatalogSource(wanted, { previous: { text, file: 'cs.yaml' } })
  assert.deepEqual(parse(rendered), {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'CatalogSource',
    metadata: { name: 'redhat-operators', namespace: 'olm', annotations: { 'argocd.argoproj.io/sync-wave': '3' } },
    spec: { sourceType: 'grpc', image: wanted.image, priority: 5 },
  })
  const commented = `# pinned for the audit\n${rendered}`
  assert.equal(renderCatalogSource(wanted, { previous: { text: commented, file: 'cs.yaml' } }), commented)
  const chosen = { ...wanted, name: 'other', isNameChosen: true }
  assert.equal(parse(renderCatalogSource(chosen, { previous: { text, file: 'cs.yaml' } })).metadata.name, 'other')
})

test('a template rules over the file that is there, and does not change it twice', () => {
  const { template: file } = template(
    'apiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nspec: {priority: 1}\n',
  )
  const previous = { text: renderCatalogSource(wanted).replace('spec:\n', 'spec:\n  priority: 9\n'), file: 'cs.yaml' }
  const rendered = renderCatalogSource(wanted, { previous, template: file })
  assert.deepEqual(parse(rendered).spec, {
    sourceType: 'grpc',
    image: wanted.image,
    priority: 1,
    grpcPodConfig: { securityContextConfig: 'restricted' },
  })
  const again = renderCatalogSource(wanted, { previous: { text: rendered, file: 'cs.yaml' }, template: file })
  assert.equal(again, rendered)
})

const words = fc.string({ minLength: 1, maxLength: 8 })
const edits = fc.record(
  {
    displayName: words,
    description: words,
    priority: fc.integer({ min: -1000, max: 1000 }),
    secrets: fc.array(words, { maxLength: 2 }),
    further: fc.dictionary(words, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }),
  },
  { requiredKeys: [] },
)

test('whatever a person or a template adds is kept, and a second run changes no byte', () => {
  fc.assert(
    fc.property(edits, fc.option(edits), (person, model) => {
      const first = parse(renderCatalogSource(wanted))
      const previous = { text: stringify({ ...first, spec: { ...first.spec, ...person } }), file: 'cs.yaml' }
      const text = model && stringify({ apiVersion: first.apiVersion, kind: first.kind, spec: model })
      const options = text === null ? {} : template(text)
      const rendered = renderCatalogSource(wanted, { previous, ...options })
      assert.deepEqual(parse(rendered).spec, {
        ...first.spec,
        ...parse(previous.text).spec,
        ...parse(text ?? '{}').spec,
      })
      assert.equal(renderCatalogSource(wanted, { previous: { text: rendered, file: 'cs.yaml' }, ...options }), rendered)
    }),
    { numRuns: 200 },
  )
})

const folder = join(data, 'cluster-resources')
const isSource = (name: string) =>
  /catalogsource|-cs-|_cs\.yaml|prega-catalog|virtualization-catalog/i.test(name) && name.endsWith('.yaml')
const real = existsSync(folder) ? readdirSync(folder).filter(isSource) : []
for (const name of real) {
  test(`a CatalogSource from the field is read, and keeps what it says: ${name}`, () => {
    const text = readFileSync(join(folder, name), 'utf8')
    const { spec } = parse(text)
    const rendered = parse(renderCatalogSource(wanted, { previous: { text, file: name } }))
    assert.deepEqual(rendered.spec, { ...spec, sourceType: 'grpc', image: wanted.image })
    assert.equal(rendered.status, undefined)
  })
}

test('the templates of oc-mirror are taken, and the broken ones refused', (t) => {
  const misc = join(data, 'mirror', 'oc-mirror', 'misc')
  if (!existsSync(misc)) return t.skip('the folder of real inputs is absent')
  const read = (file: string) => ({ text: readFileSync(join(misc, file), 'utf8'), file })
  const { spec, metadata } = parse(renderCatalogSource(wanted, { template: read('catalog-source_template.yaml') }))
  assert.equal(metadata.name, wanted.name)
  assert.deepEqual(spec, {
    sourceType: 'grpc',
    image: wanted.image,
    updateStrategy: { registryPoll: { interval: '30m0s' } },
  })
  for (const file of ['catalog-source_template_KO.yaml', 'catalog-source_template_KO2.yaml'])
    assert.throws(() => parseCatalogSource(read(file)), {
      code: 'CONFIG_INVALID',
      message: new RegExp(`^${file}:\\d+:\\d+: `),
    })
})
