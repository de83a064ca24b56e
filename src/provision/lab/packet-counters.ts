/** What packet counters of a lab say: read from what nft prints, and compared. Their rules are in `packet-rules.ts`. */
import { z } from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import type { AskedName, CountedEvidence, TriedDestination } from '../provider.ts'
import { nameOf } from './dns-questions.ts'

/** Arguments of nft that print what {@link readCounters} reads: of a namespace that nobody else has rules in. */
export const listCounters = ['-j', 'list', 'ruleset'] as const

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
  const sets = [...inside, ...between].flatMap(({ set }) => (set === undefined ? [] : [set]))
  const isQuestion = ({ name }: { readonly name: string }) => name.startsWith('asked')
  const tried = sets.filter((set) => !isQuestion(set)).flatMap(({ elem = [] }) => elem.map(triedDestination))
  const asked = sets.filter(isQuestion).flatMap(({ name, elem = [] }) => elem.map((each) => askedName(name, each)))
  return {
    isProven: true,
    leftPackets: packets(inside, 'left') + packets(inside, 'frames') + packets(between, 'frames'),
    tried: summed(tried).toSorted((one, other) => compare(destination(one), destination(other))),
    asked: [...sumByName(asked)].map(([name, packets]) => ({ name, packets })),
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

/** A frame may come out of either cable. */
function summed(tried: readonly TriedDestination[]): readonly TriedDestination[] {
  return [...Map.groupBy(tried, destination).values()].flatMap(([first, ...more]) => {
    if (first === undefined) return []
    return [{ ...first, packets: more.reduce((sum, { packets }) => sum + packets, first.packets) }]
  })
}

function askedName(set: string, { elem }: z.infer<typeof Element>): AskedName {
  return { name: nameOf(set, elem.val.concat), packets: elem.counter.packets }
}

/** The same name can be in several sets: with and without what some resolvers add (RFC 6891). In the order of the alphabet. */
function sumByName(asked: readonly AskedName[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const { name, packets } of asked.toSorted((one, other) => compare(one.name, other.name))) {
    sums.set(name, (sums.get(name) ?? 0) + packets)
  }
  return sums
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** What happened between two looks. Counters that began anew in between count from there. */
export function evidenceSince(before: CountedEvidence, after: CountedEvidence): CountedEvidence {
  if (after.leftPackets < before.leftPackets || after.sitePackets < before.sitePackets) return after
  return {
    isProven: true,
    leftPackets: after.leftPackets - before.leftPackets,
    tried: moreThan(before.tried, after.tried, destination),
    asked: moreThan(before.asked, after.asked, ({ name }) => name),
    sitePackets: after.sitePackets - before.sitePackets,
    forwardedPackets: after.forwardedPackets - before.forwardedPackets,
  }
}

function moreThan<Counted extends { readonly packets: number }>(
  before: readonly Counted[],
  after: readonly Counted[],
  keyOf: (counted: Counted) => string,
): readonly Counted[] {
  const seen = new Map(before.map((each) => [keyOf(each), each.packets]))
  return after
    .map((each) => ({ ...each, packets: each.packets - (seen.get(keyOf(each)) ?? 0) }))
    .filter(({ packets }) => packets > 0)
}

function destination({ address, protocol, port }: TriedDestination): string {
  return `${address} ${protocol} ${port}`
}
