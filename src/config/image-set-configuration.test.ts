import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { KnownError } from '../errors/known-error.ts'
import { loadDeleteImageSetConfiguration, readDeleteImageSetConfiguration } from './delete-image-set-configuration.ts'
import {
  loadImageSetConfiguration,
  parseImageSetConfiguration,
  readImageSetConfiguration,
} from './image-set-configuration.ts'
import { findingLine, InvalidConfiguration } from './invalid-config.ts'

const head = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\n'
const oldHead = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v1alpha2\n'

function refusal(text: string): string {
  try {
    parseImageSetConfiguration({ file: 'isc.yaml', text })
  } catch (error) {
    if (error instanceof InvalidConfiguration) return error.message
    throw error
  }
  throw new Error('it was accepted')
}

/** The refusal of a catalog with these lines under `packages:`, each indented as it stands. */
function refusalOfPackages(...lines: string[]): string {
  return refusal(`${head}mirror:\n  operators:\n  - catalog: quay.io/a/index:v1\n    packages:\n${lines.join('\n')}\n`)
}

test('every field of v2alpha1 loads, and is in what is loaded', () => {
  const platforms = [{ os: 'linux', architecture: 'arm64' }]
  const platform = {
    graph: true,
    channels: [
      { name: 'stable-4.18', type: 'ocp', minVersion: '4.18.1', maxVersion: '4.18.9', shortestPath: true, full: false },
    ],
    platforms,
    release: 'quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64',
    kubeVirtContainer: true,
  }
  const ranged = { minVersion: '5.6.0', maxVersion: '5.6.9' }
  const catalog = {
    catalog: 'registry.redhat.io/redhat/redhat-operator-index:v4.18',
    full: false,
    targetCatalog: 'my-ns/my-index',
    targetTag: 'v4.18-custom',
    targetCatalogSourceTemplate: '/path/cs.yaml',
    skipDependencies: true,
    dependencies: 'take',
    platforms,
    packages: [
      { name: 'elasticsearch', defaultChannel: 'stable-5.6', channels: [{ name: 'stable-5.6', ...ranged }] },
      { name: 'stepped', heads: 2, channels: [{ name: 'stable', installed: '1.2.3' }] },
      { name: 'other', ...ranged, bundles: [{ name: 'other.v5.6.1' }] },
    ],
  }
  const chart = { name: 'podinfo', version: '5.0.0', imagePaths: ['{.spec.custom[*].image}'], platforms }
  const helm = {
    repositories: [{ name: 'podinfo', url: 'https://stefanprodan.github.io/podinfo', charts: [chart] }],
    local: [{ name: 'podinfo', path: '/test/podinfo-5.0.0.tar.gz' }],
  }
  const mirror = {
    platform,
    operators: [catalog, { catalog: 'oci:///path/to/layout' }],
    additionalImages: [
      { name: 'docker://a.b/c:1', targetRepo: 'my/ubi', targetTag: 'v1', platforms },
      { name: 'oci:///p' },
    ],
    helm,
    blockedImages: [{ name: '.*aws.*' }],
    samples: [{ name: 'ruby' }],
  }
  const configuration = {
    kind: 'ImageSetConfiguration',
    apiVersion: 'mirror.openshift.io/v2alpha1',
    archiveSize: 4,
    mirror,
    failurePolicy: { operator: 'warn', helm: 'skip' },
  }
  assert.deepEqual(parseImageSetConfiguration({ file: 'isc.yaml', text: stringify(configuration) }), configuration)
  const { blockedImages: _, ...content } = mirror
  const deletion = { kind: 'DeleteImageSetConfiguration', apiVersion: configuration.apiVersion, delete: content }
  const loaded = readDeleteImageSetConfiguration({ file: 'disc.yaml', text: stringify(deletion) })
  assert.deepEqual(loaded.configuration, deletion)
  assert.deepEqual(loaded.findings, [])
})

test('what v1alpha2 had besides loads under its apiVersion, and is refused under v2alpha1', () => {
  const rest = `storageConfig:
  registry: { imageURL: a.b/c, skipTLS: true }
mirror:
  operators:
  - catalog: quay.io/a/index:v1
    targetName: mine
    originalRef: x
    packages:
    - name: p
      minBundle: p.v1
`
  const { storageConfig, mirror } = parseImageSetConfiguration({ file: 'isc.yaml', text: oldHead + rest })
  assert.equal(storageConfig?.registry?.imageURL, 'a.b/c')
  assert.equal(mirror.operators[0]?.packages?.[0]?.minBundle, 'p.v1')
  assert.deepEqual(
    refusal(head + rest)
      .split('\n')
      .map((line) => line.split('; ')[0]),
    [
      'isc.yaml:3:1: storageConfig: v2alpha1 has no storageConfig',
      'isc.yaml:8:17: mirror.operators[0].targetName: v2alpha1 has no targetName',
      'isc.yaml:9:18: mirror.operators[0].originalRef: v2alpha1 has no originalRef',
      'isc.yaml:12:18: mirror.operators[0].packages[0].minBundle: v2alpha1 has no minBundle',
    ],
  )
})

test('v1alpha1 is read as what it would be now, and each difference is told', () => {
  const text = `apiVersion: tmp-redhatgov.com/v1alpha1
kind: ImageSetConfiguration
mirror:
  ocp:
    channels:
    - name: stable-4.6
      versions: ['4.6.36', '4.6.4']
  operators:
  - catalog: quay.io/a/index:v1
    headsOnly: false
    pullSecret: '{"auths":{}}'
    packages:
    - name: p
      startingVersion: 1.2.0
  helm:
    repos:
    - { name: r, url: 'https://r.lab' }
`
  const { configuration, findings } = readImageSetConfiguration({ file: 'isc.yaml', text })
  const { platform, operators, helm } = configuration.mirror
  assert.deepEqual(platform?.channels, [{ name: 'stable-4.6', minVersion: '4.6.4', maxVersion: '4.6.36' }])
  assert.deepEqual(operators, [
    { catalog: 'quay.io/a/index:v1', full: true, packages: [{ name: 'p', minVersion: '1.2.0' }] },
  ])
  assert.equal(helm?.repositories?.[0]?.name, 'r')
  assert.deepEqual(
    findings.map((found) => findingLine(found).split(':').slice(1, 3).join(':')),
    ['1:13', '4:3', '7:7', '10:5', '11:5', '14:7', '16:5'],
  )
  assert.ok(!findings.some(({ summary }) => summary.includes('auths')))
})

test('a field in another case, an empty section and YAML 1.1’s yes are read as oc-mirror reads them', () => {
  const text = `${head}mirror:\n  platform:\n    Graph: yes\n  additionalimages:\n  - name: quay.io/a/b:1\n  blockedImages:\n`
  const { configuration, findings } = readImageSetConfiguration({ file: 'isc.yaml', text })
  assert.equal(configuration.mirror.platform?.graph, true)
  assert.deepEqual(configuration.mirror.additionalImages, [{ name: 'quay.io/a/b:1' }])
  assert.deepEqual(configuration.mirror.blockedImages, [])
  assert.deepEqual(findings.map(findingLine), [
    'isc.yaml:5:5: mirror.platform.Graph: read as "graph", as oc-mirror does; write it so',
    'isc.yaml:6:3: mirror.additionalimages: read as "additionalImages", as oc-mirror does; write it so',
  ])
  assert.match(refusal(`${head}mirror: {helm: {}, Helm: {}}\n`), /:3:20: mirror\.Helm: "helm" stands twice/)
})

test('a misspelt field is named with its place and with what was probably meant', () => {
  assert.equal(
    refusal(`${head}mirror:\n  additonalImages:\n  - name: quay.io/a/b:1\n`),
    'isc.yaml:4:3: mirror.additonalImages: there is no field "additonalImages" here; did you mean "additionalImages"?',
  )
  assert.match(refusal(`${head}mirror:\n  additonalImages:\n`), /:4:3: .*did you mean "additionalImages"\?$/)
  assert.match(refusal(`${head}spec: {}\nmirror: {}\n`), /no field "spec" here; this is no Kubernetes object/)
  assert.match(refusal(`${head}mirror: {platform: {x: 1}}\n`), /the fields here are release, channels, graph/)
})

test('a field that is there under a misspelt name is not said to be missing as well', () => {
  const message = refusal(`${head}mirror: {additionalImages: [{nam: "quay.io/a/b:1"}, {}]}\n`)
  assert.deepEqual(
    message.split('\n').map((line) => line.split(': ').slice(1).join(': ')),
    [
      'mirror.additionalImages[0].nam: there is no field "nam" here; did you mean "name"?',
      'mirror.additionalImages[1].name: this field must be there, and it is missing',
    ],
  )
})

test('a misspelt value is quoted with those that it may have, and what was probably meant', () => {
  const cases = {
    'kind: ImagesetConfiguration\n':
      /^isc\.yaml:1:7: kind must be ImageSetConfiguration, not "ImagesetConfiguration"; it is misspelt/,
    'kind: Deployment\n': /kind must be ImageSetConfiguration, not "Deployment"$/,
    'kind: DeleteImageSetConfiguration\n': /give it to sallyport delete/,
    'apiVersion: mirror.openshift.io/v2alpha2\n':
      /:1:13: apiVersion: .* did you mean "mirror\.openshift\.io\/v2alpha1"\?/,
    'mirror: {platform: {channels: [{name: x, type: ocpp}]}}\n':
      /"ocpp" is not known, .*ocp, okd; did you mean "ocp"\?/,
    'mirror: {platform: {architectures: [x86_64]}}\n': /"x86_64" is not known, .* did you mean "amd64"\?/,
    'mirror: {platform: {architectures: ["{{ arch }}"]}}\n': /a variable that nobody has filled in$/,
    'mirror: {platform: {platforms: [{os: Linux, architecture: aarch64}]}}\n':
      /"Linux" is not known, .* did you mean "linux"\?\n.*"aarch64" is not known, .* did you mean "arm64"\?/,
    'mirror: {platform: {graph: maybe}}\n': /"maybe" stands here, and true or false is wanted/,
    'mirror: {operators: {catalog: x}}\n': /a mapping stands here, and a list, .* is wanted/,
    'mirror: {operators: [{catalog: "a.b/c:1", targetTag: 4.10}]}\n': /4\.10 without quotes is a number.*write '4\.10'/,
    'mirror: {operators: [{catalog: }]}\n': /operators\[0\]\.catalog: a value must stand here, and there is none/,
    'mirror: {additionalImages: [quay.io/a/b:1]}\n':
      /additionalImages\[0\]: "quay\.io\/a\/b:1" stands here, and a mapping of fields is wanted; write name: quay\.io\/a\/b:1$/,
    'mirror: {additionalImages: [null], platform: {architectures: [null]}}\n':
      /additionalImages\[0\]: nothing stands here, and a mapping of fields is wanted\n.*: nothing stands here; it must be one of amd64/,
    'archiveSize: 4GiB\n': /"4GiB" stands here, and a number is wanted/,
    'archiveSize: 0\n': /a whole number of GiB is wanted, 1 or more/,
    'failurePolicy: {operator: ignore}\n': /"ignore" is not known, it must be one of fail, warn, skip/,
  }
  for (const [line, message] of Object.entries(cases)) {
    const rest = `${head}mirror: {}\n`.split('\n').filter((other) => other.split(':')[0] !== line.split(':')[0])
    assert.match(refusal(line + rest.join('\n')), message, line)
  }
})

test('what oc-mirror v2 lets pass without a word is not: no apiVersion, several documents', () => {
  const { findings } = readImageSetConfiguration({
    file: 'isc.yaml',
    text: 'kind: ImageSetConfiguration\nmirror: {}\n',
  })
  assert.match(findings[0]?.summary ?? '', /apiVersion is missing; the file is read as mirror\.openshift\.io\/v2alpha1/)
  assert.match(
    refusal(`${head}mirror: {}\n---\n${head}mirror: {}\n`),
    /:5:1: here a second YAML document begins: .* holds 2/,
  )
  assert.equal(
    parseImageSetConfiguration({ file: 'x', text: `---\n${head}mirror: {}\n---\n` }).mirror.operators.length,
    0,
  )
})

test('rules between fields hold, each told at the field that breaks it', () => {
  const range = '      minVersion: 2.0.0\n      maxVersion: 1.9.0'
  assert.match(refusalOfPackages('    - name: p', range), /:9:19: .*"1\.9\.0" comes before minVersion "2\.0\.0"/)
  assert.match(
    refusalOfPackages('    - name: p', '    - name: p'),
    /:8:13: .*package "p" stands here for the second time/,
  )
  assert.match(refusalOfPackages('    - name: p', '      minVersion: 1.x'), /"1\.x" is not a semantic version/)
  const channels = '      channels: [{name: a, maxVersion: 1.0.0}, {name: a}]'
  const both = refusalOfPackages('    - name: p', '      minVersion: 1.0.0', channels)
  assert.match(both, /:9:40: .*package "p" and its channel "a" both have/)
  assert.match(both, /channel "a" stands here for the second time/)
})

test('a package or channel says in one way which versions it wants', () => {
  const packageWith = (...lines: string[]) =>
    refusalOfPackages('    - name: p', ...lines.map((line) => `      ${line}`))
  const several = packageWith('minVersion: 1.0.0', 'heads: 2')
  assert.match(several, /:9:14: .*heads: minVersion and maxVersion, heads stand together for "p"/)
  assert.match(packageWith('heads: 2', 'installed: 1.0.0'), /installed: heads, installed stand together/)
  assert.match(packageWith('channels: [{name: c, installed: 1.0.0, maxVersion: 2.0.0}]'), /stand together for "c"/)
  assert.match(packageWith('heads: -1'), /-1 is less than 0; 0 is the head alone/)
  assert.match(packageWith('heads: 1.5'), /1\.5 stands here, and a whole number is wanted/)
  assert.match(packageWith('installed: newest'), /"newest" is not a semantic version/)
})

test('catalogs are told apart by the name that they would have at the target', () => {
  const catalogs = (...lines: string[]) =>
    `${head}mirror:\n  operators:\n${lines.map((line) => `  - ${line}\n`).join('')}`
  const [a, b] = ['catalog: quay.io/a/index:v1', 'catalog: quay.io/b/index:v2']
  assert.match(refusal(catalogs(a, a)), /:6:14: .*catalog "quay\.io\/a\/index:v1" stands here for the second time/)
  const renamed = `{${b}, targetCatalog: a/index, targetTag: v1}`
  assert.match(refusal(catalogs(a, renamed)), /catalog "quay\.io\/a\/index:v1" stands here for the second time/)
  parseImageSetConfiguration({ file: 'x', text: catalogs(a, b, `{${a}, targetTag: v9}`) })
  assert.match(refusal(catalogs('catalog: quay.io/a/index')), /neither tag nor digest; .* quay\.io\/a\/index:v4\.18/)
})

test('rules about releases hold', () => {
  const platform = (fields: string) => refusal(`${head}mirror: {platform: ${fields}}\n`)
  assert.match(
    platform('{architectures: [amd64], platforms: [{os: linux, architecture: amd64}]}'),
    /exclude each other/,
  )
  assert.match(platform('{platforms: [{os: linux}]}'), /platforms\[0\]\.architecture: this field must be there/)
  assert.match(platform('{channels: [{name: a}, {name: a}]}'), /release channel "a" stands here for the second time/)
  assert.match(
    platform('{channels: [{name: a, minVersion: "4.18"}]}'),
    /"4\.18" is not a release version; write all three/,
  )
  assert.match(platform('{channels: [{name: a, minVersion: 4.18.2, maxVersion: 4.18.1}]}'), /comes before minVersion/)
})

test('full beside a range is refused where oc-mirror v2 would fail on it, and read as v1 did under v1alpha2', () => {
  const rest = 'mirror: {operators: [{catalog: "a.b/c:1", full: true, packages: [{name: p, minVersion: 1.0.0}]}]}\n'
  assert.match(refusal(head + rest), /operators\[0\]\.full: full: true excludes minVersion/)
  assert.equal(parseImageSetConfiguration({ file: 'x', text: oldHead + rest }).mirror.operators[0]?.full, true)
})

test('the same rules hold for what is deleted', () => {
  const text =
    'kind: DeleteImageSetConfiguration\ndelete: {operators: [{catalog: "a.b/c:1", packages: [{name: p}, {name: p}]}]}\n'
  assert.throws(
    () => readDeleteImageSetConfiguration({ file: 'x', text }),
    /package "p" stands here for the second time/,
  )
  const mixed = 'kind: DeleteImageSetConfiguration\ndelete: {}\nmirror: {}\n'
  assert.throws(
    () => readDeleteImageSetConfiguration({ file: 'x', text: mixed }),
    /what is to be deleted stands under delete/,
  )
})

test('a blocked image is an expression of Go', () => {
  assert.match(refusal(`${head}mirror: {blockedImages: [{name: "*aws*"}]}\n`), /did you mean "\.\*aws\.\*"\?/)
})

test('every complaint about a file is made at once, in the order of its lines', () => {
  const message = refusal(`${head}storageConfig: {}
mirror:
  platform:
    relase: x
    channels:
    - {name: a, type: x, minVersion: 4.2.0, maxVersion: 4.1.0}
    - name: a
  operators:
  - catalog: quay.io/a/index
    packages: [{name: p, x: y}, {name: p}]
  additionalImages:
  - name: Not/Lower:1
`)
  assert.deepEqual(
    message.split('\n').map((line) => line.split(' ')[0]?.slice('isc.yaml:'.length)),
    ['3:1:', '6:5:', '8:23:', '8:57:', '9:13:', '11:14:', '12:26:', '12:40:', '14:11:'],
  )
})

test('what is no YAML is told with the line, and what to look at', () => {
  assert.match(refusal(`${head}mirror: {}\nmirror: {}\n`), /^isc\.yaml:4:1: "mirror" stands twice/)
  assert.match(refusal(`${head}mirror:\n{% if x %}\n`), /^isc\.yaml:4:1: "\{% if x %\}" is the mark of a template/)
  assert.match(refusal(`${head}mirror: a\n  helm: b\n`), /at "helm: b"|at "mirror: a"/)
  assert.match(refusal('- a\n- b\n'), /^isc\.yaml:1:1: a mapping of fields must stand here/)
  assert.match(refusal('PK\0\0'), /this is no text file/)
})

test('a file that is not there is a configuration that does not load', async () => {
  for (const load of [loadImageSetConfiguration, loadDeleteImageSetConfiguration])
    await assert.rejects(load('/nonexistent/isc.yaml'), { code: 'CONFIG_INVALID', exitCode: 78 })
})

/** Words of the format, and what is near to them. */
const word = fc.constantFrom(
  'mirror',
  'platform',
  'operators',
  'catalog',
  'packages',
  'channels',
  'name',
  'minVersion',
  'helm',
  'repositories',
  'Charts',
  'x',
  'additionalImages',
  'ocp',
  'versions',
  'storageConfig',
  'full',
  'headsOnly',
  '__proto__',
  'delete',
)
const scalar = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('4.18.1', 'a.b/c:1', '1.2'),
)
const tree = fc.letrec((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(word, tie('node'), { maxKeys: 5 }),
  ),
})).node

test('whatever stands in a file, it loads, or is refused at places that are in it', () => {
  const version = fc.constantFrom('v1alpha1', 'v1alpha2', 'v2alpha1', 'v3')
  fc.assert(
    fc.property(version, tree, fc.dictionary(word, tree, { maxKeys: 4 }), (apiVersion, mirror, rest) => {
      const configuration = {
        kind: 'ImageSetConfiguration',
        apiVersion: `mirror.openshift.io/${apiVersion}`,
        ...rest,
        mirror,
      }
      const text = stringify(configuration)
      const lines = text.split('\n')
      try {
        readImageSetConfiguration({ file: 'isc.yaml', text })
      } catch (error) {
        assert.ok(error instanceof KnownError && error instanceof InvalidConfiguration)
        assert.ok(error.findings.length > 0)
        for (const { where } of error.findings) {
          const line = lines[(where?.line ?? 0) - 1]
          assert.ok(line !== undefined && (where?.column ?? 0) <= line.length + 1)
        }
      }
    }),
    { numRuns: 400 },
  )
})
