import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cleanup } from './temp-dir.ts'

/** A web server that makes its answers while it sends them: it tells no size, and knows no `Range`. Gives its URL. */
export async function startUnsizedWeb(t: Cleanup, bytes: Uint8Array): Promise<string> {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    if (request.method === 'HEAD') return void response.end()
    response.write(bytes.subarray(0, 10))
    response.end(bytes.subarray(10))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
