import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { addressNetwork, doNetworksOverlap, formatNetwork, parseNetwork } from './ip-network.ts'

test('networks are read, and what is none is not', () => {
  assert.equal(parseNetwork('10.0.0.0/16')?.last, (10n << 24n) + 0xffffn)
  assert.equal(parseNetwork('fd00::/48')?.prefix, 48)
  const none = [
    '10.0.0.0',
    '10.0.0/8',
    '10.0.0.256/8',
    '10.0.0.0/33',
    '010.0.0.0/8',
    'fd00::/129',
    'fd00:::/48',
    '1:2/8',
    '/8',
  ]
  for (const text of none) assert.equal(parseNetwork(text), undefined, text)
})

test('the address of a host is told from that of its network, and the network can be written', () => {
  const network = parseNetwork('10.0.1.5/16')
  assert.equal(network?.isNetworkAddress, false)
  assert.equal(network && formatNetwork(network), '10.0.0.0/16')
})

test('what is written reads back, and holds each of its addresses', () => {
  const networks = fc.tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(128))
  fc.assert(
    fc.property(networks, ([address, length]) => {
      const host = addressNetwork(address)
      // An IPv6 address with an IPv4 one at its end is not read.
      if (host === undefined) return assert.match(address, /:.*\./)
      const network = parseNetwork(`${address}/${host.version === 4 ? length % 33 : length}`)
      assert.ok(network)
      assert.deepEqual(parseNetwork(formatNetwork(network)), { ...network, isNetworkAddress: true })
      assert.ok(doNetworksOverlap(network, host) && doNetworksOverlap(host, network))
    }),
  )
})
