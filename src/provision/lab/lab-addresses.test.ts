import assert from 'node:assert/strict'
import { isIPv4 } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { KnownError } from '../../errors/known-error.ts'
import { chooseSubnet, labAddresses, subnetOf } from './lab-addresses.ts'

const subnets = fc.integer({ min: 0, max: 511 })

test('a lab gets a network that is free, and the same one again', () => {
  fc.assert(
    fc.property(fc.string(), fc.uniqueArray(subnets, { maxLength: 511 }), (id, taken) => {
      const subnet = chooseSubnet(id, (candidate) => taken.includes(candidate))
      assert.ok(subnet >= 0 && subnet < 512 && !taken.includes(subnet))
      assert.equal(
        chooseSubnet(id, (candidate) => taken.includes(candidate)),
        subnet,
      )
    }),
  )
})

test('where all networks are in use it is said', () => {
  assert.throws(
    () => chooseSubnet('lab', () => true),
    (error) => error instanceof KnownError && error.code === 'LAB_FAILED',
  )
})

test('all addresses of a lab are different, lie in its network, and lead back to it', () => {
  fc.assert(
    fc.property(subnets, (subnet) => {
      const { connected, bastionOutside, bastionInside, closed } = labAddresses(subnet)
      const addresses = [connected, bastionOutside, bastionInside, closed]
      assert.equal(new Set(addresses).size, 4)
      for (const address of addresses) {
        assert.ok(isIPv4(address))
        assert.equal(subnetOf(address), subnet)
      }
    }),
  )
})

test('addresses of others are of no lab', () => {
  for (const address of ['10.0.0.1', '198.17.0.1', '198.20.0.1', '::1', '']) assert.equal(subnetOf(address), undefined)
})
