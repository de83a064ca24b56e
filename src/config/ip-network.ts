/** Networks in CIDR notation, IPv4 and IPv6, as install-config writes them. */

export interface IpNetwork {
  readonly version: 4 | 6
  /** Of the network: bits behind the prefix are zero. */
  readonly first: bigint
  readonly last: bigint
  readonly prefix: number
  /** False where bits of a host are set: `10.0.0.1/16`. */
  readonly isNetworkAddress: boolean
}

/** Undefined where the text is no network. */
export function parseNetwork(text: string): IpNetwork | undefined {
  const [, address = '', length = ''] = /^([0-9A-Fa-f:.]+)\/(\d{1,3})$/.exec(text) ?? []
  const parsed = parseAddress(address)
  const prefix = Number(length)
  if (parsed === undefined || length === '' || prefix > parsed.bits) return undefined
  const size = 1n << BigInt(parsed.bits - prefix)
  const first = parsed.value - (parsed.value % size)
  return {
    version: parsed.bits === 32 ? 4 : 6,
    first,
    last: first + size - 1n,
    prefix,
    isNetworkAddress: first === parsed.value,
  }
}

/** A single address as a network of one; undefined where the text is none. */
export function addressNetwork(text: string): IpNetwork | undefined {
  return parseNetwork(`${text}/${text.includes(':') ? 128 : 32}`)
}

export function doNetworksOverlap(a: IpNetwork, b: IpNetwork): boolean {
  return a.version === b.version && a.first <= b.last && b.first <= a.last
}

/** The network as it should be written; of IPv6 in full, eight groups without `::`. */
export function formatNetwork({ version, first, prefix }: IpNetwork): string {
  const [bits, count, base, mark] = version === 4 ? ([8n, 4, 10, '.'] as const) : ([16n, 8, 16, ':'] as const)
  const groups = Array.from({ length: count }, (_, index) =>
    ((first >> (BigInt(count - 1 - index) * bits)) & ((1n << bits) - 1n)).toString(base),
  )
  return `${groups.join(mark)}/${prefix}`
}

interface Address {
  readonly value: bigint
  readonly bits: 32 | 128
}

function parseAddress(text: string): Address | undefined {
  return text.includes(':') ? parseV6(text) : parseV4(text)
}

function parseV4(text: string): Address | undefined {
  const groups = text.split('.')
  if (groups.length !== 4 || groups.some((group) => !/^(?:0|[1-9]\d{0,2})$/.test(group) || Number(group) > 255))
    return undefined
  return { value: groups.reduce((sum, group) => (sum << 8n) + BigInt(group), 0n), bits: 32 }
}

/** RFC 4291 2.2, without an embedded IPv4 address. */
function parseV6(text: string): Address | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - head.length - tail.length
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...tail]
  if (groups.some((group) => !/^[0-9A-Fa-f]{1,4}$/.test(group))) return undefined
  return { value: groups.reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n), bits: 128 }
}
