/** Whatever way a packet takes out of the closed site of a lab, it is counted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { namespaceName } from '../../src/provision/lab/lab-plan.ts'
import { must } from '../../src/provision/lab/lab-programs.ts'
import { canHaveLab, labHost, runOn, testLab } from '../../testkit/lab.ts'

const datagram = (address: string, port: number) => [
  process.execPath,
  '-e',
  `const socket = require('dgram').createSocket('udp${address.includes(':') ? 6 : 4}')
  socket.bind(0, () => {
    if ('${address}' === '255.255.255.255') socket.setBroadcast(true)
    socket.send('x', ${port}, '${address}', () => socket.close())
  })`,
]

const connection = (address: string, port: number) => [
  process.execPath,
  '-e',
  `require('net').connect(${port}, '${address}').on('error', () => {})`,
]

/** The kernel asks a link who has an address, past every hook of IP, as a program does that makes its own frames. */
const askedOn = (device: string, address: string) => ['ip', 'neigh', 'replace', address, 'dev', device, 'use']

test('every way out of the closed site is counted: other routes, the loopback of a resolver, broadcast, frames', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record } = await testLab(t)
  const { addresses } = await lab.makeNetwork({ record })
  const [inside = '', outside = ''] = addresses.bastion
  for (const [net, via] of [
    ['9.9.9.8/32', ['via', inside]],
    ['9.9.9.7/32', ['via', outside, 'dev', 'bastion0', 'onlink']],
    ['2001:db8::7/128', ['dev', 'bastion0']],
  ] as const) {
    const { status, text } = await runOn(lab, 'closed', ['ip', 'route', 'add', net, ...via])
    assert.equal(status, 0, text)
  }
  const ways: Readonly<Record<string, readonly string[]>> = {
    '9.9.9.9 udp 443': datagram('9.9.9.9', 443),
    '9.9.9.8 tcp 443': connection('9.9.9.8', 443),
    '9.9.9.7 udp 443': datagram('9.9.9.7', 443),
    '2001:db8::7 tcp 443': connection('2001:db8::7', 443),
    [`${outside} tcp 443`]: connection(outside, 443),
    '127.0.0.1 udp 53': datagram('127.0.0.1', 53),
    '127.0.0.53 tcp 53': connection('127.0.0.53', 53),
    '::1 udp 53': datagram('::1', 53),
    '255.255.255.255 udp 67': datagram('255.255.255.255', 67),
    '224.0.0.251 udp 5353': datagram('224.0.0.251', 5353),
    '9.9.9.1 arp': askedOn('bastion0', '9.9.9.1'),
    '9.9.9.2 arp': askedOn('nowhere0', '9.9.9.2'),
  }
  const ends = await Promise.all(Object.values(ways).map((argv) => runOn(lab, 'closed', argv)))
  assert.deepEqual(
    ends.filter(({ status }) => status !== 0),
    [],
  )
  const evidence = await lab.evidence()
  assert.ok(evidence.isProven)
  const tried = evidence.tried.map(({ address, protocol, port }) => [address, protocol, port].join(' ').trim())
  assert.deepEqual(tried.toSorted(), Object.keys(ways).toSorted())
  assert.ok(evidence.leftPackets >= tried.length)
})

test('what stays on the loopback and in the site is not taken for an attempt to leave, and neither is upkeep of the link', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record } = await testLab(t)
  const { addresses } = await lab.makeNetwork({ record })
  const [inside = ''] = addresses.bastion
  for (const argv of [
    connection('127.0.0.1', 80),
    connection('::1', 80),
    connection(addresses.closed[0] ?? '', 80),
    connection(inside, 80),
    askedOn('bastion0', inside),
    ['ip', '-6', 'neigh', 'replace', 'fe80::1', 'dev', 'bastion0', 'use'],
  ]) {
    assert.equal((await runOn(lab, 'closed', argv)).status, 0, argv.join(' '))
  }
  const evidence = await lab.evidence()
  assert.ok(evidence.isProven)
  assert.deepEqual([evidence.leftPackets, evidence.tried, evidence.forwardedPackets], [0, [], 0])
})

test('what a bastion is asked to pass on is counted, also where it would not have routed it', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record } = await testLab(t)
  const { addresses } = await lab.makeNetwork({ record })
  const [[closed = ''], [, outside = '']] = [addresses.closed, addresses.bastion]
  assert.equal((await runOn(lab, 'connected', ['ip', 'route', 'add', `${closed}/32`, 'via', outside])).status, 0)
  assert.equal((await runOn(lab, 'connected', datagram(closed, 80))).status, 0)
  const evidence = await lab.evidence()
  assert.ok(evidence.isProven)
  assert.ok(evidence.forwardedPackets > 0)
})

test('frames are counted on a cable that was made again, too', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record } = await testLab(t)
  await lab.makeNetwork({ record })
  await must(labHost, ['ip', 'netns', 'delete', namespaceName(lab.settings.plan.id, 'closed')])
  // It goes in its own time, and the other ends of its cables with it.
  while ((await runOn(lab, 'bastion', ['ip', 'link', 'show', 'closed0'])).status === 0) await labHost.clock.sleep(10)
  await lab.makeNetwork({ record })
  assert.equal((await runOn(lab, 'closed', askedOn('bastion0', '9.9.9.1'))).status, 0)
  const evidence = await lab.evidence()
  assert.ok(evidence.isProven)
  assert.deepEqual(evidence.tried, [{ address: '9.9.9.1', protocol: 'arp', packets: 1 }])
})

test('what is tried over IPv6 is counted also where the closed site was without', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record } = await testLab(t)
  await lab.makeNetwork({ record })
  const off = 'for one in all default; do echo 1 > /proc/sys/net/ipv6/conf/$one/disable_ipv6; done'
  assert.equal((await runOn(lab, 'closed', ['sh', '-ec', off])).status, 0)
  await lab.makeNetwork({ record })
  assert.equal((await runOn(lab, 'closed', connection('2001:db8::1', 443))).status, 0)
  const evidence = await lab.evidence()
  assert.ok(evidence.isProven)
  assert.deepEqual(
    evidence.tried.map(({ address }) => address),
    ['2001:db8::1'],
  )
})
