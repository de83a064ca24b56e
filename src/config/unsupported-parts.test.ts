import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDeleteImageSetConfiguration } from './delete-image-set-configuration.ts'
import { readImageSetConfiguration } from './image-set-configuration.ts'
import { findingLine } from './invalid-config.ts'
import { ignoredParts, refuseUnsupported, unsupportedParts, withoutClasses } from './unsupported-parts.ts'

const content = `
  platform:
    graph: true
    kubeVirtContainer: true
    channels: [{name: stable-4.18}]
    platforms: [{os: linux, architecture: amd64}]
  operators:
  - catalog: quay.io/a/index:v1
  additionalImages:
  - name: quay.io/a/b:1
  - name: quay.io/a/c:1
    platforms: [{os: linux, architecture: amd64}]
  - name: oci:///srv/image
  helm:
    local: [{name: a, path: ./a.tgz}]
`

function read(text: string, apiVersion = 'v2alpha1') {
  const head = `kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/${apiVersion}\n`
  return readImageSetConfiguration({ file: 'isc.yaml', text: head + text })
}

const everything = ['15:5 additional']
/** The platforms of an image go with it. */
const undeletable = ['8:5 release', '9:3 operator', '14:5 additional', '15:5 additional', '16:3 helm']

test('each part that is not carried out is told at its place, with its class and what to do instead', () => {
  const parts = unsupportedParts(read(`mirror:${content}`))
  assert.deepEqual(
    parts.map(({ where, class: of }) => `${where?.line}:${where?.column} ${of}`),
    everything,
  )
  for (const { remedy } of parts) assert.match(remedy ?? '', /take|name|push/)
  const text = `kind: DeleteImageSetConfiguration\n# the same lines\ndelete:${content}`.replace(
    '# the same lines\n',
    'apiVersion: mirror.openshift.io/v2alpha1\n',
  )
  const deletion = unsupportedParts(readDeleteImageSetConfiguration({ file: 'disc.yaml', text }))
  assert.deepEqual(
    deletion.map(({ where, class: of }) => `${where?.line}:${where?.column} ${of}`),
    undeletable,
  )
})

test('what is carried out is not among them', () => {
  const text = `mirror:
  platform:
    graph: true
    kubeVirtContainer: true
    channels: [{name: stable-4.18}]
    platforms: [{os: linux, architecture: amd64}]
  operators: [{catalog: 'a.b/c:1'}]
  additionalImages: [{name: quay.io/a/b:1, targetRepo: c, platforms: [{os: linux, architecture: arm64}]}]
  helm: {repositories: [], local: [{name: a, path: ./a.tgz}]}
  blockedImages: [{name: aws}]
`
  assert.deepEqual(unsupportedParts(read(text)), [])
  assert.deepEqual(ignoredParts(read(text)), [])
})

test('it is refused, but for the classes that the policy leaves out', () => {
  const loaded = read(`mirror:\n  operators: [{catalog: 'a.b/c:1'}]\n  additionalImages: [{name: 'oci:///a/b'}]\n`)
  assert.throws(() => refuseUnsupported(loaded), {
    code: 'CONFIG_INVALID',
    message: /^isc\.yaml:5:23: mirror\.additionalImages\[0\]\.name: .* not carried out .*; push the image/,
    hint: /failurePolicy/,
  })
  assert.throws(() => refuseUnsupported(loaded, { additional: 'warn', operator: 'skip' }), { code: 'CONFIG_INVALID' })
  const leftOut = refuseUnsupported(loaded, { additional: 'skip' })
  const { mirror } = withoutClasses(loaded.configuration, new Set(leftOut.map((part) => part.class)))
  assert.deepEqual(mirror.additionalImages, [])
  assert.equal(mirror.operators.length, 1)
})

test('what loads without effect is told with the reason', () => {
  const text = `storageConfig: {local: {path: /m}}
mirror:
  platform: {release: 'quay.io/a/b:1', architectures: [amd64], channels: [{name: a, minVersion: 4.1.1, maxVersion: 4.1.2, full: true}]}
  operators:
  - catalog: quay.io/a/index:v1
    skipDependencies: true
    targetName: t
    originalRef: o
    full: true
    packages: [{name: p, minVersion: 1.0.0, channels: [{name: c, minBundle: p.v1}]}]
  samples: [{name: ruby}]
`
  const found = ignoredParts(read(text, 'v1alpha2'))
  assert.deepEqual(
    found.map(({ severity, where }) => `${where?.line}:${where?.column} ${severity}`),
    [
      '3:1 info',
      '5:40 info',
      '5:123 warning',
      '8:5 info',
      '9:5 warning',
      '10:5 warning',
      '11:5 warning',
      '12:66 warning',
      '13:3 warning',
    ],
  )
  assert.match(findingLine(found[0] ?? { id: '', severity: 'info', summary: '' }), /history is kept in the workspace/)
  assert.match(ignoredParts(read('mirror: {}\n'))[0]?.summary ?? '', /asks for nothing at all/)
})
