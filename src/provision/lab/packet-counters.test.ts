import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { KnownError } from '../../errors/known-error.ts'
import type { CountedEvidence } from '../provider.ts'
import { evidenceSince, readCounters } from './packet-counters.ts'

const element = (concat: readonly unknown[], packets: number) => ({
  elem: { val: { concat }, counter: { packets, bytes: 1 } },
})
/** In the form of nft 1.0.6. */
const closed = {
  nftables: [
    { metainfo: { version: '1.0.6', json_schema_version: 1 } },
    { table: { family: 'inet', name: 'sallyport', handle: 1 } },
    { counter: { family: 'inet', name: 'site', table: 'sallyport', handle: 2, packets: 7, bytes: 9 } },
    { counter: { family: 'inet', name: 'left', table: 'sallyport', handle: 3, packets: 5, bytes: 9 } },
    {
      set: {
        name: 'tried4',
        elem: [element(['9.9.9.9', 'tcp', 443], 2), element(['198.18.0.2', 'udp', 53], 1)],
        stmt: [{ counter: null }],
      },
    },
    { set: { name: 'other4', elem: [element(['9.9.9.9', 'icmp'], 2)] } },
    { set: { name: 'tried6' } },
    { counter: { family: 'netdev', name: 'frames', table: 'sallyport', handle: 2, packets: 2, bytes: 9 } },
    { set: { name: 'frames4', elem: [element(['9.9.9.9', 'arp'], 1), element(['9.9.9.9', 'ip'], 1)] } },
    // 07 "example" 00 00 01 00: the name, and what follows it.
    { set: { name: 'asked3', elem: [element([0x07657861, 0x6d706c65, 0x00000100], 2)] } },
    { set: { name: 'asked4', elem: [element([0x07657861, 0x6d706c65, 0x00000100, 0x01000029], 1)] } },
    { chain: { name: 'output' } },
  ],
}
const bastion = {
  nftables: [
    { counter: { name: 'forwarded', packets: 0 } },
    { counter: { name: 'frames', packets: 3 } },
    { set: { name: 'frames4', elem: [element(['9.9.9.9', 'arp'], 3)] } },
  ],
}

test('packets that wanted out are counted, and their destinations named', () => {
  assert.deepEqual(readCounters(JSON.stringify(closed), JSON.stringify(bastion)), {
    isProven: true,
    leftPackets: 10,
    sitePackets: 7,
    forwardedPackets: 0,
    asked: [{ name: 'example', packets: 3 }],
    tried: [
      { address: '198.18.0.2', protocol: 'udp', port: 53, packets: 1 },
      { address: '9.9.9.9', protocol: 'arp', packets: 4 },
      { address: '9.9.9.9', protocol: 'icmp', packets: 2 },
      { address: '9.9.9.9', protocol: 'ip', packets: 1 },
      { address: '9.9.9.9', protocol: 'tcp', port: 443, packets: 2 },
    ],
  })
})

test('what nft did not say is not taken for nothing', () => {
  const withoutFrames = { nftables: closed.nftables.filter(({ counter }) => counter?.name !== 'frames') }
  for (const broken of ['', '{}', '{"nftables":[]}', JSON.stringify(bastion), JSON.stringify(withoutFrames)]) {
    assert.throws(
      () => readCounters(broken, JSON.stringify(bastion)),
      (error) => error instanceof KnownError && error.code === 'LAB_FAILED',
    )
  }
})

const counts = fc.nat({ max: 1000 })
const destinations = fc.uniqueArray(
  fc.record(
    { address: fc.ipV4(), protocol: fc.constantFrom('tcp', 'udp'), port: counts, packets: counts },
    { noNullPrototype: true },
  ),
  { selector: ({ address, protocol, port }) => `${address} ${protocol} ${port}` },
)
const evidence = fc.record<CountedEvidence>(
  {
    isProven: fc.constant(true),
    leftPackets: counts,
    sitePackets: counts,
    forwardedPackets: counts,
    tried: destinations,
    asked: fc.constant([]),
  },
  { noNullPrototype: true },
)

test('what was seen before is taken off, and nothing else', () => {
  fc.assert(
    fc.property(evidence, evidence, (before, more) => {
      const known = new Set(before.tried.map(({ address }) => address))
      const fresh = more.tried.filter(({ address, packets }) => !known.has(address) && packets > 0)
      const after = {
        isProven: true as const,
        leftPackets: before.leftPackets + more.leftPackets,
        sitePackets: before.sitePackets + more.sitePackets,
        forwardedPackets: before.forwardedPackets + more.forwardedPackets,
        tried: [...before.tried, ...fresh],
        asked: [],
      }
      assert.deepEqual(evidenceSince(before, after), { ...more, tried: fresh })
    }),
  )
})
