/**
 * The fault matrix: everything that is known to go wrong with a bootstrap, one fault at a time, and the finding that names it.
 *
 * Level 1 is rehearsed for every fault, level 2 for some of them: SALLYPORT_FAULTS=all takes all. docs/rehearsal-faults.md is
 * what came out; SALLYPORT_WRITE_DOCS=1 writes it.
 */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../src/host/clock.ts'
import { createLog } from '../../src/host/log.ts'
import { sampleFraction } from '../../src/quickstart/sample-bytes.ts'
import type { RehearsalReport } from '../../src/rehearse/rehearsal-report.ts'
import { rehearse } from '../../src/rehearse/rehearse.ts'
import { whyNoSandbox } from '../../src/rehearse/sandbox/sandbox.ts'
import type { BootstrapFault } from '../../testkit/bootstrap-faults/bootstrap-fault.ts'
import { soundBootstraps } from '../../testkit/bootstrap-faults/sound-bootstraps.ts'
import { bootstrapFaults, startFaultyBootstrap } from '../../testkit/bootstrap-faults.ts'

/** Which faults have their scripts run: a failure is repeated with the same seed. */
const seed = process.env['SALLYPORT_SEED'] ?? `${Date.now()}`
const isEverything = process.env['SALLYPORT_FAULTS'] === 'all'
const sampled = isEverything ? bootstrapFaults.length : 12

const page = fileURLToPath(new URL('../../docs/rehearsal-faults.md', import.meta.url))

interface Rehearsed {
  readonly ignition: string
  readonly path: string
  readonly via: Readonly<Record<string, string>>
  readonly clock: Clock
}

function rehearsed(t: TestContext, { ignition, path, via, clock }: Rehearsed, level: 1 | 2): Promise<RehearsalReport> {
  return rehearse(
    { text: ignition, fileName: path },
    {
      clock,
      log: createLog('error', () => undefined),
      signal: t.signal,
      via: new Map(Object.entries(via)),
      level,
      timeoutMs: 3000,
      env: process.env,
      isConnected: false,
      accepted: [],
    },
  )
}

/** `error ID: SUMMARY`, for messages of failed assertions. */
function told({ findings }: RehearsalReport): string {
  return findings.map(({ severity, id, summary }) => `${severity} ${id}: ${summary}`).join('\n')
}

/** In the words of the expectation: `release-image, stage pull-release-image`. */
function stoppedAt({ verdict }: RehearsalReport): string | undefined {
  const { stoppedAt: place } = verdict
  if (place === undefined) return undefined
  return placed({ service: place.unit.replace(/\.service$/, ''), stage: place.stage })
}

/** A stage of bootkube that failed, and that bootkube went on after. */
function failedOnTheWay({ levelTwo }: RehearsalReport): string | undefined {
  const bootkube = levelTwo?.units.find(({ name, outcome }) => name === 'bootkube.service' && outcome === 'succeeded')
  const stage = bootkube?.record?.find(({ phase, result }) => phase === 'stage end' && result === 'failure')?.stage
  return stage === undefined ? undefined : placed({ service: 'bootkube', stage })
}

function placed({ service, stage }: { readonly service: string; readonly stage?: string | undefined }): string {
  return stage === undefined ? service : `${service}, stage ${stage}`
}

const rows: string[] = []

test('level 1 names every fault, and is silent on sound inputs', async (t) => {
  for (const fault of bootstrapFaults) {
    await t.test(`${fault.title}: ${fault.expect}`, async (t) => {
      const report = await rehearsed(t, await startFaultyBootstrap(t, fault), 1)
      const named = report.findings.find(({ id }) => id === fault.expect)
      assert.ok(named && named.severity !== 'info', `${fault.id}: ${fault.expect} is not among\n${told(report)}`)
      assert.ok(named.remedy, `${fault.expect} says nothing about what to do`)
      rows.push(rowOf(fault, named.severity))
    })
  }
  for (const sound of soundBootstraps) {
    await t.test(`nothing is said of ${sound.title}`, async (t) => {
      const report = await rehearsed(t, await startFaultyBootstrap(t, sound), 1)
      assert.deepEqual(
        report.findings.filter(({ severity }) => severity !== 'info').map(({ id, summary }) => `${id}: ${summary}`),
        [],
      )
    })
  }
})

test('the scripts stop where the machine would', async (t) => {
  const unavailable = await whyNoSandbox()
  if (unavailable !== undefined) {
    assert.notEqual(process.env['SALLYPORT_REQUIRE_PEERS'], '1', `level 2 is required: ${unavailable}`)
    return t.skip(`no sandbox: ${unavailable}`)
  }
  t.diagnostic(`SALLYPORT_SEED=${seed}`)
  const chosen = bootstrapFaults
    .toSorted((one, other) => sampleFraction(`${seed}/${one.id}`) - sampleFraction(`${seed}/${other.id}`))
    .slice(0, sampled)
  for (const fault of chosen) {
    await t.test(`${fault.title}: ${fault.expectedStage ? placed(fault.expectedStage) : 'to the end'}`, async (t) => {
      const report = await rehearsed(t, await startFaultyBootstrap(t, fault), 2)
      assert.ok(
        report.findings.some(({ id }) => id === fault.expect),
        `${fault.expect} is not among\n${told(report)}`,
      )
      const units = JSON.stringify(report.levelTwo?.units, undefined, 1)
      const expected = fault.expectedStage && placed(fault.expectedStage)
      assert.equal(stoppedAt(report) ?? failedOnTheWay(report), expected, `${told(report)}\n${units}`)
    })
  }
})

test('docs/rehearsal-faults.md is what came out', async () => {
  const text = pageOf(rows)
  if (process.env['SALLYPORT_WRITE_DOCS'] === '1') await writeFile(page, text)
  assert.equal(
    await readFile(page, 'utf8'),
    text,
    'SALLYPORT_WRITE_DOCS=1 node --test test/e2e/bootstrap-fault-matrix.test.ts',
  )
})

function rowOf({ title, expect, expectedStage, at }: BootstrapFault, severity: string): string {
  const isPassedOver = expectedStage?.stage?.startsWith('resolve-') === true
  const stage =
    expectedStage === undefined
      ? 'they come to their end, or cannot be run'
      : `${placed(expectedStage)}${isPassedOver ? ', and go on' : ''}`
  return `| ${title.replaceAll('|', '\\|')} | \`${expect}\` | ${severity} | ${at?.era ?? '4.21'} | ${stage} |`
}

function pageOf(all: readonly string[]): string {
  return `# The fault matrix of the rehearsal

Each of these ${all.length} faults is put into a sound bootstrap, one at a time: into its \`bootstrap.ign\`, its mirror, the names or the clock. The
rehearsal has to name it, with what to do. On ${soundBootstraps.length} sound bootstraps it says nothing. This page is written by the test that does so
(\`test/e2e/bootstrap-fault-matrix.test.ts\`); what the findings mean is in [rehearse.md](rehearse.md).

| fault | finding | severity | scripts of | where its scripts stop |
|---|---|---|---|---|
${all.join('\n')}
`
}
