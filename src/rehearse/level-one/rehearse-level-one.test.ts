import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { BootstrapFault } from '../../../testkit/bootstrap-faults/bootstrap-fault.ts'
import { type SoundBootstrap, soundBootstraps } from '../../../testkit/bootstrap-faults/sound-bootstraps.ts'
import { bootstrapFaults, startFaultyBootstrap } from '../../../testkit/bootstrap-faults.ts'
import type { Finding } from '../../errors/finding.ts'
import { silentLog } from '../../host/log.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { type BootstrapConfig, readBootstrap } from '../../openshift/bootstrap/bootstrap-config.ts'
import { type AccessSettings, openBootstrapAccess } from '../bootstrap-access.ts'
import type { LevelOneReport } from './level-one-report.ts'
import { rehearseLevelOne } from './rehearse-level-one.ts'

type Arranged = BootstrapFault | SoundBootstrap

interface Rehearsed extends LevelOneReport {
  readonly mirrorHost: string
}

async function rehearsed(t: TestContext, arranged: Arranged, more: Partial<AccessSettings> = {}): Promise<Rehearsed> {
  const { ignition, via, clock, site } = await startFaultyBootstrap(t, arranged)
  const settings = { clock, via: new Map(Object.entries(via)), architecture: 'amd64', ...more }
  return { ...(await levelOne(t, ignition, settings)), mirrorHost: site.mirrorHost }
}

type Settings = Pick<AccessSettings, 'clock' | 'via' | 'architecture'> & Partial<AccessSettings>

async function levelOne(t: TestContext, text: string, given: Settings): Promise<LevelOneReport> {
  const { config } = readIgnitionConfig(text, 'bootstrap.ign')
  const bootstrap = readBootstrap(config, { fileName: 'bootstrap.ign' })
  const { signal } = t
  const settings = { log: silentLog, signal, timeoutMs: 1000, isConnected: false, ...given }
  const openAccess = (host: BootstrapConfig) => openBootstrapAccess(host, settings)
  const access = openAccess(bootstrap)
  t.after(() => access.close())
  const env = { PATH: process.env['PATH'] }
  return rehearseLevelOne(bootstrap, access, { text, config, clock: settings.clock, signal, env, openAccess })
}

function faultNamed(id: string): BootstrapFault {
  const found = bootstrapFaults.find((fault) => fault.id === id)
  if (found === undefined) throw new Error(`no fault ${id}`)
  return found
}

function grave({ findings }: LevelOneReport): readonly Finding[] {
  return findings.filter(({ severity }) => severity !== 'info')
}

function only({ findings }: LevelOneReport): Finding {
  const [first, ...others] = findings.filter(({ severity }) => severity === 'error')
  assert.ok(first)
  assert.deepEqual(others, [])
  return first
}

test('of a sound bootstrap everything is found, and nothing is said', async (t) => {
  const [, , , sound = { id: 'sound', title: '' }] = soundBootstraps
  const report = await rehearsed(t, sound)
  assert.deepEqual(grave(report), [])
  const { images, hosts, names, signature, disk, release, certificates } = report
  assert.equal(release?.version, '4.21.9')
  assert.ok(images.every(({ bootstrap, nodes }) => bootstrap?.isPulled !== false && nodes?.isPulled === true))
  assert.ok(images.some(({ name, bootstrap }) => name === 'rhel-coreos' && bootstrap?.isPulled))
  assert.ok(images.some(({ use, bootstrap }) => use === 'payload' && bootstrap === undefined))
  assert.deepEqual([hosts.length, hosts[0]?.status, hosts[0]?.sides], [1, 401, ['bootstrap', 'nodes']])
  assert.deepEqual(names.map(({ purpose }) => purpose).sort(), ['api', 'api-int'])
  assert.deepEqual([signature?.isThere, signature?.isRequired], [true, true])
  assert.equal(disk.images, images.filter(({ bootstrap }) => bootstrap).length)
  assert.equal(certificates[0]?.isShortLived, true)
})

test('a CA that is not trusted is one finding, with the line of the bundle and with what it keeps away', async (t) => {
  const report = await rehearsed(t, faultNamed('ca-of-another-registry'))
  const found = only(report)
  assert.equal(found.id, 'rehearse.ca-unknown')
  assert.match(found.summary, /vouches for the certificate of mirror\.lab\.test:\d+, which CN=Lab mirror CA issued/)
  assert.match(found.summary, /keeps away the release image, and with it every other/)
  assert.match(found.evidence ?? '', /x509: certificate signed by unknown authority/)
  assert.deepEqual(found.where, { file: '/etc/pki/ca-trust/source/anchors/ca.crt', line: 1 })
  // The nodes trust another bundle, and so everything else was looked at all the same.
  assert.ok(report.images.length > 20)
  assert.ok(report.images.every(({ bootstrap, nodes }) => bootstrap?.isPulled !== true && nodes?.isPulled === true))
})

test('images that are missing are named, with the command that brings the first of them', async (t) => {
  const found = only(await rehearsed(t, faultNamed('components-missing')))
  assert.equal(found.id, 'rehearse.manifest-missing')
  assert.match(found.summary, /does not have \d+ images \(machine-config-operator, etcd, /)
  assert.match(found.remedy ?? '', /oc image mirror \S+ quay\.io\/\S+@sha256:[0-9a-f]{64} mirror\.lab\.test:\d+\/ocp/)
  const where = found.where
  assert.equal(where?.file, '/etc/containers/registries.conf')
  assert.ok((where?.line ?? 0) > 1)
})

test('what only the nodes lack is said of the nodes', async (t) => {
  const secret = only(await rehearsed(t, faultNamed('pull-secret-of-nodes')))
  assert.equal(secret.id, 'rehearse.pull-secret-drift')
  assert.equal(secret.where?.file, '/opt/openshift/manifests/openshift-config-secret-pull-secret.yaml')
  const mirrors = only(await rehearsed(t, faultNamed('nodes-have-no-mirrors')))
  assert.equal(mirrors.id, 'rehearse.mirrors-drift')
  assert.match(
    mirrors.summary,
    /ocp-release and quay\.io\/\S+art-dev: the bootstrap host has mirrors for them, and the nodes have none/,
  )
  assert.match(mirrors.evidence ?? '', /and so: bootkube asks oc/)
})

test('a mirror that is down is a warning where another one has everything', async (t) => {
  const report = await rehearsed(t, {
    id: 'two-mirrors',
    title: 'The first of two mirrors is down',
    inject: ({ document }) =>
      document.edit('/etc/containers/registries.conf', (text) =>
        text.replaceAll(
          '[[registry.mirror]]\n',
          '[[registry.mirror]]\nlocation = "127.0.0.1.nip.test:1/ocp"\ninsecure = false\n[[registry.mirror]]\n',
        ),
      ),
  })
  const [found] = grave(report).filter(({ id }) => id === 'rehearse.name-unresolved')
  assert.equal(found?.severity, 'warning')
  assert.match(found?.summary ?? '', /another mirror has what it lacks/)
  assert.equal(
    report.findings.some(({ severity }) => severity === 'error'),
    false,
  )
})

test('on platforms with virtual addresses the images of their static pods are needed too', async (t) => {
  const report = await rehearsed(t, { id: 'vsphere', title: '', at: { bootstrap: { platform: 'vsphere' } } })
  const pods = report.images.filter(({ use }) => use === 'static-pod')
  assert.deepEqual(pods.map(({ name }) => name).sort(), [
    'baremetal-runtimecfg',
    'coredns',
    'haproxy-router',
    'keepalived-ipfailover',
  ])
  assert.ok(pods.every(({ bootstrap }) => bootstrap?.isPulled))
})

test('before 4.21 a signature that is missing is a note', async (t) => {
  const fault = faultNamed('signature-missing')
  assert.equal(only(await rehearsed(t, fault)).id, 'rehearse.signature-missing')
  const older = await rehearsed(t, { ...fault, at: { era: '4.19' } })
  assert.deepEqual(grave(older), [])
  assert.equal(older.findings.find(({ id }) => id === 'rehearse.signature-missing')?.severity, 'info')
})

test('clocks that differ are one finding, and not every certificate that they refuse', async (t) => {
  const report = await rehearsed(t, faultNamed('clock-behind'))
  const found = only(report)
  assert.equal(found.id, 'rehearse.clock-skew')
  assert.match(
    found.summary,
    /2 h 0 min apart: mirror\.lab\.test:\d+ is ahead; this refuses by the clock here \d+ certif/,
  )
})

test('a broken registries.conf ends every pull, so nobody is asked', async (t) => {
  const report = await rehearsed(t, faultNamed('registries-conf-conflict'))
  assert.equal(only(report).id, 'registries.conf-invalid')
  assert.match(only(report).summary, /conflicting 'blocked' setting/)
  assert.deepEqual([report.images, report.hosts], [[], []])
})

test('trust and names that MachineConfigs bring to the nodes are theirs', async (t) => {
  const anchor = (pem: string) => `data:;base64,${Buffer.from(pem).toString('base64')}`
  const report = await rehearsed(t, {
    id: 'machine-config-trust',
    title: 'The CA comes to nodes by a MachineConfig, and not in the ConfigMap',
    inject: ({ site, document }) => {
      document.remove('/opt/openshift/manifests/user-ca-bundle-config.yaml')
      document.write(
        '/opt/openshift/openshift/99-master-trust.yaml',
        JSON.stringify({
          apiVersion: 'machineconfiguration.openshift.io/v1',
          kind: 'MachineConfig',
          metadata: { name: '99-master-trust', labels: { 'machineconfiguration.openshift.io/role': 'master' } },
          spec: {
            config: {
              ignition: { version: '3.2.0' },
              storage: {
                files: [{ path: '/etc/pki/ca-trust/source/anchors/lab.crt', contents: { source: anchor(site.ca) } }],
              },
            },
          },
        }),
      )
    },
  })
  assert.deepEqual(grave(report), [])
})

test('real configs of 4.2 to 4.6 get findings that fit them, and none of their secrets', async (t) => {
  const folder = '../shared/data/installer/ign'
  if (!existsSync(folder)) return t.skip(`${folder} is not here`)
  for (const name of readdirSync(folder)) {
    if (!name.endsWith('.ign')) continue
    const text = readFileSync(`${folder}/${name}`, 'utf8')
    const clock = { now: () => Date.UTC(2026, 0, 1), sleep: async () => undefined, after: () => () => undefined }
    const { findings } = await levelOne(t, text, { clock, via: new Map(), architecture: 'amd64' })
    const ids = findings.filter(({ severity }) => severity === 'error').map(({ id }) => id)
    if (name.includes('pointer')) assert.deepEqual(ids, ['rehearse.no-bootstrap'], name)
    else {
      assert.ok(ids.includes('rehearse.bootstrap-certificate-expired'), name)
      assert.ok(ids.includes(name.includes('disconnected') ? 'rehearse.name-unresolved' : 'rehearse.no-mirror'), name)
    }
    assert.doesNotMatch(JSON.stringify(findings), /PRIVATE KEY|"auth\\":\\"[^*]/, name)
    assert.equal(ids.length, new Set(ids).size, `${name}: ${ids}`)
  }
})
