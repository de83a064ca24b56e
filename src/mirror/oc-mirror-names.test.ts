import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf, hexOf } from '../oci/digest.ts'
import { parseReference } from '../oci/reference.ts'
import { storedNames } from './oc-mirror-names.ts'

const digest = digestOf('image')
const names = storedNames({
  platform: { release: 'registry.example.com/okd/release:4.18.0' },
  additionalImages: [
    { name: 'docker://quay.io/team/app', targetRepo: 'other/app' },
    { name: 'quay.io/team/tool:1', targetTag: 'one' },
    { name: `quay.io/team/tool@${digest}` },
    { name: 'oci:///layouts/local' },
  ],
})

const cases = [
  ['quay.io/team/app:latest', ['other/app:latest']],
  ['quay.io/team/tool:1', ['team/tool:one']],
  [`quay.io/team/tool@${digest}`, [`team/tool:sha256-${hexOf(digest)}`]],
  ['quay.io/not/configured:2', ['not/configured:2']],
  ['registry.example.com/okd/release:4.18.0', ['openshift/release-images:4.18.0', 'okd/release:4.18.0']],
  [
    'quay.io/openshift-release-dev/ocp-release:4.18.9-x86_64',
    ['openshift/release-images:4.18.9-x86_64', 'openshift-release-dev/ocp-release:4.18.9-x86_64'],
  ],
] as const

for (const [image, expected] of cases) {
  test(`${image.slice(0, 60)} is kept as ${expected[0].slice(0, 50)}`, () => {
    assert.deepEqual(
      names(parseReference(image)).map(({ repository, tag }) => `${repository}:${tag}`),
      expected,
    )
  })
}
