import type { AgentOptions, Agent as HttpsAgent } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { http, https, tls } from '../host/web-modules.ts'
import { proxyAuthorization } from './proxy.ts'

type Connected = (error: Error | null, socket: Duplex) => void

/** HTTPS through a proxy: `CONNECT host:port` (RFC 9110 9.3.6), then TLS with the host itself, so the proxy sees no bytes. */
export function createTunnelAgent(options: AgentOptions, proxy: URL): HttpsAgent {
  const agent = new (https().Agent)(options)
  agent.createConnection = (target, callback) => {
    openTunnel(proxy, options, target).then(
      (socket) => callback?.(null, socket),
      (error: Error) => (callback as Connected | undefined)?.(error, {} as Duplex),
    )
    return undefined
  }
  return agent
}

interface TunnelTarget {
  readonly host?: string | null | undefined
  readonly port?: string | number | null | undefined
  readonly servername?: string | undefined
}

function openTunnel(proxy: URL, options: AgentOptions, target: TunnelTarget): Promise<Duplex> {
  const host = target.host ?? ''
  const authority = `${host.includes(':') ? `[${host}]` : host}:${target.port ?? 443}`
  const isSecure = proxy.protocol === 'https:'
  return new Promise((resolve, reject) => {
    const connect = (isSecure ? https() : http).request({
      agent: false,
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (isSecure ? 443 : 80),
      method: 'CONNECT',
      path: authority,
      headers: { host: authority, ...proxyAuthorization(proxy) },
    })
    connect.setTimeout(30_000, () => connect.destroy(proxyError(`the proxy ${proxy.host} does not answer`)))
    connect.once('error', (cause) => reject(proxyError(`the proxy ${proxy.host} is out of reach`, cause)))
    connect.once('connect', (answer, socket) => {
      if (answer.statusCode !== 200) {
        socket.destroy()
        reject(proxyError(`the proxy ${proxy.host} answered ${answer.statusCode} to CONNECT ${authority}`))
        return
      }
      const servername = target.servername ?? (isIP(host) === 0 ? host : '')
      const secure = tls().connect({ ...options, socket, host, servername })
      secure.once('error', reject)
      secure.once('secureConnect', () => {
        secure.off('error', reject)
        resolve(secure)
      })
    })
    connect.end()
  })
}

function proxyError(message: string, cause?: Error): Error {
  return Object.assign(new Error(message, { cause }), { code: 'ERR_PROXY' })
}
