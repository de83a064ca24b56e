/** Whether this machine and this user can have a lab in namespaces: found out by making one, on a small scale. */
import { attempt, findProgram, type LabHost } from './lab-programs.ts'
import { bastionRules, closedRules, frameRules } from './packet-rules.ts'

export type LabMode =
  /** `ip`: the path of the program, for whoever runs commands with another PATH. */
  | { readonly kind: 'namespaces'; readonly ip: string }
  /** Everything on 127.0.0.1: the same work, and no proof. */
  | { readonly kind: 'loopback'; readonly why: string; readonly remedy: string }

export interface LabProbe {
  readonly mode: LabMode
  /** Path of squid; undefined where it is not installed. */
  readonly squid: string | undefined
}

/** Of this process: `process.platform`, and its user. */
export interface LabUser {
  readonly platform: string
  readonly uid: number
}

/** `isMade`: there is one already, so that only the user and the programs are in question. */
export async function probeLab(host: LabHost, user: LabUser & { readonly isMade?: boolean }): Promise<LabProbe> {
  const squid = await findProgram(host, 'squid')
  const found = (await whyNotHere(host, user)) ?? (user.isMade ? undefined : await whyNotMade(host))
  const ip = (await findProgram(host, 'ip')) ?? 'ip'
  return { mode: found === undefined ? { kind: 'namespaces', ip } : { kind: 'loopback', ...found }, squid }
}

interface Obstacle {
  readonly why: string
  readonly remedy: string
}

const packages: Readonly<Record<string, string>> = { ip: 'iproute2', nft: 'nftables', unshare: 'util-linux' }

async function whyNotHere(host: LabHost, { platform, uid }: LabUser): Promise<Obstacle | undefined> {
  if (platform !== 'linux') {
    return { why: `network namespaces are of Linux, and this is ${platform}`, remedy: 'Use a machine with Linux.' }
  }
  if (uid !== 0) return { why: `user ${uid} may not make network namespaces`, remedy: 'Run it as root.' }
  for (const [program, debianPackage] of Object.entries(packages)) {
    if ((await findProgram(host, program)) === undefined) {
      return { why: `${program} is not installed`, remedy: `Install the package ${debianPackage}.` }
    }
  }
  return undefined
}

/**
 * Makes a namespace, a cable and the rules as a lab does. In a mount namespace that ends with the script, where /run is another:
 * nothing has to be removed, also when somebody is killed.
 */
const trial = `
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
[ -w /etc ] || { echo '/etc cannot be written' >&2; exit 1; }
ip netns add trial
ip -n trial link add trial0 type veth peer name trial1
ip netns exec trial nft -f -
`

const trialNetwork = '198.18.0.0/25'
const trialRules = [bastionRules, closedRules(trialNetwork), frameRules('trial1', trialNetwork)].join('')

/** A container may run as root and not be allowed to; a kernel may lack a part; /etc may be read-only. */
async function whyNotMade(host: LabHost): Promise<Obstacle | undefined> {
  const argv = ['unshare', '--mount', '--net', '--', '/bin/sh', '-c', trial]
  const { status, stdout, stderr } = await attempt(host, argv, trialRules)
  if (status === 0) return undefined
  const words = (stderr || stdout).trim().split('\n')[0] || `a trial ended with status ${status}`
  const needs = 'CAP_SYS_ADMIN and CAP_NET_ADMIN, with an /etc that can be written'
  return { why: words, remedy: `In a container give it --privileged, or ${needs}; otherwise use another machine.` }
}
