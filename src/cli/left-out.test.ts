import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseImageSetConfiguration } from '../config/image-set-configuration.ts'
import { failurePolicyOf } from '../mirror/failure-policy.ts'
import { leftOutLines } from './left-out.ts'

const config = parseImageSetConfiguration({
  file: 'isc.yaml',
  text: `
kind: ImageSetConfiguration
apiVersion: mirror.openshift.io/v2alpha1
mirror:
  platform: {release: quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64}
  additionalImages: [{name: quay.io/a/b:1}, {name: quay.io/a/c:1}]
  files: [{path: notes.txt}]
`,
})

test('what is asked for and left out is named by its class; what nobody asks for is not', () => {
  const lines = leftOutLines(
    config,
    failurePolicyOf({ release: 'skip', additional: 'skip', operator: 'skip', helm: 'skip' }),
  )
  assert.deepEqual(lines, [
    'left out (failure policy release: skip): mirror.platform, quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64',
    'left out (failure policy additional: skip): mirror.additionalImages, 2 images; mirror.files, 1 file',
  ])
  assert.deepEqual(leftOutLines(config, failurePolicyOf({ release: 'warn' })), [])
})
