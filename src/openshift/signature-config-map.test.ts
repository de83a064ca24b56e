import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseAllDocuments } from 'yaml'
import { type Digest, digestOf } from '../oci/digest.ts'
import {
  mergeReleaseSignatures,
  parseSignatureConfigMaps,
  type ReleaseSignatures,
  renderSignatureConfigMaps,
} from './signature-config-map.ts'

const hex = 'ab'.repeat(32)
const digest: Digest = `sha256:${hex}`

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly labels: Record<string, string> }
  readonly binaryData: Readonly<Record<string, string>>
}

function configMapsIn(yaml: string): ConfigMap[] {
  return [...parseAllDocuments(yaml)].map((document) => document.toJS() as ConfigMap)
}

/** Which bytes each digest has, whatever their order. */
function contentOf(signatures: ReleaseSignatures): string[] {
  const lines = [...signatures].flatMap(([of, all]) =>
    all.map((bytes) => `${of} ${Buffer.from(bytes).toString('hex')}`),
  )
  return lines.toSorted()
}

/** As openshift/library-go looks for signatures of a release. */
function foundByVersionOperator(configMaps: readonly ConfigMap[], of: Digest): Buffer[] {
  const labelled = configMaps.filter(
    ({ metadata }) =>
      metadata.namespace === 'openshift-config-managed' &&
      'release.openshift.io/verification-signatures' in metadata.labels,
  )
  const entries = labelled.flatMap(({ binaryData }) => Object.entries(binaryData))
  const prefix = of.replace(':', '-')
  return entries.filter(([key]) => key.startsWith(prefix)).map(([, value]) => Buffer.from(value, 'base64'))
}

const signatures = fc
  .array(fc.tuple(fc.nat(5), fc.array(fc.uint8Array({ maxLength: 4 }), { minLength: 1, maxLength: 4 })), {
    maxLength: 6,
  })
  .map((entries) => new Map(entries.map(([name, all]): [Digest, Uint8Array[]] => [digestOf(`release ${name}`), all])))

test('one ConfigMap in the form that oc-mirror writes, the same in YAML and JSON', () => {
  const { yaml, json } = renderSignatureConfigMaps(new Map([[digest, [Buffer.from('one'), Buffer.from('two')]]]))
  assert.equal(
    yaml,
    `---
apiVersion: v1
kind: ConfigMap
metadata:
  name: mirrored-release-signatures
  namespace: openshift-config-managed
  labels:
    release.openshift.io/verification-signatures: ""
binaryData:
  sha256-${hex}-1: b25l
  sha256-${hex}-2: dHdv
`,
  )
  assert.deepEqual(JSON.parse(json), configMapsIn(yaml)[0])
  assert.deepEqual(renderSignatureConfigMaps(new Map()), { yaml: '', json: '' })
})

test('what is written is read back, in both forms', () => {
  fc.assert(
    fc.property(signatures, (some) => {
      const { yaml, json } = renderSignatureConfigMaps(some)
      const expected = contentOf(mergeReleaseSignatures(some))
      assert.deepEqual(contentOf(parseSignatureConfigMaps(yaml, 'yaml')), expected)
      assert.deepEqual(contentOf(parseSignatureConfigMaps(json, 'json')), expected)
    }),
  )
})

test('merging loses nothing, adds nothing, says nothing twice, and the order of runs does not matter to the content', () => {
  fc.assert(
    fc.property(signatures, signatures, signatures, (one, two, three) => {
      const both = mergeReleaseSignatures(one, two)
      assert.deepEqual(contentOf(both), [...new Set([...contentOf(one), ...contentOf(two)])].toSorted())
      assert.deepEqual(contentOf(mergeReleaseSignatures(two, one)), contentOf(both))
      assert.deepEqual(mergeReleaseSignatures(both, one, two, both), both)
      assert.deepEqual(
        mergeReleaseSignatures(mergeReleaseSignatures(one, two), three),
        mergeReleaseSignatures(one, two, three),
      )
    }),
  )
})

test('the same bytes under two numbers become one, and what was first keeps its number', () => {
  const previous = parseSignatureConfigMaps(
    configMap({ [`sha256-${hex}-2`]: 'dHdv', [`sha256-${hex}-7`]: 'dHdv' }),
    'f',
  )
  const merged = mergeReleaseSignatures(previous, new Map([[digest, [Buffer.from('one'), Buffer.from('two')]]]))
  assert.deepEqual(configMapsIn(renderSignatureConfigMaps(merged).yaml)[0]?.binaryData, {
    [`sha256-${hex}-1`]: 'dHdv',
    [`sha256-${hex}-2`]: 'b25l',
  })
})

function configMap(
  binaryData: object,
  labels: object = { 'release.openshift.io/verification-signatures': '' },
): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', labels }, binaryData })
}

test('what oc-mirror and the version operator wrote is read: running numbers, other names, time stamps', () => {
  const other = 'cd'.repeat(32)
  const text = `apiVersion: v1
binaryData:
  sha256-${hex}-12: b25l
  sha256-${other}-3-13: |
    dHdv
  sha256-${other}-0: !!binary b25l
kind: ConfigMap
metadata:
  annotations: {createdBy: oc-mirror v2, createdAt: "2026-08-21T10:11:12Z"}
  creationTimestamp: null
  labels: {release.openshift.io/verification-signatures: ""}
  name: signatures-managed
  namespace: openshift-config-managed
`
  const parsed = parseSignatureConfigMaps(text, 'f')
  assert.deepEqual(
    contentOf(parsed),
    contentOf(
      new Map<Digest, Uint8Array[]>([
        [digest, [Buffer.from('one')]],
        [`sha256:${other}`, [Buffer.from('one'), Buffer.from('two')]],
      ]),
    ),
  )
})

test('a file that holds something else is refused, so that it is not overwritten', () => {
  const cases: [string, RegExp][] = [
    [configMap({ readme: 'b25l' }), /binaryData.readme/],
    [configMap({ [`sha256-${hex}-1`]: 'not base64!' }), /binaryData/],
    [configMap({}, {}), /without the label/],
    ['kind: Secret\nmetadata: {name: x}\n', /kind/],
    ['a: [', /FILE: /],
    ['a: *b', /FILE: /],
  ]
  for (const [text, message] of cases) {
    assert.throws(() => parseSignatureConfigMaps(text, 'FILE'), { code: 'CONFIG_INVALID', message })
  }
  assert.deepEqual(parseSignatureConfigMaps('', 'FILE'), new Map())
})

test('where one ConfigMap is full another begins, and the version operator finds every signature', () => {
  const all = new Map(
    Array.from({ length: 600 }, (_, index): [Digest, Uint8Array[]] => {
      const of = digestOf(`release ${index}`)
      return [of, [Buffer.alloc(900, of), Buffer.alloc(890, of)]]
    }),
  )
  const { yaml, json } = renderSignatureConfigMaps(all)
  const configMaps = configMapsIn(yaml)
  assert.deepEqual(configMaps.map(({ metadata }) => metadata.name).slice(0, 3), [
    'mirrored-release-signatures',
    'mirrored-release-signatures-2',
    'mirrored-release-signatures-3',
  ])
  for (const object of configMaps) assert.ok(JSON.stringify(object).length < 256 * 1024)
  for (const [of, bytes] of all) assert.deepEqual(foundByVersionOperator(configMaps, of), bytes)
  const list = JSON.parse(json) as { kind: string; items: object[] }
  assert.equal(list.kind, 'List')
  assert.deepEqual(list.items, configMaps)
  assert.deepEqual(contentOf(parseSignatureConfigMaps(json, 'f')), contentOf(all))
  assert.deepEqual(contentOf(parseSignatureConfigMaps(yaml, 'f')), contentOf(all))
})

test('a real signature is carried byte for byte', async (t) => {
  const name = '37433b71c073c6cbfc8173ec7ab2d99032c8e6d6fe29de06e062d85e33e34531'
  const path = new URL(`../../../shared/data/mirror/oc-mirror/signatures/${name}`, import.meta.url)
  const bytes = await readFile(path).catch(() => t.skip('the data is not there'))
  if (!bytes) return
  const of: Digest = 'sha256:3717338045df06e31effea46761b2c7e90f543cc4f00547af8158dd6aea868c3'
  const { yaml } = renderSignatureConfigMaps(new Map([[of, [bytes]]]))
  assert.deepEqual(foundByVersionOperator(configMapsIn(yaml), of), [bytes])
})
