/** The lab where namespaces are not to be had: the same calls, and no proof. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { KnownError } from '../../src/errors/known-error.ts'
import { Lab } from '../../src/provision/lab/lab-provider.ts'
import { remainsOfLab } from '../../src/provision/lab/lab-status.ts'
import { openLab } from '../../src/provision/lab/open-lab.ts'
import { probeLab } from '../../src/provision/lab/probe-lab.ts'
import { labHost, runOn, testLab, thisUser, webServer } from '../../testkit/lab.ts'
import { peer } from '../../testkit/peers.ts'

const hasCode = (code: string) => (error: unknown) => error instanceof KnownError && error.code === code

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  server.close()
  await once(server, 'close')
  return address.port
}

test('who cannot have namespaces is told why, and what to do', async () => {
  const { mode } = await probeLab(labHost, { platform: 'linux', uid: 1000 })
  assert.ok(mode.kind === 'loopback')
  assert.deepEqual([mode.why, mode.remedy], ['user 1000 may not make network namespaces', 'Run it as root.'])
  const elsewhere = await probeLab(labHost, { platform: 'darwin', uid: 0 })
  assert.ok(elsewhere.mode.kind === 'loopback' && elsewhere.mode.why.includes('darwin'))
  const user = { platform: 'linux', uid: 1000 }
  const wanted = openLab(labHost, { id: 'x', directory: '/nonexistent', mode: 'namespaces', user })
  await assert.rejects(wanted, hasCode('LAB_UNAVAILABLE'))
})

test('on 127.0.0.1 everything runs, and nothing is said to be proven', async (t) => {
  if (process.platform !== 'linux') return t.skip('servers of the lab are found by /proc')
  const { lab, record, records, teardown } = await testLab(t, { mode: 'loopback' })
  const { limits } = await lab.makeNetwork({ record })
  assert.match(limits.join(), /There is no gap/)
  const port = await freePort()
  const server = {
    site: 'connected' as const,
    name: 'web',
    argv: webServer('127.0.0.1', port, 'x'),
    env: {},
    ports: [port],
  }
  const first = await lab.serve(server, { record })
  assert.deepEqual(await lab.serve(server, { record }), first)
  assert.notEqual((await lab.serve({ ...server, env: { CHANGED: 'yes' } }, { record })).pid, first.pid)
  await assert.rejects(lab.serve({ ...server, name: 'second' }, { record }), hasCode('LAB_FAILED'))
  assert.equal((await runOn(lab, 'closed', ['printf', 'here'])).text, 'here')
  const evidence = await lab.evidence()
  assert.ok(!evidence.isProven && evidence.why.includes('loopback was asked for'))
  await teardown()
  assert.deepEqual((await Promise.all(records.map((undo) => lab.remains(undo)))).flat(), [])
  assert.deepEqual(await remainsOfLab(lab.settings.plan.id), [])
})

test('a proxy runs on 127.0.0.1, too', async (t) => {
  if (process.platform !== 'linux' || peer(t, 'squid') === undefined) return
  const { lab, record } = await testLab(t, { mode: 'loopback' })
  await lab.makeNetwork({ record })
  const port = await freePort()
  const { proxy } = await lab.makeBastion({ proxy: { port, username: 'user', password: 'right' } }, { record })
  assert.equal(proxy?.urls.closed, `http://127.0.0.1:${port}`)
  assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 400)
})

test('without squid a proxy is refused with the name of the package, and a bastion without one is made', async (t) => {
  const { lab, record } = await testLab(t, { mode: 'loopback' })
  const without = new Lab(labHost, { ...lab.settings, squid: undefined, user: thisUser })
  await without.makeNetwork({ record })
  const proxy = { port: 3128, username: 'user', password: 'x' }
  await assert.rejects(without.makeBastion({ proxy }, { record }), (error) => {
    return hasCode('LAB_UNAVAILABLE')(error) && error instanceof KnownError && error.hint.includes('package squid')
  })
  assert.deepEqual(await without.makeBastion({}, { record }), {})
})

test('what would be a line of its own in a hosts file is no name', async (t) => {
  for (const name of ['quay.io\n1.2.3.4 x', 'quay.io:443', '']) {
    await assert.rejects(testLab(t, { mode: 'loopback', upstreamNames: [name] }), hasCode('USAGE'))
    await assert.rejects(testLab(t, { mode: 'loopback', bastionNames: [name] }), hasCode('USAGE'))
  }
})

test('files are placed for their owner alone, inside of the bastion’s folder and nowhere else', async (t) => {
  const { lab, record, records, teardown } = await testLab(t, { mode: 'loopback' })
  await lab.makeNetwork({ record })
  for (const path of ['../escaped', '/../x', '..']) {
    await assert.rejects(lab.placeFiles([{ path, content: '' }], { record }), hasCode('USAGE'))
  }
  const [path = ''] = await lab.placeFiles([{ path: 'a/password', content: 'hunter2' }], { record })
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.ok(!JSON.stringify(records).includes('hunter2'))
  assert.deepEqual([...new Set(await teardown())], ['removed'])
})
