import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Cleanups } from './measure.ts'

export interface LinkOptions {
  /** Of the way from the server; all connections share it. */
  readonly bytesPerSecond: number
  /** There and back. */
  readonly roundTripMs: number
}

/** A TCP relay on loopback that is as slow as a link to far away. Packets are not lost, and windows are as large as need be. */
export async function startSlowLink(
  t: Pick<Cleanups, 'after'>,
  to: string,
  options: LinkOptions,
): Promise<{ readonly address: string }> {
  const [host = '', port = ''] = to.split(':')
  const line = new Line(options.bytesPerSecond)
  const server = createServer((client) => {
    const upstream = connect(Number(port), host)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
    // The handshake takes a round trip, too.
    const opened = wait(options.roundTripMs)
    void pass(client, upstream, async () => {
      await opened
      await wait(options.roundTripMs)
    })
    void pass(upstream, client, (bytes) => line.carry(bytes))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** What is sent begins when what was sent before has gone out. */
class Line {
  readonly #bytesPerSecond: number
  #freeAt = 0

  constructor(bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond
  }

  async carry(bytes: number): Promise<void> {
    const now = performance.now()
    this.#freeAt = Math.max(now, this.#freeAt) + (bytes / this.#bytesPerSecond) * 1000
    // Timers are late by up to a millisecond: shorter waits are saved up.
    if (this.#freeAt - now > 2) await wait(this.#freeAt - now)
  }
}

async function pass(from: Socket, to: Socket, hold: (bytes: number) => Promise<void>): Promise<void> {
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      await hold(chunk.byteLength)
      if (!to.write(chunk)) await once(to, 'drain')
    }
    to.end()
  } catch {
    // One end has gone away.
    to.destroy()
  }
}
