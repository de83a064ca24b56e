/**
 * Packet counters of the closed site, in nftables: how they are set up and how they are read.
 *
 * Everything that a process of the site sends passes the output hook; what is not for the site is counted, noted by its
 * destination, and refused (nft(8) "SETS", "REJECT STATEMENT"). Refused and not dropped, so that nobody waits for a time-out.
 */
import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import type { CountedEvidence, TriedDestination } from '../provider.ts'

const table = 'inet sallyport'

/** Of neighbours on the same link, made by the kernel itself: they are about no destination (RFC 4861, RFC 3810). */
const linkUpkeep =
  'nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert, mld-listener-report, mld2-listener-report'

/** Rules of the closed site. Flushing first makes it safe to load again; counters then begin anew. */
export function closedRules(siteNetwork: string): string {
  return `add table ${table}
delete table ${table}
table ${table} {
  counter site { }
  counter left { }
  set tried4 { type ipv4_addr . inet_proto . inet_service; size 65535; flags dynamic; counter; }
  set tried6 { type ipv6_addr . inet_proto . inet_service; size 65535; flags dynamic; counter; }
  set other4 { type ipv4_addr . inet_proto; size 65535; flags dynamic; counter; }
  set other6 { type ipv6_addr . inet_proto; size 65535; flags dynamic; counter; }
  chain output {
    type filter hook output priority 0; policy accept;
    oifname "lo" accept
    ip daddr ${siteNetwork} counter name site accept
    icmpv6 type { ${linkUpkeep} } accept
    counter name left
    meta nfproto ipv4 meta l4proto { tcp, udp } update @tried4 { ip daddr . meta l4proto . th dport }
    meta nfproto ipv6 meta l4proto { tcp, udp } update @tried6 { ip6 daddr . meta l4proto . th dport }
    meta nfproto ipv4 meta l4proto != { tcp, udp } update @other4 { ip daddr . meta l4proto }
    meta nfproto ipv6 meta l4proto != { tcp, udp } update @other6 { ip6 daddr . meta l4proto }
    meta nfproto ipv6 meta l4proto tcp reject with tcp reset
    reject with icmpx type admin-prohibited
  }
}
`
}

/** Rules of the bastion: a proxy and a registry stand there, and no router. */
export const bastionRules = `add table ${table}
delete table ${table}
table ${table} {
  counter forwarded { }
  chain forward {
    type filter hook forward priority 0; policy drop;
    counter name forwarded
  }
}
`

/** Arguments of nft that print what {@link readCounters} reads. */
export const listCounters = ['-j', 'list', 'table', 'inet', 'sallyport'] as const

const Counter = z.object({ name: z.string(), packets: z.number() })
const Element = z.object({
  elem: z.object({
    val: z.object({ concat: z.array(z.union([z.string(), z.number()])) }),
    counter: z.object({ packets: z.number() }),
  }),
})
const Listing = z.object({
  nftables: z.array(
    z.object({
      counter: Counter.optional(),
      set: z.object({ name: z.string(), elem: z.array(Element).optional() }).optional(),
    }),
  ),
})

/**
 * The evidence out of what nft printed at the two sites.
 *
 * @throws KnownError LAB_FAILED where that is not what the rules above would give
 */
export function readCounters(closed: string, bastion: string): CountedEvidence {
  const inside = readListing(closed)
  const between = readListing(bastion)
  const tried = inside.flatMap(({ set }) => (set?.elem ?? []).map(triedDestination)).sort(byDestination)
  return {
    isProven: true,
    leftPackets: packets(inside, 'left'),
    tried,
    sitePackets: packets(inside, 'site'),
    forwardedPackets: packets(between, 'forwarded'),
  }
}

type Entries = z.infer<typeof Listing>['nftables']

function readListing(text: string): Entries {
  try {
    return Listing.parse(JSON.parse(text)).nftables
  } catch (cause) {
    throw new KnownError('LAB_FAILED', 'The packet counters of the lab cannot be read', { cause })
  }
}

function packets(entries: Entries, name: string): number {
  const found = entries.find(({ counter }) => counter?.name === name)?.counter
  if (found === undefined) throw new KnownError('LAB_FAILED', `The lab has no packet counter "${name}"`)
  return found.packets
}

function triedDestination({ elem }: z.infer<typeof Element>): TriedDestination {
  const [address = '', protocol = '', port] = elem.val.concat
  return {
    address: String(address),
    protocol: String(protocol),
    ...(typeof port === 'number' && { port }),
    packets: elem.counter.packets,
  }
}

function byDestination(one: TriedDestination, other: TriedDestination): number {
  return destination(one) < destination(other) ? -1 : 1
}

/** What happened between two looks. Counters that began anew in between count from there. */
export function evidenceSince(before: CountedEvidence, after: CountedEvidence): CountedEvidence {
  if (after.leftPackets < before.leftPackets || after.sitePackets < before.sitePackets) return after
  const seen = new Map(before.tried.map((each) => [destination(each), each.packets]))
  const tried = after.tried
    .map((each) => ({ ...each, packets: each.packets - (seen.get(destination(each)) ?? 0) }))
    .filter((each) => each.packets > 0)
  return {
    isProven: true,
    leftPackets: after.leftPackets - before.leftPackets,
    tried,
    sitePackets: after.sitePackets - before.sitePackets,
    forwardedPackets: after.forwardedPackets - before.forwardedPackets,
  }
}

function destination({ address, protocol, port }: TriedDestination): string {
  return `${address} ${protocol} ${port}`
}
