/** Whether this machine and this user can have a lab in namespaces: found out by making one, on a small scale. */
import { hasSystemCode, KnownError } from '../../errors/known-error.ts'
import { randomId } from '../../host/random.ts'
import { findProgram, type LabHost, must } from './lab-programs.ts'
import { inNamespace, makeNamespace, removeNamespace } from './namespaces.ts'
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

/** A container may run as root and not be allowed to; a kernel may lack a part; /etc may be read-only. */
async function whyNotMade(host: LabHost): Promise<Obstacle | undefined> {
  const name = `sallyport-probe-${randomId().slice(0, 12)}`
  try {
    await makeNamespace(host, name, {})
    await must(host, ['ip', '-n', name, 'link', 'add', 'probe0', 'type', 'veth', 'peer', 'name', 'probe1'])
    await must(host, inNamespace(name, ['nft', '-f', '-']), closedRules('198.18.0.0/25'))
    return undefined
  } catch (error) {
    // ENOENT is what Node.js says when it makes a folder and those above it in a file system that is read-only.
    if (!(error instanceof KnownError) && !hasSystemCode(error, 'EROFS', 'EACCES', 'EPERM', 'ENOENT')) throw error
    const remedy =
      'In a container give it --privileged, or CAP_SYS_ADMIN and CAP_NET_ADMIN, with an /etc that can be written; otherwise use another machine.'
    return { why: error.message, remedy }
  } finally {
    await removeNamespace(host, name)
  }
}
