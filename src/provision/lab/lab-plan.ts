/** What a lab is called, and which site knows which name. Pure. */

import { KnownError } from '../../errors/known-error.ts'
import type { Site } from '../../journal/events.ts'
import { type SiteNames, sites } from '../provider.ts'
import { labAddresses } from './lab-addresses.ts'

export interface LabPlan {
  readonly id: string
  /** Number of a /24 of 198.18.0.0/15, 0 to 511. */
  readonly subnet: number
  /** Names of the Internet that the lab has a server for: `quay.io`. */
  readonly upstreamNames: readonly string[]
  /** More names of the bastion: of the mirror, as the site calls it. */
  readonly bastionNames?: readonly string[]
  readonly nodes: number
}

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
    ...Object.fromEntries((plan.bastionNames ?? []).map((name) => [name, bastion])),
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
