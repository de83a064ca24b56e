import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KnownError } from '../errors/known-error.ts'
import { loadImageSetConfiguration, parseImageSetConfiguration } from './image-set-configuration.ts'

const head = 'kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\n'

function refusal(text: string): string {
  try {
    parseImageSetConfiguration({ file: 'isc.yaml', text })
  } catch (error) {
    if (error instanceof KnownError && error.code === 'CONFIG_INVALID') return error.message
    throw error
  }
  throw new Error('it was accepted')
}

test('a release image and additional images load', () => {
  const text = `${head}mirror:
  platform:
    release: quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64
  additionalImages:
  - name: registry.redhat.io/ubi9/ubi:latest
    targetRepo: my/ubi
  blockedImages:
  - name: .*aws.*
`
  const { mirror } = parseImageSetConfiguration({ file: 'isc.yaml', text })
  assert.equal(mirror.platform?.release, 'quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64')
  assert.deepEqual(mirror.additionalImages, [{ name: 'registry.redhat.io/ubi9/ubi:latest', targetRepo: 'my/ubi' }])
})

test('a misspelt field is named with its place and with what was probably meant', () => {
  const message = refusal(`${head}mirror:\n  additonalImages:\n  - name: quay.io/a/b:1\n`)
  assert.equal(
    message,
    'isc.yaml:4:3: mirror.additonalImages: there is no field "additonalImages" here; did you mean "additionalImages"?',
  )
})

test('every complaint about a file is made at once, in the order of its lines', () => {
  const message = refusal(`${head}mirror:\n  platform:\n    relase: x\n  additionalImages:\n  - name: Not/Lower:1\n`)
  assert.deepEqual(
    message.split('\n').map((line) => line.split(' ')[0]),
    ['isc.yaml:5:5:', 'isc.yaml:7:11:'],
  )
})

test('a key that stands twice is refused', () => {
  assert.match(refusal(`${head}mirror: {}\nmirror: {}\n`), /^isc\.yaml:4:1: "mirror" stands twice/)
})

test('another kind, and a file that is no mapping, are refused', () => {
  assert.match(refusal('kind: Deployment\n'), /kind must be ImageSetConfiguration/)
  assert.match(refusal('- a\n- b\n'), /isc\.yaml:1:1/)
})

test('a file that is not there is a configuration that does not load', async () => {
  await assert.rejects(loadImageSetConfiguration('/nonexistent/isc.yaml'), { code: 'CONFIG_INVALID', exitCode: 78 })
})
