import assert from 'node:assert/strict'
import { test } from 'node:test'
import { madeCatalog } from '../../testkit/catalogs.ts'
import { explainRequest } from './explain-request.ts'

const catalog = madeCatalog({
  lamp: {
    defaultChannel: 'stable',
    channels: {
      stable: ['lamp.v1.3.0 > lamp.v1.2.0', 'lamp.v1.2.0 > lamp.v1.1.0', 'lamp.v1.1.0 > lamp.v1.0.0', 'lamp.v1.0.0'],
      old: ['lamp.v1.0.0'],
    },
    bundles: {
      'lamp.v1.3.0': {
        version: '1.3.0',
        requires: [{ kind: 'package', package: 'socket', versionRange: '>=1.0.0' }],
      },
      'lamp.v1.2.0': '1.2.0',
      'lamp.v1.1.0': '1.1.0',
      'lamp.v1.0.0': '1.0.0',
    },
  },
  socket: { defaultChannel: 'stable', channels: { stable: ['socket.v1.1.0'] } },
})

const options = { catalogName: 'lab', releases: [] }

test('the way of an installed version is told for the catalog, and for what is kept of it', () => {
  const request = { packages: [{ name: 'lamp' }] }
  const { updates } = explainRequest(catalog, 'lamp', { ...options, request, installed: '1.1.0' })
  const stable = updates.find(({ channel }) => channel === 'stable')
  assert.deepEqual(stable?.way, { steps: ['lamp.v1.2.0', 'lamp.v1.3.0'], reachesHead: true })
  assert.deepEqual(stable?.keptWay, { steps: [], reachesHead: false })
  const way = explainRequest(catalog, 'lamp', {
    ...options,
    request: { packages: [{ name: 'lamp', channels: [{ name: 'stable', minVersion: '1.2.0' }] }] },
    installed: '1.1.0',
  }).updates
  assert.deepEqual(way.find(({ channel }) => channel === 'stable')?.keptWay?.steps, ['lamp.v1.2.0', 'lamp.v1.3.0'])
  assert.equal(way.find(({ channel }) => channel === 'old')?.keptWay, undefined)
})

test('what a kept bundle requires is offered, taken where the request says so, or kept already', () => {
  const state = (request: Parameters<typeof explainRequest>[2]['request']) =>
    explainRequest(catalog, 'lamp', { ...options, request }).dependencies.map((dependency) => dependency.state)
  const packages = [{ name: 'lamp' }]
  assert.deepEqual(state({ packages }), ['offered'])
  assert.deepEqual(state({ packages, dependencies: 'fail' }), ['offered'])
  assert.deepEqual(state({ packages, dependencies: 'take' }), ['taken'])
  assert.deepEqual(state({}), ['kept'])
})

test('a package that was taken for another one is explained as that; one that is not named as left out', () => {
  const packages = [{ name: 'lamp' }]
  const reason = (request: Parameters<typeof explainRequest>[2]['request']) =>
    explainRequest(catalog, 'socket', { ...options, request }).explanation.bundles[0]?.reason
  assert.deepEqual(
    [reason({ packages, dependencies: 'take' }), reason({ packages })].map((why) => [why?.isKept, why?.because]),
    [
      [true, 'dependency'],
      [false, 'package'],
    ],
  )
})
