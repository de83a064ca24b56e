import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../oci/digest.ts'
import { parseReference } from '../oci/reference.ts'
import { planMirror } from './plan.ts'
import { planLines } from './plan-file.ts'

test('a plan that was written reads back as the same plan, and has a line for each thing in it', () => {
  const digest = digestOf('manifest')
  const blob = { mediaType: 'layer', digest: digestOf('blob'), size: 3 }
  const image = {
    selected: {
      source: parseReference(`quay.io/a/b@${digest}`),
      class: 'additional',
      destination: parseReference('mirror.lab/a/b:1'),
      why: 'a "test"',
    },
    digest,
    manifests: [{ descriptor: { mediaType: 'manifest', digest, size: 9 }, blobs: [blob], children: [] }],
  } as const
  for (const images of [[], [image]]) {
    const plan = planMirror('mirror.lab', images, () => false)
    const text = [...planLines(plan)].join('')
    assert.deepEqual(JSON.parse(text), plan)
    assert.equal(
      text.split('\n').filter((line) => line.startsWith('{"') && !line.includes('version')).length,
      images.length * 3,
    )
  }
})
