/**
 * What a workflow creates and does not destroy. Nothing in ci-operator pairs the two; the table and the names do.
 */
import type { ResolvedWorkflow } from '../model.ts'
import { type LintFinding, lintFinding } from './lint-finding.ts'

/** One thing that a step makes, and the steps of which any takes it away again. */
export interface CreatePair {
  readonly creator: string
  /** Only the table knows. */
  readonly what?: string
  readonly destroyers: readonly string[]
  /** Ends the same sort of thing when another step has made it: easily taken for the right one. */
  readonly lookalike?: { readonly creator: string; readonly destroyer: string }
}

/** Pairs that names do not give away, or whose names do not say what is made. */
const table: readonly CreatePair[] = [
  pair('aws-provision-vpc-disconnected', 'the VPC stack', 'aws-deprovision-stacks'),
  pair('aws-provision-vpc-shared', 'the VPC stack', 'aws-deprovision-stacks'),
  pair('aws-provision-bastionhost', 'the stack of the bastion', 'aws-deprovision-stacks'),
  pair(
    'aws-provision-bastionhost',
    'the S3 bucket with the Ignition config of the bastion',
    'aws-deprovision-s3buckets',
  ),
  pair('aws-provision-cco-manual-users-static', 'IAM users and policies', 'aws-deprovision-users-and-policies'),
  pair('azure-provision-resourcegroup', 'the resource group', 'azure-deprovision-resourcegroup', 'aro-deprovision'),
  pair('azure-provision-bastionhost', 'the bastion', 'azure-deprovision-resourcegroup'),
  pair('azure-provision-bastionhost-managed-identity', 'the bastion', 'azure-deprovision-resourcegroup'),
  pair('vsphere-provision-bastionhost-dnsmasq', 'the bastion', 'vsphere-deprovision-bastionhost'),
  ...['alibabacloud', 'gcp', 'ibmcloud', 'nutanix', 'vsphere'].map((cloud) =>
    pair(`${cloud}-provision-bastionhost`, 'the bastion', `${cloud}-deprovision-bastionhost`),
  ),
  ...['bastionproxy', 'dnsrecords', 'floatingips', 'machinesubnet', 'vips-ports'].map((what) =>
    pair(`openstack-provision-${what}`, what, `openstack-deprovision-${what}`, 'upi-deprovision-openstack'),
  ),
  pair('cluster-install', 'the cluster', 'cluster-uninstall'),
  {
    ...pair('baremetalds-packet-setup', 'the machine at Equinix', 'baremetalds-packet-teardown'),
    lookalike: { creator: 'ofcir-acquire', destroyer: 'ofcir-release' },
  },
  {
    ...pair('ofcir-acquire', 'the host of the pool', 'ofcir-release'),
    lookalike: { creator: 'baremetalds-packet-setup', destroyer: 'baremetalds-packet-teardown' },
  },
]

function pair(creator: string, what: string, ...destroyers: readonly string[]): CreatePair {
  return { creator, what, destroyers }
}

/** One word of a name that says that something begins, and those that end it. */
const opposites: Readonly<Record<string, readonly string[]>> = {
  provision: ['deprovision', 'destroy'],
  create: ['destroy', 'delete'],
  setup: ['teardown'],
  acquire: ['release'],
}

/** The table, and what the names of steps say: aws-provision-kms-key is ended by aws-deprovision-kms-key. */
export function createPairs(names: Iterable<string>): readonly CreatePair[] {
  const all = new Set(names)
  const told = new Set(table.map(({ creator }) => creator))
  const derived = [...all].flatMap((creator) => {
    if (told.has(creator)) return []
    const words = creator.split('-')
    const destroyers = words.flatMap((word, at) =>
      (opposites[word] ?? []).map((end) => words.with(at, end).join('-')).filter((name) => all.has(name)),
    )
    return destroyers.length === 0 ? [] : [{ creator, destroyers }]
  })
  return [...table, ...derived]
}

/** What the workflow creates in `pre` or `test`, and does not destroy anywhere. */
export function lintCreated(
  workflow: ResolvedWorkflow,
  pairs: readonly CreatePair[],
  file?: string,
): readonly LintFinding[] {
  const names = (steps: ResolvedWorkflow['pre']) => steps.map(({ literal }) => literal.as)
  const forward = new Set(names([...workflow.pre, ...workflow.test]))
  const all = new Set([...forward, ...names(workflow.post)])
  return pairs
    .filter(({ creator, destroyers }) => forward.has(creator) && !destroyers.some((name) => all.has(name)))
    .map((open) => createdFinding(open, { workflow: workflow.name, all, file }))
}

interface CreatedWhere {
  readonly workflow: string
  /** Names of all its steps. */
  readonly all: ReadonlySet<string>
  readonly file: string | undefined
}

function createdFinding({ creator, what, destroyers, lookalike }: CreatePair, place: CreatedWhere): LintFinding {
  const { workflow, all, file } = place
  const where = file === undefined ? {} : { where: { file } }
  const wanted = destroyers.join(' or ')
  if (lookalike !== undefined && all.has(lookalike.destroyer) && !all.has(lookalike.creator)) {
    return lintFinding('steps.destroyed-otherwise', {
      summary: `${workflow}: ${creator} runs with ${lookalike.destroyer}, and not with ${wanted}`,
      evidence: `${lookalike.destroyer} ends what ${lookalike.creator} begins, and that does not run`,
      remedy: `Have ${wanted} in post, or begin with ${lookalike.creator}.`,
      ...where,
    })
  }
  const isTold = what !== undefined
  return lintFinding('steps.not-destroyed', {
    // A name is a good guess, and not more.
    ...(!isTold && { severity: 'warning' }),
    summary: `${workflow}: ${creator} creates ${isTold ? `${what}, and nothing destroys it` : 'what nothing destroys'}`,
    evidence: `${wanted} does not run`,
    remedy: `Have ${wanted} in post: it runs after failures, too.`,
    ...where,
  })
}
