/** An HTTP server in front of a registry: passes everything on, and counts the bytes of blobs that go in and out. */
import { once } from 'node:events'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cleanup } from './temp-dir.ts'

export interface CountingProxy {
  /** `127.0.0.1:PORT` */
  readonly address: string
  /** Bytes in bodies of PATCH and PUT to uploads, as they arrived here. */
  blobBytes: number
  /** Bytes in bodies of answers to GET of blobs, as they went out from here. */
  readBytes: number
  /** Called for every piece of a body that arrives, after it was counted. */
  onBytes: (() => void) | undefined
}

export async function startCountingProxy(t: Cleanup, target: string): Promise<CountingProxy> {
  const [host, port] = target.split(':')
  const server = createServer((request, response) => {
    const { method, url, headers } = request
    const onward = forward({ host, port, method, path: url, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
      if (method === 'GET' && url?.includes('/blobs/')) {
        answer.on('data', (chunk: Uint8Array) => {
          proxy.readBytes += chunk.byteLength
          proxy.onBytes?.()
        })
      }
      answer.once('error', () => response.destroy())
    })
    onward.once('error', () => response.destroy())
    request.once('close', () => {
      // The client is gone in the middle of a body: what is behind must see it as well.
      if (!request.complete) onward.destroy()
    })
    const isBlob = (method === 'PATCH' || method === 'PUT') && url?.includes('/blobs/uploads/')
    request.on('data', (chunk: Uint8Array) => {
      if (!isBlob) return
      proxy.blobBytes += chunk.byteLength
      proxy.onBytes?.()
    })
    request.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const proxy: CountingProxy = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    blobBytes: 0,
    readBytes: 0,
    onBytes: undefined,
  }
  return proxy
}
