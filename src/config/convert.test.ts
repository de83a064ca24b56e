import assert from 'node:assert/strict'
import { test } from 'node:test'
import { convertToV2alpha1 } from './convert.ts'
import { parseImageSetConfiguration } from './image-set-configuration.ts'

test('v1alpha2 becomes v2alpha1, with comments, order and lists as they were; what has no successor is a warning', () => {
  const text = `# Our mirror
apiVersion: mirror.openshift.io/v1alpha2
kind: ImageSetConfiguration
#archiveSize: 4
storageConfig:
  local:
    path: /opt/mirror
mirror:
  additionalimages:
  - name: quay.io/a/b:1 # the one
  operators:
  # the catalog of Red Hat
  - catalog: registry.redhat.io/redhat/redhat-operator-index:v4.12
    targetName: ours
    originalRef: x
    full: true
    packages:
    - name: p
      minVersion: '1.10'
    - name: q
      channels:
      - name: c
        minBundle: q.v2
`
  const { text: converted, changes, isUnchanged } = convertToV2alpha1({ file: 'isc.yaml', text })
  assert.equal(isUnchanged, false)
  assert.equal(
    converted,
    `# Our mirror
apiVersion: mirror.openshift.io/v2alpha1
kind: ImageSetConfiguration
#archiveSize: 4
mirror:
  additionalImages:
  - name: quay.io/a/b:1 # the one
  operators:
  # the catalog of Red Hat
  - catalog: registry.redhat.io/redhat/redhat-operator-index:v4.12
    targetCatalog: redhat/ours
    packages:
    - name: p
      minVersion: '1.10'
    - name: q
      channels:
      - name: c
`,
  )
  assert.deepEqual(
    changes.map(({ severity, where }) => `${where?.line}:${where?.column} ${severity}`),
    ['2:13 info', '5:1 warning', '9:3 info', '14:5 info', '15:5 info', '16:5 warning', '23:9 warning'],
  )
  assert.match(changes[5]?.summary ?? '', /of q only the heads come now/)
})

test('v1alpha1 becomes v2alpha1 too', () => {
  const text = `apiVersion: mirror.openshift.io/v1alpha1
kind: ImageSetConfiguration
mirror:
  ocp:
    channels:
      - name: stable-4.6
        versions: ['4.6.4']
  operators:
    - catalog: quay.io/a/index:v1
      headsOnly: false # everything
      skipDeps: true
`
  const converted = convertToV2alpha1({ file: 'isc.yaml', text })
  assert.equal(
    converted.text,
    `apiVersion: mirror.openshift.io/v2alpha1
kind: ImageSetConfiguration
mirror:
  platform:
    channels:
      - name: stable-4.6
        minVersion: 4.6.4
        maxVersion: 4.6.4
  operators:
    - catalog: quay.io/a/index:v1
      full: true # everything
      skipDependencies: true
`,
  )
  parseImageSetConfiguration({ file: 'isc.yaml', text: converted.text })
})

test('where targetCatalog stands beside targetName, it stays as it is', () => {
  const text = `kind: ImageSetConfiguration
apiVersion: mirror.openshift.io/v1alpha2
mirror:
  operators:
    - catalog: quay.io/a/index:v1
      targetCatalog: b/c
      targetName: d
`
  const { text: converted, changes } = convertToV2alpha1({ file: 'isc.yaml', text })
  assert.match(converted, /targetCatalog: b\/c\n$/)
  assert.match(changes[1]?.summary ?? '', /targetName is left out: targetCatalog stands beside it/)
})

test('what is v2alpha1 already comes out byte for byte; what does not load is refused', () => {
  const text = 'kind:   ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror: { }\n'
  assert.deepEqual(convertToV2alpha1({ file: 'isc.yaml', text }), { text, isUnchanged: true, changes: [] })
  assert.throws(() => convertToV2alpha1({ file: 'isc.yaml', text: 'kind: x\n' }), { code: 'CONFIG_INVALID' })
})

test('a file to delete with is converted as well, and one without apiVersion gets it', () => {
  const text = 'kind: DeleteImageSetConfiguration\ndelete:\n  operators:\n  - catalog: a.b/c/d:1\n'
  const { text: converted } = convertToV2alpha1({ file: 'disc.yaml', text })
  assert.equal(converted, `${text}apiVersion: mirror.openshift.io/v2alpha1\n`)
})
