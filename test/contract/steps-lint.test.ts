/** The registry of openshift/release of July 2024, as YAML: what was counted there by other means. */
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { lintRegistry } from '../../src/workflow/step-registry/lint/lint.ts'
import type { LintFinding, LintRule } from '../../src/workflow/step-registry/lint/lint-finding.ts'
import { conflictingValues } from '../../src/workflow/step-registry/lint/parameter-conflict.ts'
import { loadRegistry } from '../../src/workflow/step-registry/load-registry.ts'
import { examineWorkflow } from '../../src/workflow/step-registry/resolve-test.ts'

const data = fileURLToPath(new URL('../../../shared/data/step-registry/', import.meta.url))
const isThere = await stat(data).then(
  () => true,
  () => false,
)
const options = { skip: isThere ? false : 'the data is not here' }

const registry = isThere
  ? loadRegistry(`${data}full-2024-07/ci-operator/step-registry`, { withoutScripts: true })
  : undefined
const findings = registry === undefined ? [] : lintRegistry(registry)

function found(rule: LintRule): readonly LintFinding[] {
  return findings.filter(({ id }) => id === rule)
}

/** How often it stands in files of steps. */
function timesInSteps(rule: LintRule): number {
  const own = found(rule).filter(({ where }) => where?.file.endsWith('-ref.yaml'))
  return own.reduce((sum, { occurrences }) => sum + occurrences, 0)
}

test('16 durations have no unit, each at its line', options, () => {
  const durations = found('steps.duration-without-unit')
  assert.equal(durations.length, 16)
  assert.ok(durations.every(({ where, evidence }) => (where?.line ?? 0) > 1 && evidence === 'grace_period: 600'))
})

test('246 parameters have no default, and 1,166 no documentation', options, () => {
  assert.equal(timesInSteps('steps.required-parameter'), 246)
  assert.equal(timesInSteps('steps.undocumented-parameter'), 1166)
})

test('152 names have conflicting defaults, and the zones are among those that meet', options, () => {
  const conflicts = found('steps.conflicting-defaults')
  assert.equal(conflicts.length, 152)
  const zones = conflicts.find(({ summary }) => summary.startsWith('ZONES_COUNT '))
  assert.equal(zones?.severity, 'warning')
  assert.match(zones?.evidence ?? '', /"3" in aws-provision-vpc-shared, "2" in ipi-conf-aws/)
})

test('in 27 of the 51 disconnected workflows steps get different values of one parameter', options, () => {
  assert.ok(registry)
  const names = [...registry.workflows.keys()].filter((name) => name.includes('disconnected'))
  const workflows = names.map((name) => examineWorkflow(registry, name).workflow)
  assert.equal(workflows.length, 51)
  assert.equal(workflows.filter((one) => conflictingValues(one).length > 0).length, 27)
})

test(
  'the two gaps and the two mismatched pairs of 978 workflows are found, and what else nothing destroys',
  options,
  () => {
    const begin = ({ severity, summary }: LintFinding) => `${severity} ${/^(\S+: \S+)/.exec(summary)?.[1]}`
    assert.deepEqual(found('steps.destroyed-otherwise').map(begin), [
      'warning agent-e2e-appliance-dualstack: baremetalds-packet-setup',
      'warning agent-e2e-appliance-ipv4: baremetalds-packet-setup',
    ])
    assert.deepEqual(found('steps.not-destroyed').map(begin).toSorted(), [
      'error cucushift-agent-vsphere-disconnected-install-day2-add-nodes: vsphere-provision-bastionhost',
      'error cucushift-installer-rehearse-azure-ipi-usertags-storage-account-encryption: azure-provision-resourcegroup',
      'error rosa-aws-sts-hcp-capi-private: aws-provision-bastionhost',
      'warning rosa-aws-sts-hcp-capi: rosa-sts-account-roles-create',
      'warning rosa-aws-sts-hcp-capi: rosa-sts-oidc-config-create',
      'warning rosa-aws-sts-hcp-capi: rosa-sts-operator-roles-create',
    ])
  },
)

test('one workflow has a post that is empty, and 67 have none', options, () => {
  assert.deepEqual(
    found('steps.post-emptied').map(({ evidence, summary }) => [evidence, summary]),
    [['post: []', 'telco5g-kpi-results: post is an empty list']],
  )
  const without = [...(registry?.workflows.values() ?? [])].filter(({ steps }) => steps.post === undefined)
  assert.equal(without.length, 67)
})
