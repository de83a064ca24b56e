/**
 * Networks of a site: no two overlap, nor any of those that OVN-Kubernetes has for itself.
 *
 * Source: openshift/installer `pkg/types/validation/installconfig.go`.
 */
import type * as z from 'zod'
import { addressNetwork, doNetworksOverlap, type IpNetwork, parseNetwork } from './ip-network.ts'
import { entriesOf, fieldOf, textOf } from './loose-values.ts'

type Path = readonly (string | number)[]

interface NamedNetwork {
  readonly path: Path
  readonly text: string
  readonly what: string
  readonly network: IpNetwork
}

export const ovnNetworks: readonly (readonly [string, string])[] = [
  ['100.64.0.0/16', 'the join network of OVN-Kubernetes'],
  ['100.88.0.0/16', 'the transit network of OVN-Kubernetes'],
  ['169.254.0.0/17', 'the masquerade network of OVN-Kubernetes'],
  ['fd98::/64', 'the join network of OVN-Kubernetes'],
  ['fd97::/64', 'the transit network of OVN-Kubernetes'],
  ['fd69::/112', 'the masquerade network of OVN-Kubernetes'],
]

export function checkSiteNetworks(site: unknown, context: z.RefinementCtx): void {
  const networking = fieldOf(fieldOf(site, 'cluster'), 'networking')
  const networks = siteNetworks(networking)
  for (const [index, one] of networks.entries()) {
    const other = networks.slice(0, index).find(({ network }) => doNetworksOverlap(network, one.network))
    const own = ovnNetworks.find(([text]) => isOverlapping(text, one.network))
    const what = other ? `${other.what} ${other.text}` : own && `${own[1]}, ${own[0]}`
    if (what === undefined) continue
    const message = `${one.text} overlaps with ${what}; choose networks that have no address in common`
    context.addIssue({ code: 'custom', path: [...one.path], message })
  }
  for (const [index, entry] of entriesOf(networking, 'clusterNetwork').entries())
    checkHostPrefix(entry, { index, context })
  checkVips(site, { networks, context })
}

function isOverlapping(text: string, network: IpNetwork): boolean {
  const other = parseNetwork(text)
  return other !== undefined && doNetworksOverlap(other, network)
}

function siteNetworks(networking: unknown): NamedNetwork[] {
  const named = (field: string, what: string): NamedNetwork[] =>
    entriesOf(networking, field).flatMap((entry, index) => {
      const text = typeof entry === 'string' ? entry : textOf(entry, 'cidr')
      const network = text === undefined ? undefined : parseNetwork(text)
      const path = ['cluster', 'networking', field, index, ...(typeof entry === 'string' ? [] : ['cidr'])]
      return text === undefined || network === undefined ? [] : [{ path, text, what, network }]
    })
  return [
    ...named('machineNetwork', 'the machine network'),
    ...named('clusterNetwork', 'the cluster network'),
    ...named('serviceNetwork', 'the service network'),
  ]
}

interface Holder {
  readonly index: number
  readonly context: z.RefinementCtx
}

function checkHostPrefix(entry: unknown, { index, context }: Holder): void {
  const network = parseNetwork(textOf(entry, 'cidr') ?? '')
  const hostPrefix = fieldOf(entry, 'hostPrefix')
  if (network === undefined || typeof hostPrefix !== 'number') return
  const path = ['cluster', 'networking', 'clusterNetwork', index, 'hostPrefix']
  if (network.version === 6 && hostPrefix !== 64) {
    context.addIssue({ code: 'custom', path, message: 'of IPv6 each node gets a /64: write hostPrefix: 64' })
  } else if (hostPrefix < network.prefix || hostPrefix > 30 + (network.version === 6 ? 98 : 0)) {
    const message = `each node would get a /${hostPrefix} out of a /${network.prefix}; write a number between ${network.prefix} and 30`
    context.addIssue({ code: 'custom', path, message })
  }
}

interface Machines {
  readonly networks: readonly NamedNetwork[]
  readonly context: z.RefinementCtx
}

/** Addresses that nodes hold themselves lie in a network of theirs. */
function checkVips(site: unknown, { networks, context }: Machines): void {
  const machines = networks.filter(({ what }) => what === 'the machine network')
  for (const platform of ['baremetal']) {
    const holder = fieldOf(fieldOf(site, 'platform'), platform)
    for (const field of ['apiVIPs', 'ingressVIPs']) {
      for (const [index, text] of entriesOf(holder, field).entries()) {
        const address = typeof text === 'string' ? addressNetwork(text) : undefined
        const isInside = machines.some(({ network }) => address && doNetworksOverlap(network, address))
        if (isInside || machines.length === 0) continue
        const message = address
          ? `${text} lies in no machine network (${machines.map((one) => one.text).join(', ')}), and nodes could not hold it`
          : 'an IP address is wanted here'
        context.addIssue({ code: 'custom', path: ['platform', platform, field, index], message })
      }
    }
  }
}
