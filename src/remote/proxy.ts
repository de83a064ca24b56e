/**
 * Which proxy a request takes, as every Go tool of this field decides it (golang.org/x/net/http/httpproxy): loopback is
 * never proxied, `no_proxy` lists hosts, domains, addresses and CIDR ranges.
 */
import { BlockList, isIP, isIPv6 } from 'node:net'
import type { Env } from '../host/env.ts'
import { basicAuthorization } from './url-credentials.ts'

export interface ProxySettings {
  readonly http?: URL | undefined
  readonly https?: URL | undefined
  /** Comma separated, as in the environment. */
  readonly noProxy: string
  /** For tests of the proxy itself, which have nothing but loopback. */
  readonly proxyLoopback?: boolean
}

/** Upper case first, as Go does. A value without a scheme is an HTTP proxy; one that is no URL is ignored. */
export function proxiesFromEnv(env: Env): ProxySettings {
  const read = (name: string) => env[name.toUpperCase()] || env[name] || undefined
  return {
    http: parseProxy(read('http_proxy')),
    https: parseProxy(read('https_proxy')),
    noProxy: read('no_proxy') ?? '',
  }
}

function parseProxy(text: string | undefined): URL | undefined {
  if (text === undefined) return undefined
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  return URL.canParse(withScheme) ? new URL(withScheme) : undefined
}

export function proxyFor(url: URL, settings: ProxySettings): URL | undefined {
  const proxy = url.protocol === 'https:' ? settings.https : settings.http
  if (proxy === undefined || isExempt(url, settings)) return undefined
  return proxy
}

function isExempt(url: URL, { noProxy, proxyLoopback }: ProxySettings): boolean {
  const host = bareHost(url.hostname)
  if (proxyLoopback !== true && isLoopback(host)) return true
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  return noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matches(entry, host, port))
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return inRange(entry, host)
  const { name, entryPort } = splitPort(entry)
  if (entryPort !== undefined && entryPort !== port) return false
  if (isIP(name) !== 0 || isIP(host) !== 0) return name === host
  const domain = name.replace(/^\*/, '')
  if (domain.startsWith('.')) return host.endsWith(domain)
  return host === domain || host.endsWith(`.${domain}`)
}

function splitPort(entry: string): { name: string; entryPort: string | undefined } {
  if (isIPv6(entry)) return { name: entry, entryPort: undefined }
  const match = /^(.*):(\d+)$/.exec(entry)
  return { name: bareHost(match?.[1] ?? entry), entryPort: match?.[2] }
}

function inRange(range: string, host: string): boolean {
  const [network = '', bits = ''] = range.split('/')
  const family = isIP(network)
  const length = Number(bits)
  const isRange = family !== 0 && /^\d+$/.test(bits) && length <= (family === 6 ? 128 : 32)
  if (!isRange || isIP(host) !== family) return false
  const type = family === 6 ? 'ipv6' : 'ipv4'
  const list = new BlockList()
  list.addSubnet(network, length, type)
  return list.check(host, type)
}

/** True for the names and addresses of this very machine. */
function isLoopback(host: string): boolean {
  const bare = bareHost(host)
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}

function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').toLowerCase()
}

/** The header that a proxy with user and password in its URL wants. */
export function proxyAuthorization(proxy: URL): Record<string, string> {
  const authorization = basicAuthorization(proxy)
  return authorization === undefined ? {} : { 'proxy-authorization': authorization }
}
