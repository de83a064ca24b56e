import { access, constants, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Finding, finding } from '../../errors/finding.ts'
import { goDurationMs } from '../step-registry/go-duration.ts'
import type { LiteralStep, ResolvedStep, ResolvedWorkflow } from '../step-registry/model.ts'
import { imageKey, imageOf } from './container-image.ts'
import { credentialMounts, credentialName } from './credential-mounts.ts'
import type { ContainerOptions, RegistryRunOptions } from './run-options.ts'
import { dependencyValue, type RegistryRun, wantedLeases } from './script-environment.ts'

/** What is known to be missing before the first step runs. One of severity error would fail a step sooner or later. */
export async function preflight(resolved: ResolvedWorkflow, options: RegistryRunOptions): Promise<readonly Finding[]> {
  const run: RegistryRun = { resolved, options }
  const steps = [...resolved.pre, ...resolved.test, ...resolved.post]
  const scripts = [...steps.map(({ literal }) => literal), ...resolved.observers]
  return [
    ...steps.flatMap(absentParameters),
    ...absentDependencies(steps, run),
    ...absentLeases(run),
    ...absentVariables(scripts, run),
    ...scripts.flatMap(badDurations),
    ...(await absentProfile(run)),
    ...(await absentCredentials(scripts, options)),
    ...(await absentPrograms(scripts, options)),
  ]
}

function absentParameters({ literal, parameters }: ResolvedStep): readonly Finding[] {
  return parameters
    .filter(({ value }) => value === undefined)
    .map(({ name }) =>
      finding({
        id: 'run.parameter-absent',
        severity: 'error',
        summary: `${literal.as}: unresolved parameter ${name}: it has no default, and nobody gives it a value`,
        remedy: `Give it with --env ${name}=VALUE, or in env of the test.`,
      }),
    )
}

function absentDependencies(steps: readonly ResolvedStep[], run: RegistryRun): readonly Finding[] {
  const absent = steps.flatMap(({ literal }) =>
    (literal.dependencies ?? [])
      .filter((dependency) => dependencyValue(dependency, run) === undefined)
      .map(({ name, env }) => ({ name, env, as: literal.as })),
  )
  return onePerKey(absent, ({ name }) => name).map(({ first: { name }, all }) => {
    const [, release] = /^release:(.+)$/.exec(name) ?? []
    const variables = [...new Set(all.map(({ env }) => env))].join(', ')
    return finding({
      id: 'run.dependency-absent',
      severity: 'error',
      summary: `Nobody gives the image ${name}, which ${listed(all.map(({ as }) => as))} wants in ${variables}`,
      remedy: `Give its pull specification with ${release === undefined ? `--dependency ${name}` : `--release-image ${release}`}=PULLSPEC.`,
    })
  })
}

/** What ci-operator sets and scripts use that is not given: with `set -u` they end there. */
function absentVariables(scripts: readonly LiteralStep[], { resolved, options }: RegistryRun): readonly Finding[] {
  const { clusterProfileDir, clusterType, leases = {}, releaseImages = {} } = options
  const flags = {
    ...(!clusterProfileDir &&
      resolved.clusterProfile === undefined && { CLUSTER_PROFILE_DIR: '--cluster-profile DIR' }),
    ...(!clusterType && resolved.clusterProfile === undefined && { CLUSTER_TYPE: '--cluster-type TYPE' }),
    ...(!leases['LEASED_RESOURCE'] && { LEASED_RESOURCE: '--leased-resource LEASED_RESOURCE=NAME' }),
    ...(!releaseImages['latest'] && { RELEASE_IMAGE_LATEST: '--release-image latest=PULLSPEC' }),
    ...(!releaseImages['initial'] && { RELEASE_IMAGE_INITIAL: '--release-image initial=PULLSPEC' }),
  }
  const demanded = new Set(wantedLeases(resolved).map(({ env }) => env))
  return Object.entries(flags).flatMap(([name, flag]) => {
    if (demanded.has(name)) return []
    const users = scripts.filter((literal) => usesVariable(literal, name))
    if (users.length === 0) return []
    const summary = `${listed(users.map(({ as }) => as))} uses $${name}, which nobody gives`
    return [finding({ id: 'run.variable-absent', severity: 'warning', summary, remedy: `Give it with ${flag}.` })]
  })
}

function usesVariable({ commands, env = [], dependencies = [] }: LiteralStep, name: string): boolean {
  const isDeclared = env.some((each) => each.name === name) || dependencies.some((each) => each.env === name)
  // With a default of its own it does without: ${NAME:-…}, ${NAME-…}.
  return !isDeclared && new RegExp(`\\$(?:${name}\\b|\\{${name}(?![\\w]|:?[-+=?]))`).test(commands)
}

function absentLeases({ resolved, options }: RegistryRun): readonly Finding[] {
  return wantedLeases(resolved).flatMap(({ resource_type: type, env, count = 1 }) => {
    const names = (options.leases?.[env] ?? '').split(/\s+/).filter((name) => name !== '')
    if (names.length >= count) return []
    const given = names.length === 0 ? 'nobody gives one' : `${names.length} is given`
    return [
      finding({
        id: 'run.lease-absent',
        severity: 'error',
        summary: `${count} of ${type} is to be leased for ${env}, and ${given}`,
        remedy: `Name what the run may use with --leased-resource ${env}=NAME: a region, a host, an account.`,
      }),
    ]
  })
}

function badDurations({ as, timeout, grace_period: grace }: LiteralStep): readonly Finding[] {
  return Object.entries({ timeout, grace_period: grace }).flatMap(([name, value]) => {
    const isMeant = value === undefined || (typeof value === 'string' && (goDurationMs(value) ?? -1) >= 0)
    if (isMeant) return []
    const what = typeof value === 'number' ? 'has no unit and so many nanoseconds are hardly meant' : 'is no duration'
    const summary = `${as}: ${name} is ${value}, which ${what}`
    return [finding({ id: 'run.duration-invalid', severity: 'error', summary, remedy: 'Write it with units: 1h30m.' })]
  })
}

async function absentProfile({ resolved, options }: RegistryRun): Promise<readonly Finding[]> {
  const { clusterProfile, clusterProfileLiteral } = resolved
  const { clusterProfileDir: directory, clusterType = clusterProfileLiteral?.cluster_type } = options
  const findings: Finding[] = []
  const wanted = clusterProfile === undefined ? '' : `The workflow uses the cluster profile ${clusterProfile}, and `
  const isUnreadable = directory !== undefined && !(await isReadable(directory))
  if (isUnreadable || (directory === undefined && clusterProfile !== undefined)) {
    findings.push(
      finding({
        id: 'run.cluster-profile-absent',
        severity: 'error',
        summary: `${wanted}${directory === undefined ? 'nobody gives its files' : `${directory} cannot be read`}`,
        remedy:
          'Name the directory of its files with --cluster-profile DIR: credentials of the cloud, pull-secret, ssh-publickey, …',
      }),
    )
  }
  if (clusterProfile !== undefined && clusterType === undefined) {
    findings.push(
      finding({
        id: 'run.cluster-type-absent',
        severity: 'warning',
        summary: `The registry does not say of which type the cluster profile ${clusterProfile} is: CLUSTER_TYPE is not set`,
        remedy: 'Give it with --cluster-type aws, gcp, ….',
      }),
    )
  }
  return findings
}

async function absentCredentials(
  scripts: readonly LiteralStep[],
  options: RegistryRunOptions,
): Promise<readonly Finding[]> {
  const wanted = scripts.flatMap((literal) =>
    (literal.credentials ?? []).map((credential) => ({ literal, credential })),
  )
  const absent: { readonly name: string; readonly path: string; readonly as: string }[] = []
  for (const { literal, credential } of wanted) {
    const [mount] = credentialMounts({ ...literal, credentials: [credential] }, options)
    if (mount !== undefined && (await isReadable(mount.from))) continue
    absent.push({ name: credentialName(credential), path: credential.mount_path ?? '', as: literal.as })
  }
  const isContainer = options.container !== undefined
  return onePerKey(absent, ({ name, path }) => `${name} ${path}`).map(({ first: { name, path }, all }) =>
    finding({
      id: 'run.credential-absent',
      severity: options.allowMissingCredentials ? 'warning' : 'error',
      summary: `${listed(all.map(({ as }) => as))} wants the credential ${name} at ${path}, and it is not there`,
      remedy: isContainer
        ? 'Name the directory of its files with --credential NAME=DIR.'
        : 'Put its files there, run the steps in containers (--container podman --credential NAME=DIR), or go on without (--allow-missing-credentials).',
    }),
  )
}

async function absentPrograms(
  scripts: readonly LiteralStep[],
  options: RegistryRunOptions,
): Promise<readonly Finding[]> {
  const { container, path, cliDir } = options
  if (container !== undefined) {
    const { program, env } = container
    const isThere = program.includes('/') ? await isRunnable(program) : await isOnPath(program, env['PATH'] ?? '')
    const absent = isThere ? [] : [absentProgram(program, 'Install it, or run the steps without containers.')]
    return [...absent, ...absentImages(scripts, container)]
  }
  const findings: Finding[] = []
  if (!(await isRunnable('/bin/bash'))) findings.push(absentProgram('/bin/bash', 'Every script needs it.'))
  const wantsOc = scripts.some(({ cli }) => cli !== undefined)
  if (wantsOc && !(await isOnPath('oc', `${path}:${cliDir ?? ''}`))) {
    findings.push(absentProgram('oc', 'Name the directory where it is with --cli-dir.'))
  }
  return findings
}

function absentImages(scripts: readonly LiteralStep[], container: ContainerOptions): readonly Finding[] {
  const absent = scripts.filter((literal) => imageOf(literal, container) === undefined)
  return onePerKey(absent, imageKey).map(({ first, all }) =>
    finding({
      id: 'run.image-absent',
      severity: 'error',
      summary: `Nobody says which image ${imageKey(first)} is, in which ${listed(all.map(({ as }) => as))} runs`,
      remedy: `Give it with --image ${imageKey(first)}=IMAGE, or one for all with --image IMAGE.`,
    }),
  )
}

async function isOnPath(program: string, path: string): Promise<boolean> {
  const folders = path.split(':').filter((each) => each !== '')
  return (await Promise.all(folders.map((folder) => isRunnable(join(folder, program))))).some(Boolean)
}

function absentProgram(program: string, remedy: string): Finding {
  return finding({ id: 'run.program-absent', severity: 'error', summary: `${program} is not there`, remedy })
}

interface Group<Item> {
  readonly first: Item
  readonly all: readonly Item[]
}

function onePerKey<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Group<Item>[] {
  return [...Map.groupBy(items, keyOf).values()].flatMap((all) => {
    const [first] = all
    return first === undefined ? [] : [{ first, all }]
  })
}

function listed(names: readonly string[]): string {
  const [first = '', ...more] = [...new Set(names)]
  return more.length === 0 ? first : `${first} (and ${more.length} more)`
}

async function isReadable(directory: string): Promise<boolean> {
  return readdir(directory).then(
    () => true,
    () => false,
  )
}

async function isRunnable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
