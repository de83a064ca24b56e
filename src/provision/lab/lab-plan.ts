/** What a lab consists of, from its id alone: names, addresses, and which site knows which name. Pure. */
import { createHash } from 'node:crypto'
import { KnownError } from '../../errors/known-error.ts'
import { type Site, type SiteNames, sites } from '../provider.ts'

export interface LabPlan {
  readonly id: string
  /** Number of a /24 of 198.18.0.0/15, 0 to 511. */
  readonly subnet: number
  /** Names of the Internet that the lab has a server for: `quay.io`. */
  readonly upstreamNames: readonly string[]
  readonly nodes: number
}

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

/** @throws KnownError USAGE */
export function checkLabId(id: string): string {
  if (/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(id)) return id
  throw new KnownError('USAGE', `"${id}" is no name for a lab`, {
    hint: 'A lab is named by lower-case letters, digits and hyphens, at most 32.',
  })
}

export function namespaceName(lab: string, site: Site): string {
  return `sallyport-${lab}-${site}`
}

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

export function nodeNames(plan: Pick<LabPlan, 'nodes'>): readonly string[] {
  return Array.from({ length: plan.nodes }, (_, index) => `node-${index}`)
}

/**
 * One name for a server of the bastion, wherever one stands: who pushes from outside and who pulls inside use the same
 * certificate. Names of the Internet are not known behind the gap.
 */
export function labNames(plan: LabPlan): SiteNames {
  const { connected, bastionOutside, bastionInside, closed } = labAddresses(plan.subnet)
  const domain = `${plan.id}.lab`
  const bastion = { connected: bastionOutside, bastion: bastionInside, closed: bastionInside }
  return {
    [`bastion.${domain}`]: bastion,
    [`mirror.${domain}`]: bastion,
    [`proxy.${domain}`]: bastion,
    ...Object.fromEntries(nodeNames(plan).map((name) => [`${name}.${domain}`, { bastion: closed, closed }])),
    ...Object.fromEntries(plan.upstreamNames.map((name) => [name, { connected, bastion: connected }])),
  }
}

/** The hosts(5) of each site. */
export function hostsFiles(names: SiteNames): Readonly<Record<Site, string>> {
  const local = ['127.0.0.1 localhost', '::1 localhost']
  const file = (site: Site) => {
    const lines = Object.entries(names).flatMap(([name, addresses]) => {
      const address = addresses[site]
      return address === undefined ? [] : [`${address} ${name}`]
    })
    return `${[...local, ...lines].join('\n')}\n`
  }
  const [connected, bastion, closed] = sites.map(file)
  return { connected: connected ?? '', bastion: bastion ?? '', closed: closed ?? '' }
}
