import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capabilitiesOf } from './capabilities.ts'

/** How many capabilities a set enables in a release. */
const enabled = (version: string, baselineCapabilitySet?: string) =>
  capabilitiesOf(version, { baselineCapabilitySet }).enabled.length

test('sets are those of the release, as its API has them', () => {
  // Counted in openshift/api, branches release-4.11 to release-4.23: v4.11, v4.12, …, vCurrent.
  const sets = (version: string, ...names: string[]) => names.map((name) => enabled(version, name))
  assert.deepEqual(sets('4.11.0', 'None', 'v4.11', 'vCurrent'), [0, 3, 3])
  assert.deepEqual(sets('4.12.0', 'v4.11', 'v4.12', 'vCurrent'), [3, 7, 7])
  assert.deepEqual(sets('4.13.5', 'v4.11', 'v4.12', 'v4.13', 'vCurrent'), [3, 7, 8, 8])
  assert.deepEqual(sets('4.14.0', 'v4.11', 'v4.12', 'v4.13', 'v4.14', 'vCurrent'), [4, 8, 9, 12, 12])
  assert.deepEqual(sets('4.16.1', 'v4.14', 'v4.15', 'v4.16', 'vCurrent'), [12, 14, 16, 16])
  assert.deepEqual(sets('4.18.9', 'v4.17', 'v4.18', 'vCurrent'), [16, 17, 17])
  assert.deepEqual(sets('4.22.0-rc.1', 'v4.18', 'vCurrent'), [17, 17])
  assert.deepEqual(sets('4.23.0', 'v4.18', 'vCurrent'), [17, 19])
  assert.deepEqual(sets('5.1.0', 'v4.18', 'vCurrent'), [17, 19])
})

test('without a baseline everything that the release knows is enabled', () => {
  assert.equal(enabled('4.18.9'), 17)
  assert.equal(enabled('4.18.9', ''), 17)
})

test('capabilities are added to a set, each once', () => {
  const additionalEnabledCapabilities = ['Storage', 'marketplace']
  const { enabled, known } = capabilitiesOf('4.12.0', { baselineCapabilitySet: 'v4.11', additionalEnabledCapabilities })
  assert.deepEqual(enabled, ['baremetal', 'marketplace', 'openshift-samples', 'Storage'])
  assert.equal(known.length, 7)
})

test('a set or a capability that the release does not have is refused with those that there are', () => {
  assert.throws(() => enabled('4.12.0', 'v4.13'), { code: 'CONFIG_INVALID', hint: /None, v4\.11, v4\.12, vCurrent/ })
  // No set was named after 4.18.
  assert.throws(() => enabled('4.20.0', 'v4.19'), { code: 'CONFIG_INVALID' })
  const wanted = { additionalEnabledCapabilities: ['Ingress'] }
  assert.throws(() => capabilitiesOf('4.12.0', wanted), { message: /4\.12\.0 does not know Ingress/, hint: /Storage/ })
})
