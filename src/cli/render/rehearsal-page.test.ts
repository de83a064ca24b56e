import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bootstrapFaults, startFaultyBootstrap } from '../../../testkit/bootstrap-faults.ts'
import { silentLog } from '../../host/log.ts'
import type { RehearsalReport } from '../../rehearse/rehearsal-report.ts'
import { rehearse } from '../../rehearse/rehearse.ts'
import { renderRehearsal } from './rehearsal.ts'
import { rehearsalPage } from './rehearsal-page.ts'

const evil = `<b onload="x('y')">&`

/** Every text of a value with something before it that would be HTML. */
function poisoned(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return isCoded(key) ? value : `${evil}${value}`
  if (Array.isArray(value)) return value.map((one) => poisoned(one, key))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, poisoned(one, name)]))
}

/** Words of the program itself, and times. */
function isCoded(key: string): boolean {
  return /^(?:severity|outcome|use|kind|for|by|sides|distribution|purpose|fault|rehearsedAt|notBefore|notAfter)$/.test(
    key,
  )
}

async function reportOf(t: Parameters<typeof startFaultyBootstrap>[0], id: string): Promise<RehearsalReport> {
  const fault = bootstrapFaults.find((one) => one.id === id) ?? { id, title: 'sound' }
  const { ignition, via, clock } = await startFaultyBootstrap(t, fault)
  return rehearse(
    { text: ignition, fileName: 'bootstrap.ign' },
    {
      clock,
      log: silentLog,
      env: { PATH: process.env['PATH'] },
      signal: new AbortController().signal,
      level: 1,
      via: new Map(Object.entries(via)),
      timeoutMs: 1000,
      isConnected: false,
      accepted: [],
    },
  )
}

const unit = {
  name: 'bootkube.service',
  outcome: 'failed',
  stage: 'mco-bootstrap',
  stagesDone: ['cvo-bootstrap'],
  journal: ['Error: no such image'],
  durationMs: 1,
  failedCalls: [{ command: 'podman run', status: 125 }],
  because: 'release-image.service',
} as const

test('the page says what happened and what to do, and has every part', async (t) => {
  const report = await reportOf(t, 'component-missing')
  const levelTwo = { units: [unit], isComplete: false, unknownPrograms: ['frob'], durationMs: 1 }
  const page = rehearsalPage({ ...report, levelTwo }, { version: '1.2.3' })
  assert.match(page, /<h1>The bootstrap would fail: mirror\.lab\.test:\d+\/ocp\/openshift\/release does not have /)
  for (const part of [
    'Findings',
    'Boot',
    'Images',
    'Registries and names',
    'Bootstrap host and nodes',
    'Certificates',
    'Not proven',
  ])
    assert.ok(page.includes(`<h2>${part}</h2>`), part)
  assert.match(page, /<li class="broken">mco-bootstrap<\/li>/)
})

test('nothing is loaded and nothing runs in it', async (t) => {
  const page = rehearsalPage(await reportOf(t, 'ca-removed'), { version: '1.2.3' })
  assert.doesNotMatch(page, /<(?:script|link|img|iframe|object)\b|\son\w+=|url\(|@import|javascript:/i)
  assert.match(page, /default-src 'none'/)
})

test('no text of a config or a registry becomes HTML', async (t) => {
  for (const id of ['sound', 'component-missing', 'nodes-have-other-mirrors', 'ca-removed']) {
    const report = await reportOf(t, id)
    const whole = {
      ...report,
      levelTwo: { units: [unit], isComplete: false, unknownPrograms: ['frob'], durationMs: 1 },
    }
    const page = rehearsalPage(poisoned(whole) as RehearsalReport, { version: '1.2.3' })
    assert.equal(page.includes('<b onload'), false, id)
    assert.equal(/\sonload="/.test(page), false, id)
    assert.ok(page.includes('&lt;b onload=&quot;'), id)
  }
})

test('the terminal has the verdict first and the next step second', async (t) => {
  const [first, second, third] = renderRehearsal(await reportOf(t, 'credentials-missing'), {
    reportFile: undefined,
  }).split('\n')
  assert.match(first ?? '', /^the bootstrap would fail: mirror\.lab\.test:\d+ asks for a password/)
  assert.match(second ?? '', /^next: Add the key "mirror\.lab\.test:\d+"/)
  assert.equal(third, '')
})
