import { KnownError } from '../../errors/known-error.ts'
import { chooseSubnet } from './lab-addresses.ts'
import { checkLabId } from './lab-plan.ts'
import type { LabHost } from './lab-programs.ts'
import { Lab } from './lab-provider.ts'
import { readLabRecord } from './lab-record.ts'
import { type LabMode, type LabUser, probeLab } from './probe-lab.ts'
import { subnetOfLab, takenSubnets } from './taken-subnets.ts'

export interface LabOptions {
  readonly id: string
  /** Absolute, and of this lab alone: it is removed with it. */
  readonly directory: string
  /** Names of the Internet that the connected site has a server for. */
  readonly upstreamNames?: readonly string[]
  /** More names of the bastion. */
  readonly bastionNames?: readonly string[]
  readonly nodes?: number
  /** Default `auto`: namespaces where they are to be had. */
  readonly mode?: 'auto' | 'namespaces' | 'loopback'
  readonly user: LabUser
}

/**
 * The lab of a directory: as it was made there, or as it would be made now. Makes nothing.
 *
 * @throws KnownError LAB_UNAVAILABLE where namespaces are asked for, or were made, and cannot be had; USAGE; LAB_FAILED
 */
export async function openLab(host: LabHost, options: LabOptions): Promise<Lab> {
  const { directory, upstreamNames = [], bastionNames = [], nodes = 3, mode = 'auto' } = options
  const id = checkLabId(options.id)
  for (const name of [...upstreamNames, ...bastionNames]) checkHostName(name)
  const made = await readLabRecord(directory)
  if (made !== undefined && made.id !== id) {
    throw new KnownError('LAB_FAILED', `${directory} belongs to the lab "${made.id}"`)
  }
  const probe = await probeLab(host, { ...options.user, isMade: made?.mode === 'namespaces' })
  return new Lab(host, {
    plan: { id, subnet: made?.subnet ?? (await freshSubnet(id)), upstreamNames, bastionNames, nodes },
    directory,
    mode: chosenMode(made?.mode ?? mode, probe.mode),
    squid: probe.squid,
    user: options.user,
  })
}

/** They become lines of hosts(5). */
function checkHostName(name: string): void {
  if (/^[\w.-]+$/.test(name)) return
  throw new KnownError('USAGE', `"${name}" is no name of a host`, {
    hint: 'Letters, digits, "." and "-", and no port.',
  })
}

async function freshSubnet(id: string): Promise<number> {
  const [own, taken] = await Promise.all([subnetOfLab(id), takenSubnets()])
  return own ?? chooseSubnet(id, (candidate) => taken.has(candidate))
}

function chosenMode(wanted: 'auto' | 'namespaces' | 'loopback', possible: LabMode): LabMode {
  if (wanted === 'loopback') {
    const asked = { why: 'loopback was asked for', remedy: 'Leave the mode to the machine.' }
    return possible.kind === 'loopback' ? possible : { kind: 'loopback', ...asked }
  }
  if (wanted === 'namespaces' && possible.kind === 'loopback') {
    throw new KnownError('LAB_UNAVAILABLE', `The lab cannot have namespaces here: ${possible.why}`, {
      hint: possible.remedy,
    })
  }
  return possible
}
