/**
 * Packet counters of the closed site, in nftables: how they are set up.
 *
 * What a process of the site sends over IP passes the output hook; what is not for the site is counted, noted by its
 * destination, and refused (nft(8) "SETS", "REJECT STATEMENT"). Refused and not dropped, so that nobody waits for a time-out.
 * Frames that a process makes itself (packet(7)) pass no such hook: they are counted at the other ends of the cables.
 */
import { questionRules, questionSets } from './dns-questions.ts'

const table = 'inet sallyport'
const frameTable = 'netdev sallyport'

/** To neighbours on the same link, made by the kernel itself: they are about no destination (RFC 4861, RFC 3810). */
const upkeepTypes =
  'nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert, mld-listener-report, mld2-listener-report'
const linkUpkeep = `ip6 daddr { fe80::/10, ff02::/16 } icmpv6 type { ${upkeepTypes} } accept`

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
  ${questionSets().join('\n  ')}
  chain outward {
    counter name left
    meta nfproto ipv4 meta l4proto { tcp, udp } update @tried4 { ip daddr . meta l4proto . th dport }
    meta nfproto ipv6 meta l4proto { tcp, udp } update @tried6 { ip6 daddr . meta l4proto . th dport }
    meta nfproto ipv4 meta l4proto != { tcp, udp } update @other4 { ip daddr . meta l4proto }
    meta nfproto ipv6 meta l4proto != { tcp, udp } update @other6 { ip6 daddr . meta l4proto }
    ${questionRules().join('\n    ')}
    meta nfproto ipv6 meta l4proto tcp reject with tcp reset
    reject with icmpx type admin-prohibited
  }
  chain output {
    type filter hook output priority 0; policy accept;
    oifname "lo" meta l4proto { tcp, udp } th dport 53 jump outward comment "of a resolver that is not here"
    oifname "lo" fib daddr type local accept
    ip daddr ${siteNetwork} counter name site accept
    ${linkUpkeep}
    jump outward
  }
}
`
}

/**
 * Rules of the bastion: a proxy and a registry stand there, and no router. Counted as they arrive, because what nobody
 * routes comes to no hook behind the routing.
 */
export const bastionRules = `add table ${table}
delete table ${table}
table ${table} {
  counter forwarded { }
  chain prerouting {
    type filter hook prerouting priority -300; policy accept;
    iifname != "lo" fib daddr type unicast counter name forwarded drop
  }
  chain forward {
    type filter hook forward priority 0; policy drop;
  }
}
`

/** Rules for the other end of a cable out of the closed site: no frame arrives there that is for anybody but the site. */
export function frameRules(device: string, siteNetwork: string): string {
  return `add table ${frameTable}
delete table ${frameTable}
table ${frameTable} {
  counter frames { }
  set frames4 { type ipv4_addr . ether_type; size 65535; flags dynamic; counter; }
  set frames6 { type ipv6_addr . ether_type; size 65535; flags dynamic; counter; }
  chain ingress {
    type filter hook ingress device "${device}" priority 0; policy accept;
    ip daddr ${siteNetwork} accept
    arp daddr ip ${siteNetwork} accept
    ${linkUpkeep}
    counter name frames
    meta protocol ip update @frames4 { ip daddr . meta protocol }
    meta protocol arp update @frames4 { arp daddr ip . meta protocol }
    meta protocol ip6 update @frames6 { ip6 daddr . meta protocol }
    drop
  }
}
`
}
