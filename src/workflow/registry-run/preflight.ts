import { access, constants, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Finding, finding } from '../../errors/finding.ts'
import { goDurationMs } from '../export/go-duration.ts'
import type { LiteralStep, ResolvedStep, ResolvedWorkflow } from '../step-registry/model.ts'
import { imageKey, imageOf } from './container-command.ts'
import { credentialMounts, credentialName } from './credential-mounts.ts'
import type { RegistryRunOptions } from './run-options.ts'
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
  return onePerKey(absent, ({ name, env }) => `${env}=${name}`).map(({ first: { name, env }, all }) =>
    finding({
      id: 'run.dependency-absent',
      severity: 'error',
      summary: `Nobody gives the image ${name}, which ${listed(all.map(({ as }) => as))} wants in ${env}`,
      remedy: `Give its pull specification with --dependency ${env}=PULLSPEC, or --dependency ${name}=PULLSPEC.`,
    }),
  )
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
  return Object.entries({ timeout, grace_period: grace }).flatMap(([name, value]) =>
    value === undefined || goDurationMs(value) !== undefined
      ? []
      : [
          finding({
            id: 'run.duration-invalid',
            severity: 'error',
            summary: `${as}: ${name} is ${value}, which is no duration such as 1h30m`,
          }),
        ],
  )
}

async function absentProfile({ resolved, options }: RegistryRun): Promise<readonly Finding[]> {
  const { clusterProfile, clusterProfileLiteral } = resolved
  if (clusterProfile === undefined) return []
  const { clusterProfileDir, clusterType = clusterProfileLiteral?.cluster_type } = options
  const findings: Finding[] = []
  if (clusterProfileDir === undefined || !(await isReadable(clusterProfileDir))) {
    findings.push(
      finding({
        id: 'run.cluster-profile-absent',
        severity: 'error',
        summary: `The workflow uses the cluster profile ${clusterProfile}, and ${clusterProfileDir === undefined ? 'nobody gives its files' : `${clusterProfileDir} cannot be read`}`,
        remedy:
          'Name the directory of its files with --cluster-profile DIR: credentials of the cloud, pull-secret, ssh-publickey, …',
      }),
    )
  }
  if (clusterType === undefined) {
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
        ? `Name a directory with its files: --credential ${name}=DIR.`
        : `Put its files there, run the steps in containers (--container podman --credential ${name}=DIR), or go on without (--allow-missing-credentials).`,
    }),
  )
}

async function absentPrograms(
  scripts: readonly LiteralStep[],
  options: RegistryRunOptions,
): Promise<readonly Finding[]> {
  const { container, path, cliDir } = options
  if (container !== undefined) {
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
  const findings: Finding[] = []
  if (!(await isRunnable('/bin/bash'))) findings.push(absentProgram('/bin/bash', 'Every script needs it.'))
  const oc = (
    await Promise.all(
      [...path.split(':'), cliDir ?? ''].filter((each) => each !== '').map((each) => isRunnable(join(each, 'oc'))),
    )
  ).some(Boolean)
  if (!oc && scripts.some(({ cli }) => cli !== undefined)) {
    findings.push(absentProgram('oc', 'Name the directory where it is with --cli-dir.'))
  }
  return findings
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
