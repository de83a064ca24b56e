import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import type { Cleanups } from './measure.ts'

export interface Relay {
  readonly address: string
  /** Bytes that the server behind it was sent, and sent; heads of requests and answers included. */
  readonly count: { toServer: number; fromServer: number }
}

/** A TCP relay on loopback that counts what passes. */
export async function startRelay(t: Pick<Cleanups, 'after'>, to: string): Promise<Relay> {
  const [host = '', port = ''] = to.split(':')
  const count = { toServer: 0, fromServer: 0 }
  const server = createServer((client) => {
    const upstream = connect(Number(port), host)
    client.on('data', (chunk: Buffer) => {
      count.toServer += chunk.byteLength
    })
    upstream.on('data', (chunk: Buffer) => {
      count.fromServer += chunk.byteLength
    })
    client.pipe(upstream).pipe(client)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, count }
}
