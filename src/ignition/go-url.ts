/**
 * URLs as Go reads them: most of what is no URL passes, and what does not pass is a fault of the config.
 *
 * Source: Go 1.26 `src/net/url/url.go`, `src/net/netip/netip.go`.
 */
export interface GoUrl {
  /** Lower case; empty where there is none. */
  readonly scheme: string
  /** What stands behind the scheme of a URL without slashes, without the query. */
  readonly opaque: string
  /** Without its question mark. */
  readonly query: string
}

/** undefined where Go refuses it. */
export function parseGoUrl(text: string): GoUrl | undefined {
  const [url, fragment] = cut(text, '#')
  const parsed = parseWithoutFragment(url)
  return parsed && isEscapedWell(fragment) ? parsed : undefined
}

/** The first value of `key`, as Go splits queries: what is broken in them is passed over. */
export function queryValue({ query }: GoUrl, key: string): string | undefined {
  for (const pair of query.split('&')) {
    if (pair.includes(';') || !isEscapedWell(pair)) continue
    const [name, value] = cut(pair, '=')
    if (unescapedQuery(name) === key) return unescapedQuery(value)
  }
  return undefined
}

function parseWithoutFragment(text: string): GoUrl | undefined {
  if (controlPattern.test(text) || text.startsWith(':')) return undefined
  if (text === '*') return { scheme: '', opaque: '', query: '' }
  const [, written = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text) ?? []
  const scheme = written.toLowerCase()
  const [rest, query] = cut(written === '' ? text : text.slice(written.length + 1), '?')
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { scheme, opaque: rest, query }
    const [segment] = cut(rest, '/')
    if (segment.includes(':')) return undefined
  }
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'))
  const [authority] = hasAuthority ? cut(rest.slice(2), '/') : ['']
  const path = hasAuthority ? rest.slice(2 + authority.length) : rest
  if (!isAuthority(scheme, authority) || !isEscapedWell(path)) return undefined
  return { scheme, opaque: '', query }
}

/** Of ASCII only. */
const controlPattern = /(?![\x80-\x9f])\p{Cc}/u

function isAuthority(scheme: string, authority: string): boolean {
  const at = authority.lastIndexOf('@')
  if (!isHost(scheme, authority.slice(at + 1))) return false
  if (at < 0) return true
  const user = authority.slice(0, at)
  return /^[A-Za-z0-9._:~!$&'()*+,;=%@-]*$/.test(user) && isEscapedWell(user)
}

function isHost(scheme: string, host: string): boolean {
  const bracket = host.lastIndexOf('[')
  if (bracket > 0) return false
  if (bracket === 0) {
    const end = host.lastIndexOf(']')
    return end > 0 && isPort(host.slice(end + 1)) && isBracketed(host.slice(1, end))
  }
  // Databases have several hosts with colons in one URL; the web has not.
  const colon = scheme === 'http' || scheme === 'https' ? host.indexOf(':') : host.lastIndexOf(':')
  return (colon < 0 || isPort(host.slice(colon))) && isHostText(host)
}

function isPort(text: string): boolean {
  return /^(?::[0-9]*)?$/.test(text)
}

function isHostText(text: string): boolean {
  return /^(?:[A-Za-z0-9._~!$&'()*+,;=:[\]<>"-]|[^\0-\x7f]|%25|%[89A-Fa-f][0-9A-Fa-f])*$/.test(text)
}

/** An address of IPv6 (RFC 3986, RFC 6874), with its zone behind %25. */
function isBracketed(text: string): boolean {
  const zoneAt = text.indexOf('%25')
  const address = zoneAt < 0 ? text : text.slice(0, zoneAt)
  return isIpv6(address) && (zoneAt < 0 || isZone(text.slice(zoneAt + 3)))
}

function isZone(zone: string): boolean {
  if (zone === '' || !isEscapedWell(zone)) return false
  const plain = zone.replace(/%25|%[89A-Fa-f][0-9A-Fa-f]/g, '').replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return character === ' ' ? '' : character
  })
  return isHostText(plain) && !plain.includes('%')
}

function isIpv6(text: string): boolean {
  const [head = '', tail, ...more] = text.split('::')
  if (more.length > 0) return false
  const groups = groupsOf(head) + groupsOf(tail ?? '')
  // Only the end of an address may be one of IPv4.
  if (tail !== undefined && head.includes('.')) return false
  return tail === undefined ? groups === 8 : groups < 8
}

/** How many groups of 16 bits; far too many where one is none. */
function groupsOf(text: string): number {
  if (text === '') return 0
  const parts = text.split(':')
  const last = parts.at(-1) ?? ''
  const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])'
  const isIpv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`).test(last)
  const hex = isIpv4 ? parts.slice(0, -1) : parts
  return hex.every((part) => /^[0-9A-Fa-f]{1,4}$/.test(part)) ? hex.length + (isIpv4 ? 2 : 0) : 99
}

function isEscapedWell(text: string): boolean {
  return !/%(?![0-9A-Fa-f]{2})/.test(text)
}

function unescapedQuery(text: string): string {
  const bytes = text.replaceAll('+', ' ').replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => {
    return String.fromCharCode(Number.parseInt(hex, 16))
  })
  return bytes
}

function cut(text: string, separator: string): readonly [before: string, after: string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
