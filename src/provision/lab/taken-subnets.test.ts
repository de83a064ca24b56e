import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routeDestinations } from './taken-subnets.ts'

test('destinations of routes are read as addresses', () => {
  const table = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask
eth0\t00000000\t0101A8C0\t0003\t0\t0\t0\t00000000
lab0\t800012C6\t00000000\t0001\t0\t0\t0\t80FFFFFF
`
  assert.deepEqual(routeDestinations(table), ['0.0.0.0', '198.18.0.128'])
})
