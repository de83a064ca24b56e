/** Networks and addresses of a lab. Pure. */
import { createHash } from 'node:crypto'
import { KnownError } from '../../errors/known-error.ts'

export interface LabAddresses {
  readonly connectedNetwork: string
  readonly closedNetwork: string
  readonly connected: string
  /** The bastion, as the connected site sees it. */
  readonly bastionOutside: string
  /** The bastion, as the closed site sees it. */
  readonly bastionInside: string
  readonly closed: string
  readonly prefixLength: number
}

const subnetCount = 512

/**
 * A /24 out of the range for benchmarks (RFC 2544), which nobody routes, so that it hides nothing that the machine talks to.
 * The same id gets the same one, unless that is taken.
 *
 * @throws KnownError LAB_FAILED
 */
export function chooseSubnet(id: string, isTaken: (subnet: number) => boolean): number {
  const first = createHash('sha256').update(id).digest().readUInt16BE(0)
  for (let step = 0; step < subnetCount; step += 1) {
    const subnet = (first + step) % subnetCount
    if (!isTaken(subnet)) return subnet
  }
  throw new KnownError('LAB_FAILED', 'All of 198.18.0.0/15 is in use on this machine', {
    hint: 'Remove labs that nobody uses any more: ip netns shows them, as sallyport-LAB-SITE.',
  })
}

/** The /24 of 198.18.0.0/15 that an IPv4 address lies in. */
export function subnetOf(address: string): number | undefined {
  const [first, second, third] = address.split('.').map(Number)
  if (first !== 198 || (second !== 18 && second !== 19) || third === undefined) return undefined
  return (second - 18) * 256 + third
}

export function labAddresses(subnet: number): LabAddresses {
  const base = `198.${18 + Math.floor(subnet / 256)}.${subnet % 256}`
  return {
    connectedNetwork: `${base}.0/25`,
    closedNetwork: `${base}.128/25`,
    bastionOutside: `${base}.1`,
    connected: `${base}.2`,
    bastionInside: `${base}.129`,
    closed: `${base}.130`,
    prefixLength: 25,
  }
}
