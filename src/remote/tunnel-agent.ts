import { request as httpRequest } from 'node:http'
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect as tlsConnect } from 'node:tls'
import { proxyAuthorization } from './proxy.ts'

/** HTTPS through a proxy: `CONNECT host:port` (RFC 9110 9.3.6), then TLS with the host itself, so the proxy sees no bytes. */
export class TunnelAgent extends HttpsAgent {
  readonly #proxy: URL
  readonly #tls: AgentOptions

  constructor(options: AgentOptions, proxy: URL) {
    super(options)
    this.#tls = options
    this.#proxy = proxy
  }

  override createConnection(
    options: { host?: string | null; port?: string | number | null; servername?: string },
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const host = options.host ?? ''
    const target = `${host.includes(':') ? `[${host}]` : host}:${options.port ?? 443}`
    const fail = (error: Error) => {
      const none: Partial<Duplex> = {}
      callback?.(error, none as Duplex)
    }
    const open = this.#proxy.protocol === 'https:' ? httpsRequest : httpRequest
    const connect = open({
      agent: false,
      host: this.#proxy.hostname.replace(/^\[|\]$/g, ''),
      port: this.#proxy.port || (this.#proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyAuthorization(this.#proxy) },
    })
    connect.setTimeout(30_000, () => connect.destroy(proxyError(`the proxy ${this.#proxy.host} does not answer`)))
    connect.once('error', (cause) => fail(proxyError(`the proxy ${this.#proxy.host} is out of reach`, cause)))
    connect.once('connect', (answer, socket) => {
      if (answer.statusCode !== 200) {
        socket.destroy()
        fail(proxyError(`the proxy ${this.#proxy.host} answered ${answer.statusCode} to CONNECT ${target}`))
        return
      }
      const servername = options.servername ?? (isIP(host) === 0 ? host : '')
      const secure = tlsConnect({ ...this.#tls, socket, host, servername })
      secure.once('error', fail)
      secure.once('secureConnect', () => {
        secure.off('error', fail)
        callback?.(null, secure)
      })
    })
    connect.end()
    return undefined
  }
}

function proxyError(message: string, cause?: Error): Error {
  return Object.assign(new Error(message, { cause }), { code: 'ERR_PROXY' })
}
