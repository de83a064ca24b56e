/** The lab, for real: namespaces, packets, squid, a registry, and nodes that pull. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { remainsOfLab } from '../../src/provision/lab/lab-status.ts'
import { canHaveLab, runOn, testLab } from '../../testkit/lab.ts'

/** Listens on a port of an address until it is ended, and answers every request with the word given. */
const webServer = (address: string, port: number, word: string) => [
  process.execPath,
  '-e',
  `require('http').createServer((_, answer) => answer.end(${JSON.stringify(word)})).listen(${port}, '${address}')`,
]

const connect = (address: string, port: number) => [
  process.execPath,
  '-e',
  `require('net').connect(${port}, '${address}')
    .on('connect', () => { console.log('connected'); process.exit() })
    .on('error', ({ code }) => { console.log(code); process.exit(1) })`,
]

test('the closed site reaches the bastion and nothing else, and every attempt is counted and named', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record } = await testLab(t)
  const { addresses } = await lab.makeNetwork({ record })
  const [outside = ''] = addresses.connected
  const [inside = ''] = addresses.bastion
  await lab.serve(
    { site: 'connected', name: 'web', argv: webServer(outside, 80, 'out'), env: {}, ports: [80] },
    { record },
  )
  await lab.serve(
    { site: 'bastion', name: 'mirror', argv: webServer(inside, 5000, 'in'), env: {}, ports: [5000] },
    { record },
  )

  assert.equal((await runOn(lab, 'bastion', connect(outside, 80))).text, 'connected\n')
  assert.equal((await runOn(lab, 'closed', connect(inside, 5000))).text, 'connected\n')
  const before = await lab.evidence()
  assert.ok(before.isProven)
  assert.deepEqual([before.leftPackets, before.tried], [0, []])
  assert.ok(before.sitePackets > 0)

  for (const [address, port] of [
    [outside, 80],
    ['9.9.9.9', 443],
    ['2001:db8::1', 443],
  ] as const) {
    assert.equal((await runOn(lab, 'closed', connect(address, port))).status, 1)
  }
  assert.notEqual((await runOn(lab, 'closed', ['getent', 'hosts', 'quay.io'])).status, 0)
  const after = await lab.evidence()
  assert.ok(after.isProven)
  assert.ok(after.leftPackets >= 4)
  const tried = after.tried.map(({ address, protocol, port }) => `${protocol} ${address} ${port}`)
  const expected = [`tcp ${outside} 80`, `udp ${outside} 53`, 'tcp 9.9.9.9 443', 'tcp 2001:db8::1 443']
  assert.deepEqual(tried.toSorted(), expected.toSorted())
  assert.equal(after.forwardedPackets, 0)
})

test('torn down twice, a lab leaves nothing, and the second time there was nothing to do', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record, records, teardown } = await testLab(t)
  await lab.makeNetwork({ record })
  const [inside = ''] = lab.facts().addresses.bastion
  await lab.serve({ site: 'bastion', name: 'web', argv: webServer(inside, 80, 'x'), env: {}, ports: [80] }, { record })
  assert.ok((await lab.status()).every(({ isThere }) => isThere))
  assert.deepEqual([...new Set(await teardown())], ['removed'])
  assert.deepEqual([...new Set(await teardown())], ['gone'])
  assert.deepEqual((await Promise.all(records.map((undo) => lab.remains(undo)))).flat(), [])
  assert.deepEqual(await remainsOfLab(lab.settings.plan.id), [])
})
