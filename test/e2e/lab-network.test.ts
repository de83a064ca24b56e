/** The lab, for real: namespaces, packets, squid, a registry, and nodes that pull. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isAlive } from '../../src/host/processes.ts'
import { namespaceName } from '../../src/provision/lab/lab-plan.ts'
import { must } from '../../src/provision/lab/lab-programs.ts'
import { remainsOfLab } from '../../src/provision/lab/lab-status.ts'
import { openLab } from '../../src/provision/lab/open-lab.ts'
import { evidenceSince } from '../../src/provision/lab/packet-counters.ts'
import { seedRegistry } from '../../testkit/embedded-registry.ts'
import { makeImage } from '../../testkit/image.ts'
import { canHaveLab, labHost, runOn, type TestLab, testLab, thisUser, webServer } from '../../testkit/lab.ts'
import { peer } from '../../testkit/peers.ts'

const mainFile = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

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
  for (const name of ['quay.io', 'registry.connect.redhat.com']) {
    assert.notEqual((await runOn(lab, 'closed', ['getent', 'hosts', name])).status, 0)
  }
  const after = await lab.evidence()
  assert.ok(after.isProven)
  assert.ok(after.leftPackets >= 4)
  const tried = after.tried.map(({ address, protocol, port }) => `${protocol} ${address} ${port}`)
  const expected = [`tcp ${outside} 80`, `udp ${outside} 53`, 'tcp 9.9.9.9 443', 'tcp 2001:db8::1 443']
  assert.deepEqual(tried.toSorted(), expected.toSorted())
  assert.deepEqual(
    after.asked.map(({ name }) => name),
    ['quay.io', 'registry.connect.redhat.com'],
  )
  assert.equal(after.forwardedPackets, 0)
})

test('nothing outside reaches the closed site, not even over a bastion that was made to route, and that is counted', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record } = await testLab(t)
  const { addresses } = await lab.makeNetwork({ record })
  const [[closed = ''], [, outside = '']] = [addresses.closed, addresses.bastion]
  assert.equal((await runOn(lab, 'connected', connect(closed, 80))).text, 'ENETUNREACH\n')
  await runOn(lab, 'connected', ['ip', 'route', 'add', `${closed}/32`, 'via', outside])
  await runOn(lab, 'bastion', ['sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward'])
  const impatient = ['timeout', '0.3', ...connect(closed, 80)]
  assert.equal((await runOn(lab, 'connected', impatient)).status, 124)
  const evidence = await lab.evidence()
  assert.ok(evidence.isProven)
  assert.ok(evidence.forwardedPackets > 0)
  assert.equal(evidence.sitePackets, 0)
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

test('whatever runs on a site ends with it, also what nobody wrote down', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record, teardown } = await testLab(t)
  await lab.makeNetwork({ record })
  const { text } = await runOn(lab, 'closed', ['sh', '-c', 'setsid sleep 600 >/dev/null 2>&1 & echo $!'])
  assert.ok(isAlive(Number(text)))
  await teardown()
  assert.ok(!isAlive(Number(text)) || (await readFile(`/proc/${Number(text)}/stat`, 'utf8')).includes(') Z'))
})

test('a lab whose directory was removed by hand is completed as it was', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record } = await testLab(t)
  const { addresses } = await lab.makeNetwork({ record })
  const { directory, plan } = lab.settings
  await rm(directory, { recursive: true })
  const again = await openLab(labHost, { id: plan.id, directory, user: thisUser })
  assert.deepEqual((await again.makeNetwork({ record })).addresses, addresses)
  const [outside = ''] = addresses.connected
  assert.equal((await runOn(again, 'bastion', connect(outside, 1))).text, 'ECONNREFUSED\n')
})

test('a namespace that has the name of a site and was made by somebody else is neither used nor recorded', async (t) => {
  if (!canHaveLab(t)) return
  const { lab, record, records } = await testLab(t)
  const name = namespaceName(lab.settings.plan.id, 'bastion')
  await must(labHost, ['ip', 'netns', 'add', name])
  t.after(() => must(labHost, ['ip', 'netns', 'delete', name]))
  await assert.rejects(lab.makeNetwork({ record }), {
    code: 'LAB_FAILED',
    message: `The network namespace ${name} is there, and no lab made it`,
  })
  assert.ok(!JSON.stringify(records).includes(name))
})

const request = (url: string, ...options: string[]) => [
  'curl',
  ...['--silent', '--max-time', '5', '--noproxy', '', '--output', '/dev/stderr', '--write-out', ' %{http_code}'],
  ...options,
  url,
]

test('squid asks for a password, and with it a server outside is reached from the closed site', async (t) => {
  if (!canHaveLab(t) || peer(t, 'squid') === undefined) return
  const { lab, record } = await testLab(t, { upstreamNames: ['quay.io'] })
  const [outside = ''] = (await lab.makeNetwork({ record })).addresses.connected
  await lab.serve(
    { site: 'connected', name: 'web', argv: webServer(outside, 80, 'hello'), env: {}, ports: [80] },
    { record },
  )
  const { proxy } = await lab.makeBastion({ proxy: { port: 3128, username: 'user', password: 'right' } }, { record })
  const url = proxy?.urls.closed ?? ''
  const through = async (password: string, ...more: string[]) => {
    const account = password === '' ? [] : ['--proxy-user', `user:${password}`]
    const { text } = await runOn(lab, 'closed', request('http://quay.io/', '--proxy', url, ...account, ...more))
    return text.split(' ').at(-1)
  }
  assert.equal(await through(''), '407')
  assert.equal(await through('wrong'), '407')
  assert.equal(await through('right'), '200')
  assert.equal(await through('right', '--proxytunnel'), '200')
  const seen = (await lab.proxiedRequests()).filter(({ status }) => status === 200)
  assert.deepEqual(
    seen.map(({ method, target, user }) => `${user} ${method} ${target}`),
    ['user GET http://quay.io/', 'user CONNECT quay.io:80'],
  )
  const evidence = await lab.evidence()
  assert.ok(evidence.isProven)
  assert.equal(evidence.leftPackets, 0)
})

test('two labs stand side by side, and one goes without the other', async (t) => {
  if (!canHaveLab(t)) return
  const [one, other] = await Promise.all([testLab(t), testLab(t)])
  await Promise.all([one, other].map(({ lab, record }) => lab.makeNetwork({ record })))
  const [outside = ''] = other.lab.facts().addresses.connected
  await one.teardown()
  assert.deepEqual(await remainsOfLab(one.lab.settings.plan.id), [])
  assert.equal((await runOn(other.lab, 'bastion', connect(outside, 1))).text, 'ECONNREFUSED\n')
})

test('a node pulls what the mirror has, by its registries.conf alone; what the mirror lacks tries to leave', async (t) => {
  if (!canHaveLab(t) || peer(t, 'skopeo') === undefined) return
  const { lab, record } = await testLab(t, { upstreamNames: ['quay.io'] })
  const { addresses } = await lab.makeNetwork({ record })
  const mirror = await serveMirror(t, { lab, record })
  const files = [
    { path: 'registries.conf', content: registriesConf(mirror.host) },
    { path: 'auth.json', content: JSON.stringify({ auths: { [mirror.host]: { auth: mirror.auth } } }) },
  ]
  const [registriesConfFile = '', authFile] = await lab.placeFiles(files, { record })
  const pull = (digest: string) =>
    lab.pullOnNode({
      node: 'node-0',
      image: `quay.io/lab/app@${digest}`,
      registriesConf: registriesConfFile,
      caFile: mirror.caFile,
      ...(authFile !== undefined && { authFile }),
    })

  const settings = await runOn(lab, 'closed', [
    'sh',
    '-c',
    'ls -A /etc/containers /etc/docker | grep json; cat /etc/hosts',
  ])
  assert.doesNotMatch(settings.text, /quay|registries/)
  assert.deepEqual(await pull(image.digest), { isPulled: true })
  const before = await lab.evidence()
  assert.ok(before.isProven)
  assert.deepEqual([before.leftPackets, before.tried], [0, []])

  const failed = await pull(`sha256:${'0'.repeat(64)}`)
  assert.ok(!failed.isPulled)
  assert.match(failed.words, /quay\.io\/lab\/app/)
  const after = await lab.evidence()
  assert.ok(after.isProven)
  assert.ok(after.leftPackets > 0)
  const [outside] = addresses.connected
  const since = evidenceSince(before, after)
  assert.deepEqual(
    since.asked.map(({ name }) => name),
    ['quay.io'],
  )
  assert.deepEqual(
    since.tried.map(({ address, protocol, port }) => [address, protocol, port]),
    [[outside, 'udp', 53]],
  )
})

const image = makeImage({ seed: 'lab', tag: 'v1' })

/** Our own registry on the bastion, with TLS and a password, holding one image. */
async function serveMirror(t: TestContext, { lab, record }: Pick<TestLab, 'lab' | 'record'>) {
  const root = join(lab.settings.directory, 'mirror')
  await seedRegistry(t, { root, content: [{ repository: 'lab/app', images: [image] }] })
  const name = `mirror.${lab.settings.plan.id}.lab`
  const listen = `${lab.facts().addresses.bastion[0]}:5000`
  const words = ['--listen', listen, '--self-signed', '--san', name, '--init-user', 'admin']
  const argv = [process.execPath, mainFile, 'registry', 'serve', '--root', root, ...words]
  await lab.serve({ site: 'bastion', name: 'mirror', argv, env: {}, ports: [5000] }, { record })
  const password = (await readFile(join(root, 'admin.password'), 'utf8')).trim()
  const auth = Buffer.from(`admin:${password}`).toString('base64')
  return { host: `${name}:5000`, auth, caFile: join(root, 'tls', 'ca.crt') }
}

const registriesConf = (mirror: string) => `
[[registry]]
prefix = ""
location = "quay.io/lab"
mirror-by-digest-only = true
[[registry.mirror]]
location = "${mirror}/lab"
`

/** Runs the maker of a lab until it kills itself at a record, or is killed with what it runs when it says that it wrote it. */
async function killedMaker(
  words: readonly string[],
  { fatal, isKilledByUs }: { fatal: number; isKilledByUs: boolean },
) {
  const file = fileURLToPath(new URL('../../testkit/lab-child.ts', import.meta.url))
  const child = spawn(process.execPath, [file, ...words, isKilledByUs ? '0' : String(fatal)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const ended = once(child, 'exit')
  for await (const line of createInterface(child.stdout)) {
    if (isKilledByUs && Number(line) === fatal && child.pid) process.kill(-child.pid, 'SIGKILL')
  }
  const [, signal] = await ended
  return signal
}

for (const isKilledByUs of [false, true]) {
  const when = isKilledByUs ? 'while it makes what it recorded' : 'between a record and what it is about'
  test(`a maker is killed ${when}: teardown leaves nothing, and making again completes the lab`, async (t) => {
    if (!canHaveLab(t) || peer(t, 'squid') === undefined) return
    for (const fatal of isKilledByUs ? [2, 4, 5, 7, 8] : [1, 4, 6]) {
      const { lab, record, records, teardown } = await testLab(t)
      const { directory, plan } = lab.settings
      const journal = `${dirname(directory)}/journal`
      assert.equal(await killedMaker([plan.id, directory, journal], { fatal, isKilledByUs }), 'SIGKILL', `${fatal}`)
      const lines = (await readFile(journal, 'utf8')).trim().split('\n')
      for (const line of lines) await record(JSON.parse(line))
      if (fatal % 2 === 0) {
        await lab.makeNetwork({ record })
        const evidence = await lab.evidence()
        assert.ok(evidence.isProven && evidence.leftPackets === 0)
        const [outside = ''] = lab.facts().addresses.connected
        const again = webServer(outside, 80, 'hello')
        await lab.serve({ site: 'connected', name: 'web', argv: again, env: {}, ports: [80] }, { record })
        assert.equal((await runOn(lab, 'bastion', connect(outside, 80))).text, 'connected\n')
      }
      await teardown()
      assert.deepEqual((await Promise.all(records.map((undo) => lab.remains(undo)))).flat(), [], `${fatal}`)
      assert.deepEqual(await remainsOfLab(plan.id), [], `${fatal}`)
    }
  })
}
