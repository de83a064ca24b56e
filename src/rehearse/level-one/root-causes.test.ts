import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding, Severity } from '../../errors/finding.ts'
import { rootCauses } from './root-causes.ts'

function told(id: string, summary: string, severity: Severity = 'error'): Finding {
  return { id: `rehearse.${id}`, severity, summary, evidence: 'seen' }
}

test('what follows from another error goes into its evidence', () => {
  const findings = [told('ca-unknown', 'No authority vouches.'), told('trust-bundle-no-ca', 'It has no authority.')]
  assert.deepEqual(rootCauses(findings), [
    { ...told('trust-bundle-no-ca', 'It has no authority.'), evidence: 'seen; and so: No authority vouches.' },
  ])
})

test('a warning explains nothing', () => {
  const findings = [told('ca-unknown', 'a'), told('trust-bundle-no-ca', 'b', 'warning')]
  assert.deepEqual(rootCauses(findings), findings)
})

test('a difference is explained by the source that it is about, and by no other', () => {
  const drift = (source: string) => told('mirrors-drift', `Images of ${source}: the nodes have mirrors`, 'error')
  const cause = told('source-uncovered', 'No mirror covers quay.io/one: it would be asked for at quay.io')
  assert.deepEqual(
    rootCauses([cause, drift('quay.io/one'), drift('quay.io/two')]).map(({ summary }) => summary),
    [cause.summary, drift('quay.io/two').summary],
  )
})

test('the same said twice is said once', () => {
  assert.equal(rootCauses([told('refused', 'a'), told('refused', 'a'), told('refused', 'b')]).length, 2)
})
