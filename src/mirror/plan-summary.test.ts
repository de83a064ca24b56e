import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planOf } from '../../testkit/plans.ts'
import { digestOf } from '../oci/digest.ts'
import { summarisePlan } from './plan-summary.ts'

test('images are counted by class, and each of the largest blobs says who needs it and why', () => {
  const plan = planOf([
    { name: 'one', layers: ['the base of all', 'own'], architectures: ['amd64', 'arm64'] },
    { name: 'two', layers: ['the base of all'] },
    { name: 'there', layers: ['x'], isPresent: true },
  ])
  const { classes, largest, totals, target } = summarisePlan(plan, 2)
  assert.deepEqual(
    [target, totals, classes],
    ['mirror.lab/ocp', plan.totals, { additional: { images: 3, present: 1 } }],
  )
  assert.equal(largest.length, 2)
  assert.deepEqual(largest[0], {
    digest: digestOf('the base of all'),
    size: 1500,
    source: 'quay.io/team/one',
    images: ['one:v1', 'two:v1'],
    why: 'additionalImages one',
  })
  assert.deepEqual(summarisePlan(planOf([]), 10).largest, [])
})
