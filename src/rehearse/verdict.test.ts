import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '../errors/finding.ts'
import type { LevelTwoReport, RehearsedUnit } from './level-two/level-two-report.ts'
import { verdictOf, withoutEchoes } from './verdict.ts'

function error(id: string, summary: string, file = '/etc/containers/registries.conf'): Finding {
  return { id, severity: 'error', summary, remedy: `Mend ${id}.`, where: { file, line: 1 } }
}

const ca = error('rehearse.ca-unknown', 'No authority vouches for mirror.lab; this keeps away 17 images', '/ca.crt')

function unit(name: string, more: Partial<RehearsedUnit> = {}): RehearsedUnit {
  return { name, outcome: 'succeeded', stagesDone: [], journal: [], durationMs: 1, failedCalls: [], ...more }
}

function levelTwo(...units: readonly RehearsedUnit[]): LevelTwoReport {
  return { units, isComplete: false, unknownPrograms: [], durationMs: 1 }
}

const looping = unit('release-image.service', {
  outcome: 'looping',
  stage: 'pull-release-image',
  failedCalls: [{ command: 'podman pull', status: 125 }],
})

test('the first line has the unit, the stage and the cause; the second what to do', () => {
  const { isSound, headline, next, stoppedAt } = verdictOf({ findings: [ca], levelTwo: levelTwo(looping) })
  assert.equal(isSound, false)
  assert.equal(
    headline,
    'the bootstrap would fail at release-image.service, stage pull-release-image: no authority vouches for mirror.lab',
  )
  assert.equal(next, 'Mend rehearse.ca-unknown.')
  assert.deepEqual(stoppedAt, { unit: 'release-image.service', stage: 'pull-release-image' })
})

test('of several errors the one counts that the unit dies of', () => {
  const script = error('rehearse.script-invalid', 'bootkube.sh does not run', '/usr/local/bin/bootkube.sh')
  assert.match(verdictOf({ findings: [script, ca], levelTwo: levelTwo(looping) }).headline, /vouches/)
  const failed = unit('bootkube.service', { outcome: 'failed', journal: ['/usr/local/bin/bootkube.sh: line 3: fi'] })
  const verdict = verdictOf({ findings: [ca, script], levelTwo: levelTwo(failed) })
  assert.match(verdict.headline, /at bootkube\.service: bootkube\.sh does not run/)
  assert.match(verdict.next, /Then the other error below\.$/)
})

test('what Ignition refuses comes before everything that scripts would do', () => {
  const refused = error('ignition.invalid', 'Ignition refuses the config')
  assert.match(verdictOf({ findings: [refused, ca], levelTwo: levelTwo(looping) }).headline, /Ignition refuses/)
})

test('warnings and notes leave a bootstrap sound', () => {
  const { isSound, headline, next } = verdictOf({ findings: [{ ...ca, severity: 'warning' }] })
  assert.equal(isSound, true)
  assert.equal(headline, 'the bootstrap would come up')
  assert.match(next, /Look at the warning below first/)
})

test('a unit whose failure level 1 explains is no finding of its own', () => {
  const echo: Finding = {
    id: 'rehearse.unit-loops',
    severity: 'error',
    summary: 'release-image.service, stage x, tries',
  }
  assert.deepEqual(withoutEchoes([ca], levelTwo(looping), [echo]), [])
  assert.deepEqual(withoutEchoes([], levelTwo(looping), [echo]), [echo])
  const unexplained = error(
    'rehearse.cluster-manifest-invalid',
    'a manifest is no YAML',
    '/opt/openshift/openshift/a.yaml',
  )
  assert.deepEqual(withoutEchoes([unexplained], levelTwo(looping), [echo]), [echo])
})
