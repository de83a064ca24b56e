/** What a test of a ci-operator config has to be (openshift/ci-tools: pkg/validation/test.go `validateTestStepConfiguration`). */
import { type Finding, finding } from '../../errors/finding.ts'
import { architectureFaults, checkStep, isObjectName, leaseFaults } from './check-step.ts'
import { goDurationMs } from './go-duration.ts'
import { phases, type StepLease } from './model.ts'
import type { TestConfiguration, TestStep } from './registry.ts'
import type { CiOperatorConfig, ConfigTest } from './resolve-config.ts'

/** Longer names do not fit into those of the objects that are made for a test. */
const maxNameLength = 61
const maxClaimNameLength = 42

/** Of the names, and of what stands in `steps`; the rest of a config is no business of a step registry. */
export function checkTests({ file, document, tests }: CiOperatorConfig): readonly Finding[] {
  const releases = new Set(Object.keys((document['releases'] ?? {}) as object))
  const names = tests.map(({ name }) => name)
  const doubled = names.filter((name, index) => names.indexOf(name) !== index)
  const faults = [
    ...(doubled.length > 0 ? [`tests: found duplicated test: (${doubled.join(',')})`] : []),
    ...tests.flatMap((test, index) => [
      ...nameFaults(`tests[${index}].as`, test),
      ...timeoutFaults(`tests[${index}]`, test),
      ...(test.resolvable ? stepsFaults(`tests[${index}]`, test.resolvable.steps, releasesOf(test, releases)) : []),
      ...clusterFaults(`tests[${index}]`, test),
    ]),
  ]
  return faults.map((summary) => finding({ id: 'steps.test', severity: 'error', summary, where: { file } }))
}

/** A claimed cluster brings a release of its own. */
function releasesOf({ fields }: ConfigTest, releases: ReadonlySet<string>): ReadonlySet<string> {
  const claim = fields['cluster_claim'] as { readonly as?: unknown } | null | undefined
  return claim ? releases.union(new Set([String(claim.as || 'latest')])) : releases
}

function clusterFaults(field: string, { fields, resolvable }: ConfigTest): readonly string[] {
  if (!fields['cluster_claim'] || !resolvable?.steps.cluster_profile) return []
  return [`${field} installs more than one cluster, probably it defined both cluster_claim and cluster_profile`]
}

function nameFaults(field: string, { name, fields, resolvable }: ConfigTest): readonly string[] {
  const length = `${field}: ${name.length} characters long, maximum length is`
  if (name === '') return [`${field}: is required`]
  if (name.length > maxNameLength) return [`${length} ${maxNameLength}`]
  if (name.length > maxClaimNameLength && fields['cluster_claim']) {
    return [`${length} ${maxClaimNameLength} for tests with claims`]
  }
  if (name === 'images') {
    return [`${field}: should not be called 'images' because it gets confused with '[images]' target`]
  }
  if (name.startsWith('ci-index')) {
    const targets = "'ci-index' and `ci-index-...` targets"
    return [`${field}: should not begin with 'ci-index' because it gets confused with ${targets}`]
  }
  if (!isObjectName(name)) return [`${field}: '${name}' is not a valid Kubernetes object name`]
  if (/-\d+of\d+$/.test(name)) {
    const why = 'is reserved for infrastructure use and will be stripped from the test name during rehearsals'
    return [`${field}: '${name}' ends with a shard suffix (e.g. -1of2) which ${why}`]
  }
  const hasDot = name.includes('.') && (resolvable !== undefined || fields['literal_steps'] !== undefined)
  return hasDot ? [`${field}: '${name}' is not a valid name, the following chars '.' are forbidden`] : []
}

const maxHours = 72

function timeoutFaults(field: string, { fields }: ConfigTest): readonly string[] {
  const timeout = goDurationMs(fields['timeout'] as string | number | undefined) ?? 0
  return timeout > maxHours * 3_600_000 ? [`${field}: job timeout is limited to ${maxHours}h0m0s`] : []
}

function stepsFaults(field: string, steps: TestConfiguration, releases: ReadonlySet<string>): readonly string[] {
  const leases = new Set<string>()
  const names = new Set<string>()
  return [
    ...leaseFaults(`${field}.leases`, steps.leases ?? ([] as readonly StepLease[]), leases),
    ...architectureFaults(field, steps.node_architecture),
    ...phases.flatMap((phase) =>
      (steps[phase] ?? []).flatMap((step, index) => {
        const at = `${field}.${phase}[${index}]`
        const faults = [
          ...kindFaults(at, step, names),
          ...literalFaults(at, step, { env: steps.env, releases, leases }),
        ]
        const isMisplaced = phase !== 'post' && step.literal?.optional_on_success !== undefined
        return [...faults, ...(isMisplaced ? [`${at}: \`optional_on_success\` is only allowed for Post steps`] : [])]
      }),
    ),
  ]
}

function kindFaults(at: string, { ref, chain, literal }: TestStep, names: Set<string>): readonly string[] {
  const count = [ref, chain, literal].filter((part) => part !== undefined).length
  if (count > 1) return [`${at}: only one of \`ref\`, \`chain\`, or a literal test step can be set`]
  if (count === 0) return [`${at}: a reference, chain, or literal test step is required`]
  const field = ref === undefined ? `${at}.chain` : `${at}.ref`
  const name = ref ?? chain ?? literal?.as ?? ''
  const isTaken = name !== '' && names.has(name)
  names.add(name)
  if (isTaken) return [`${literal ? at : field}: duplicated name "${name}"`]
  return name === '' && literal === undefined ? [`${field}: length cannot be 0`] : []
}

interface LiteralContext {
  /** undefined: the test says nothing of values, and ci-operator does not ask. */
  readonly env: Readonly<Record<string, string>> | undefined
  readonly releases: ReadonlySet<string>
  /** Variables of leases that the test has already. */
  readonly leases: Set<string>
}

function literalFaults(at: string, { literal }: TestStep, { env, ...known }: LiteralContext): readonly string[] {
  if (literal === undefined) return []
  const open = (literal.env ?? []).filter(
    ({ name, default: value }) => value === undefined && env && !Object.hasOwn(env, name),
  )
  const names = open.map(({ name }) => name).join(' ')
  return [
    ...checkStep(literal, { field: at, hasScript: true, ...known }),
    ...(open.length > 0 ? [`${at}: unresolved parameter(s): [${names}]`] : []),
  ]
}
