import { once } from 'node:events'
import { createServer, request as forward } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Cleanup } from './temp-dir.ts'

export interface ScriptedProxy {
  readonly url: string
  /** `CONNECT host:port` and `GET http://host/…`, in order. */
  readonly requests: string[]
}

/** An HTTP proxy on loopback: tunnels, and forwards. With `credentials` (`user:password`) it asks for them. */
export async function startScriptedProxy(t: Cleanup, credentials?: string): Promise<ScriptedProxy> {
  const requests: string[] = []
  const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`
  const isAllowed = (given: string | undefined) => expected === undefined || given === expected
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    if (!isAllowed(request.headers['proxy-authorization'])) return void response.writeHead(407).end()
    const { 'proxy-authorization': _, ...headers } = request.headers
    const onward = forward(request.url ?? '', { method: request.method ?? 'GET', headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.writeHead(502).end())
    request.pipe(onward)
  })
  server.on('connect', (request, socket) => {
    requests.push(`CONNECT ${request.url}`)
    if (!isAllowed(request.headers['proxy-authorization'])) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    const [host = '', port = ''] = (request.url ?? '').split(':')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    for (const end of [onward, socket]) {
      end.on('error', () => {
        onward.destroy()
        socket.destroy()
      })
    }
    t.after(() => onward.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, requests }
}
