/** What a step has to be by itself (openshift/ci-tools: pkg/validation/test.go `IsValidReference`, config.go `Observer`). */
import { posix } from 'node:path'
import type { LiteralStep, StepCredential, StepDependency, StepLease, StepResources } from './model.ts'
import type { Observer } from './registry.ts'
import { resourceFaults } from './resource-quantities.ts'
import { secretNameFaults } from './secret-names.ts'

export interface StepChecks {
  /** What its faults are told as: the name of a reference, or `tests[0].steps.pre[1]`. */
  readonly field: string
  /** False: the script is not there to be looked into. */
  readonly hasScript: boolean
  /** Of images besides those that every test has, as `from: NAME:TAG` names them. */
  readonly releases?: ReadonlySet<string>
  /** Variables of leases that the test has already; undefined where there is no test. */
  readonly leases?: Set<string>
}

/** Faults in the words of ci-tools. */
export function checkStep(step: LiteralStep, checks: StepChecks): readonly string[] {
  const { field, hasScript } = checks
  return [
    ...(step.as === '' ? [`${field}: \`as\` is required`] : []),
    ...imageFaults(step, checks),
    ...(hasScript ? scriptFaults(step, field) : []),
    ...(step.best_effort && step.timeout === undefined ? [`test ${step.as} contains best_effort without timeout`] : []),
    ...resourceFaults(`${field}.resources`, step.resources ?? {}),
    ...credentialFaults(field, step.credentials ?? []),
    ...dependencyFaults(field, step.dependencies ?? []),
    ...leaseFaults(`${field}.leases`, step.leases ?? [], checks.leases),
    ...architectureFaults(field, step.node_architecture),
  ]
}

export function checkObserver(observer: Observer, { hasScript }: Pick<StepChecks, 'hasScript'>): readonly string[] {
  const { name, commands, resources = {} as StepResources } = observer
  const field = `observer "${name}": `
  return [
    ...(isObjectName(name) ? [] : [`${field}.name is not a valid Kubernetes object identifier`]),
    ...(hasScript && commands === '' ? [`${field}.commands cannot be empty`] : []),
    ...resourceFaults(`${field}.resources`, resources),
    ...imageFaults(observer, { field: '', hasScript }),
  ]
}

/** DNS-1123 subdomain, as Kubernetes wants the name of an object. */
export function isObjectName(name: string): boolean {
  return name.length <= 253 && /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/.test(name)
}

const knownStreams = new Set(['pipeline', 'stable', 'stable-initial', 'release'])

function imageFaults(
  { from, from_image: image }: Pick<LiteralStep, 'from' | 'from_image'>,
  checks: StepChecks,
): string[] {
  const { field, releases } = checks
  const of = (name: string) => (field === '' ? name : `${field}.${name}`)
  if (!from && !image) return [`${field}: \`from\` or \`from_image\` is required`]
  if (from && image) return [`${field}: \`from\` and \`from_image\` cannot be set together`]
  if (image) {
    const wanted = ['namespace', 'name', 'tag'] as const
    return wanted.filter((name) => !image[name]).map((name) => `${of('from_image')}: \`${name}\` is required`)
  }
  const parts = (from ?? '').split(':')
  const [stream = ''] = parts
  const isUnknown = parts.length === 2 && !knownStreams.has(stream) && !releases?.has(stream.replace(/^stable-/, ''))
  return [
    ...(parts.length > 2 ? [`${of('from')}: '${from}' is not a valid imagestream reference`] : []),
    ...parts
      .filter((part) => !isObjectName(part))
      .map((part) => `${of('from')}: '${part}' is not a valid Kubernetes object name`),
    ...(isUnknown && isObjectName(stream) ? [`${of('from')}: unknown imagestream '${stream}'`] : []),
  ]
}

/** Upstream's pattern begins so; the rest of it may be nothing. */
const trap = /(?:^|\W)trap/

function scriptFaults({ as, commands, grace_period: grace }: LiteralStep, field: string): string[] {
  if (commands === '') return [`${field}: \`commands\` is required`]
  if (grace !== undefined || !trap.test(commands)) return []
  return [`test \`${as}\` has \`commands\` containing \`trap\` command, but test step is missing grace_period`]
}

function credentialFaults(field: string, credentials: readonly StepCredential[]): string[] {
  return credentials.flatMap((credential, index) => {
    const at = `${field}.credentials[${index}]`
    const { mount_path: path = '' } = credential
    const pathFault = path === '' ? `${at}: \`mountPath\` is required` : `${at}.mountPath is not absolute: ${path}`
    return [
      ...credentialSourceFaults(at, credential),
      ...(path.startsWith('/') ? [] : [pathFault]),
      ...credentials
        .slice(index + 1)
        .flatMap((other, offset) => collisions(credential, other, [at, index + 1 + offset, field, index])),
    ]
  })
}

function credentialSourceFaults(at: string, credential: StepCredential): string[] {
  const { name, namespace, bundle, collection, group, field, as } = credential
  if (!bundle && !collection && !group && !field) {
    return [
      ...(name ? [] : [`${at}: \`name\` is required`]),
      ...(namespace ? [] : [`${at}: \`namespace\` is required`]),
    ]
  }
  const named = name ? [`${at}: \`name\` cannot be used with \`bundle\`, \`collection\`, \`group\`, or \`field\``] : []
  if (as && !field) return [...named, `${at}: \`field\` is required when \`as\` is specified`]
  if (bundle) {
    const isMixed = collection || group || field
    return [
      ...named,
      ...(isMixed ? [`${at}: \`bundle\` cannot be used with \`collection\`, \`group\`, or \`field\``] : []),
    ]
  }
  if (collection && group) {
    const words = `${at}: \`namespace\` cannot be used with \`collection\`, \`group\`, or \`field\``
    return [...named, ...(namespace ? [words] : []), ...secretNameFaults(at, credential)]
  }
  return [...named, `${at}: must specify \`bundle\`, \`collection\`+\`group\`, or \`collection\`+\`group\`+\`field\``]
}

type Pair = readonly [at: string, otherIndex: number, field: string, index: number]

function collisions(one: StepCredential, other: StepCredential, [at, otherIndex, field, index]: Pair): string[] {
  const [path = '', otherPath = ''] = [one.mount_path, other.mount_path]
  if (path === otherPath) {
    return [
      `${at} and credentials[${otherIndex}] mount to the same location (${path}), which would result in a collision`,
    ]
  }
  if (one.bundle && one.bundle === other.bundle) {
    return [`${at} and credentials[${otherIndex}] reference the same bundle "${one.bundle}"`]
  }
  if (one.namespace && one.name && one.namespace === other.namespace && one.name === other.name) {
    const secret = `${one.namespace}/${one.name}`
    const words = 'which would create a duplicate Kubernetes volume name'
    return [`${at} and credentials[${otherIndex}] reference the same secret (${secret}), ${words}`]
  }
  return [
    ...nestingFaults(path, otherPath, [at, `credentials[${otherIndex}]`]),
    ...(path.startsWith('/') === otherPath.startsWith('/')
      ? nestingFaults(otherPath, path, [`${field}.credentials[${otherIndex}]`, `credentials[${index}]`])
      : []),
  ]
}

/** As Go's `filepath.Rel` has it: two dots anywhere in the way from one to the other are a way out. */
function nestingFaults(inner: string, outer: string, [at, other]: readonly [string, string]): string[] {
  if (inner.startsWith('/') !== outer.startsWith('/')) {
    return [`${at} could not check relative path to ${other} (Rel: can't make ${inner} relative to ${outer})`]
  }
  const way = posix.relative(`/${outer}`, `/${inner}`)
  return way.includes('..') ? [] : [`${at} mounts at ${inner}, which is under ${other} (${outer})`]
}

function dependencyFaults(field: string, dependencies: readonly StepDependency[]): string[] {
  const seen = new Set<string>()
  return dependencies.flatMap(({ name = '', env = '' }, index) => {
    const at = `${field}.dependencies[${index}]`
    const isTaken = env !== '' && seen.has(env)
    seen.add(env)
    return [
      ...(name === '' ? [`${at}.name must be set`] : []),
      ...(name.split(':').length > 2 ? [`${at}.name must take the \`tag\` or \`stream:tag\` form, not "${name}"`] : []),
      ...(env === '' ? [`${at}.env must be set`] : []),
      ...(isTaken ? [`${at}.env targets an environment variable that is already set by another dependency`] : []),
    ]
  })
}

/** @param seen variables that other leases of the same test have already */
export function leaseFaults(field: string, leases: readonly StepLease[], seen?: Set<string>): string[] {
  return leases.flatMap(({ resource_type: type, env }, index) => {
    const at = `${field}[${index}]`
    const isTaken = env !== undefined && seen?.has(env) === true
    if (env) seen?.add(env)
    return [
      ...(type ? [] : [`${at}: 'resource_type' cannot be empty`]),
      ...(env ? [] : [`${at}: 'env' cannot be empty`]),
      ...(isTaken ? [`${at}: duplicate environment variable: ${env}`] : []),
    ]
  })
}

const architectures = ['amd64', 'arm64', 's390x', 'ppc64le']

export function architectureFaults(field: string, architecture: string | undefined): string[] {
  if (architecture === undefined || architectures.includes(architecture)) return []
  const words = `invalid node architecture ${architecture}, expected one of amd64, arm64, s390x or ppc64le`
  return [`${field}.nodeArchitecture: ${words}`]
}
