import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { before, type TestContext, test } from 'node:test'
import { type BootstrapSite, type BootstrapSiteOptions, startBootstrapSite } from '../../../testkit/bootstrap-site.ts'
import { smallDisk } from '../../../testkit/small-disk.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { systemClock } from '../../host/clock.ts'
import { createLog } from '../../host/log.ts'
import { readIgnitionConfig } from '../../ignition/read-config.ts'
import { readBootstrap } from '../../openshift/bootstrap/bootstrap-config.ts'
import { openBootstrapAccess } from '../bootstrap-access.ts'
import { whyNoSandbox } from '../sandbox/sandbox.ts'
import { levelTwoFindings } from './level-two-findings.ts'
import type { LevelTwoReport } from './level-two-report.ts'
import { runLevelTwo } from './run-level-two.ts'

let unavailable: string | undefined

before(async () => {
  unavailable = await whyNoSandbox()
})

interface Rehearsed {
  readonly text?: string
  readonly tempFolder?: string
}

async function rehearsed(
  t: TestContext,
  site: BootstrapSite,
  { text = site.ignition, ...options }: Rehearsed = {},
): Promise<LevelTwoReport> {
  const { config } = readIgnitionConfig(text, 'bootstrap.ign')
  const bootstrap = readBootstrap(config, { fileName: 'bootstrap.ign' })
  const { signal } = t
  const access = openBootstrapAccess(bootstrap, {
    clock: systemClock,
    log: createLog('error', () => undefined),
    signal,
    architecture: 'amd64',
    via: new Map(Object.entries(site.via)),
    timeoutMs: 3000,
    isConnected: false,
  })
  t.after(() => access.close())
  return runLevelTwo(bootstrap, { config, access, clock: systemClock, signal, ...options })
}

async function siteFor(t: TestContext, options: BootstrapSiteOptions = {}): Promise<BootstrapSite | undefined> {
  if (unavailable === undefined) return startBootstrapSite(t, options)
  if (process.env['SALLYPORT_REQUIRE_PEERS'] === '1') throw new Error(`level 2 is required: ${unavailable}`)
  t.skip(`no sandbox: ${unavailable}`)
  return undefined
}

function outcomes({ units }: LevelTwoReport): Readonly<Record<string, string>> {
  return Object.fromEntries(units.map(({ name, outcome, stage }) => [name, stage ? `${outcome} at ${stage}` : outcome]))
}

for (const era of ['4.14', '4.16', '4.19', '4.21'] as const) {
  test(`the scripts of a sound ${era} config come to their end, with genuine records and no finding`, async (t) => {
    const site = await siteFor(t, { era })
    if (!site) return
    const report = await rehearsed(t, site)
    assert.equal(report.isComplete, true, JSON.stringify(report, undefined, 1))
    assert.deepEqual(levelTwoFindings(report), [])
    const bootkube = report.units.find(({ name }) => name === 'bootkube.service')
    assert.deepEqual(bootkube?.stagesDone.slice(-4), [
      'cvo-overrides',
      'wait-for-ceo',
      'check-api-url',
      'check-api-int-url',
    ])
    assert.equal(bootkube?.record?.at(-1)?.phase, 'service end')
    assert.equal('node-image-pull.service' in outcomes(report), era === '4.19' || era === '4.21')
  })
}

test('a unit that waits for machines which are not there is no fault', async (t) => {
  const site = await siteFor(t, { bootstrap: { platform: 'baremetal' } })
  if (!site) return
  const report = await rehearsed(t, site)
  assert.equal(report.isComplete, true)
  assert.deepEqual(levelTwoFindings(report), [])
  assert.equal(outcomes(report)['master-bmh-update.service'], 'running')
})

test('a drop-in that podman refuses keeps every pull from beginning', async (t) => {
  const site = await siteFor(t, { era: '4.16' })
  if (!site) return
  const contents = { source: 'data:,%5Bregistries.insecure%5D%0Aregistries%20%3D%20%5B%22a.test%22%5D%0A' }
  const document = JSON.parse(site.ignition)
  document.storage.files.push({ path: '/etc/containers/registries.conf.d/99-old.conf', contents })
  const report = await rehearsed(t, site, { text: JSON.stringify(document) })
  assert.equal(outcomes(report)['release-image.service'], 'looping at pull-release-image')
  assert.match(levelTwoFindings(report)[0]?.evidence ?? '', /registry must be in v2 format but is in v1/)
})

test('a condition on a path follows links as the host would, and one that leads nowhere is not met', async (t) => {
  const site = await siteFor(t)
  if (!site) return
  const document = JSON.parse(site.ignition)
  document.storage.links = [
    ...(document.storage.links ?? []),
    { path: '/opt/nowhere', target: '/opt/absent' },
    { path: '/opt/etc', target: '/etc' },
  ]
  document.storage.files.push({ path: '/etc/only-in-this-config', contents: { source: 'data:,' } })
  const unit = (name: string, path: string) => ({
    name,
    enabled: true,
    contents: `[Unit]\nConditionPathExists=${path}\n[Service]\nType=oneshot\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n`,
  })
  document.systemd.units.push(
    unit('nowhere.service', '/opt/nowhere'),
    unit('etc.service', '/opt/etc/only-in-this-config'),
  )
  const { 'nowhere.service': nowhere, 'etc.service': etc } = outcomes(
    await rehearsed(t, site, { text: JSON.stringify(document) }),
  )
  assert.deepEqual({ nowhere, etc }, { nowhere: 'condition-failed', etc: 'succeeded' })
})

test('without the node image the host gets no further than node-image-pull, which leaves no record', async (t) => {
  const site = await siteFor(t, { era: '4.21' })
  if (!site) return
  const node = site.release.components.find(({ name }) => name === 'rhel-coreos')
  await site.mirror.removeManifest('ocp/openshift/release', String(node?.image.digest))
  const report = await rehearsed(t, site)
  assert.deepEqual(outcomes(report), {
    'node-image-pull.service': 'looping',
    'node-image-overlay.service': 'not-started',
    'node-image-finish.service': 'not-started',
  })
  const [found] = levelTwoFindings(report)
  assert.equal(found?.id, 'rehearse.unit-loops')
  assert.match(found?.evidence ?? '', /manifest unknown.*\n.*Failed to fetch/s)
  assert.equal(report.units[0]?.record, undefined)
})

test('an operator that the mirror lacks stops bootkube at the stage that runs it', async (t) => {
  const site = await siteFor(t, { era: '4.16' })
  if (!site) return
  const lacking = site.release.components.find(({ name }) => name === 'cluster-kube-scheduler-operator')
  await site.mirror.removeManifest('ocp/openshift/release', String(lacking?.image.digest))
  const report = await rehearsed(t, site)
  assert.equal(outcomes(report)['bootkube.service'], 'failed at kube-scheduler-bootstrap')
  const record = report.units.find(({ name }) => name === 'bootkube.service')?.record
  const [stage, service] = record?.slice(-2) ?? []
  assert.equal(stage?.result, 'failure')
  assert.match(stage?.errorMessage ?? '', /Mirrors also failed: \[mirror\.lab\.test:\d+\/.*manifest unknown\]\)/s)
  assert.deepEqual([service?.phase, service?.errorMessage], ['service end', stage?.errorMessage])
})

test('a release that cannot be pulled is tried for ever, and what waits for it is never started', async (t) => {
  const site = await siteFor(t, { era: '4.16' })
  if (!site) return
  site.mirror.admit({ kind: 'basic', username: 'other', password: 'other' })
  const report = await rehearsed(t, site)
  assert.equal(outcomes(report)['release-image.service'], 'looping at pull-release-image')
  assert.equal(outcomes(report)['bootkube.service'], 'not-started')
  const record = report.units.find(({ name }) => name === 'release-image.service')?.record ?? []
  assert.ok(
    record.some(
      ({ phase, result, errorMessage }) =>
        phase === 'stage end' && result === 'failure' && /unauthorized/.test(errorMessage ?? ''),
    ),
  )
})

test('nothing of a rehearsal is left on the machine', async (t) => {
  const site = await siteFor(t, { era: '4.16' })
  if (!site) return
  const tempFolder = await tempDir(t)
  assert.equal((await rehearsed(t, site, { tempFolder })).isComplete, true)
  assert.deepEqual(readdirSync(tempFolder), [])
})

for (const kib of [100, 500, 600, 800]) {
  test(`with ${kib} KiB of disk left it is said that there is no room, or all goes well; nothing is left either way`, async (t) => {
    const site = await siteFor(t, { era: '4.16' })
    const disk = site && (await smallDisk(t, kib * 1024))
    if (!site || !disk) return
    const report = await rehearsed(t, site, { tempFolder: disk.path })
    if (report.unavailable === undefined) assert.deepEqual(levelTwoFindings(report), [])
    else assert.match(report.unavailable, /^no space is left in .*; TMPDIR names another folder$/)
    assert.deepEqual(readdirSync(disk.path), ['filler'])
  })
}

test('real configs of 4.2 to 4.6 have their scripts run as far as their mirror carries them', async (t) => {
  const folder = '../shared/data/installer/ign'
  if (!existsSync(folder)) return t.skip(`${folder} is not here`)
  const site = await siteFor(t)
  if (!site) return
  const names = readdirSync(folder).filter((name) => name.endsWith('bootstrap.ign'))
  for (const name of names) {
    const report = await rehearsed(t, site, { text: await readFile(`${folder}/${name}`, 'utf8') })
    assert.equal(outcomes(report)['release-image.service'], 'looping', name)
    assert.match(
      report.units.find((unit) => unit.name === 'release-image.service')?.journal.join('\n') ?? '',
      /Pull failed/,
    )
  }
})
