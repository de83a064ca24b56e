/** Whether this machine and this user can have a lab in namespaces: found out by making one, on a small scale. */
import { randomId } from '../../host/random.ts'
import { attempt, findProgram, type LabHost } from './lab-programs.ts'
import { inNamespace } from './namespaces.ts'
import { closedRules } from './packet-counters.ts'

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

const packages: Readonly<Record<string, string>> = { ip: 'iproute2', nft: 'nftables' }

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

/** A container may run as root and not be allowed to; a kernel may lack a part. */
async function whyNotMade(host: LabHost): Promise<Obstacle | undefined> {
  const name = `sallyport-probe-${randomId().slice(0, 12)}`
  const steps: readonly (readonly [readonly string[], string])[] = [
    [['ip', 'netns', 'add', name], ''],
    [['ip', '-n', name, 'link', 'add', 'probe0', 'type', 'veth', 'peer', 'name', 'probe1'], ''],
    [inNamespace(name, ['nft', '-f', '-']), closedRules('198.18.0.0/25')],
  ]
  try {
    for (const [argv, input] of steps) {
      const { status, stdout, stderr } = await attempt(host, argv, input)
      if (status === 0) continue
      const words = (stderr || stdout).trim().split('\n')[0] ?? ''
      return {
        why: `${argv.join(' ')} failed: ${words || `status ${status}`}`,
        remedy:
          'In a container give it --privileged, or CAP_SYS_ADMIN and CAP_NET_ADMIN; otherwise use another machine.',
      }
    }
    return undefined
  } finally {
    await attempt(host, ['ip', 'netns', 'delete', name])
  }
}
