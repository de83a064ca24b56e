import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { systemClock } from '../host/clock.ts'
import { type BulkAnswer, BulkConnection } from './bulk-connection.ts'
import { ChunkPool } from './chunk-pool.ts'
import { ChunkedDecoder } from './chunked-coding.ts'
import { IdleWatch } from './idle-watch.ts'
import { parseResponseHead } from './response-head.ts'

const watch = () => new IdleWatch(systemClock, 10_000, () => undefined)
const get = 'GET /blob HTTP/1.1\r\nhost: test\r\n\r\n'

/** A server that answers each request with the next of `answers`, in the pieces they are given in. */
async function serve(t: TestContext, answers: readonly (readonly Uint8Array[])[], { hangUp = false } = {}) {
  const sockets = new Set<Socket>()
  const pending = answers.values()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('data', () => {
      for (const piece of pending.next().value ?? []) socket.write(piece)
      if (hangUp) socket.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const pool = new ChunkPool()
  const connection = new BulkConnection((onread) => connect({ host: '127.0.0.1', port, onread }), pool)
  t.after(() => {
    connection.destroy()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { connection, pool }
}

/** Reads a body, giving every chunk back to the pool after it was copied, as a consumer that is done with it does. */
async function read({ body }: BulkAnswer, pool: ChunkPool): Promise<Buffer> {
  const copies: Uint8Array[] = []
  await body.forEachChunk((chunk) => {
    copies.push(Uint8Array.prototype.slice.call(chunk))
    pool.giveBack(chunk)
    return undefined
  })
  return Buffer.concat(copies)
}

function pieces(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.byteLength / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

const ok = (body: Uint8Array, extra = '') =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${body.byteLength}\r\n${extra}\r\n`), body])

test('bodies come through byte for byte, one after the other on one connection, whatever the pieces', async (t) => {
  const bodies = [randomBytes(1_500_000), randomBytes(10), Buffer.alloc(0), randomBytes(300_000)]
  const { connection, pool } = await serve(
    t,
    bodies.map((body, index) => pieces(ok(body), [70_000, 1, 7, 65_536][index] ?? 1)),
  )
  for (const body of bodies) {
    const free = Promise.withResolvers<void>()
    const answer = await connection.request(get, watch(), free.resolve)
    assert.equal(answer.head.status, 200)
    assert.deepEqual(await read(answer, pool), body)
    await free.promise
  }
  assert.equal(connection.isReused, true)
})

test('a chunk that its consumer keeps is not read over by what comes after', async (t) => {
  const body = randomBytes(4_000_000)
  const { connection } = await serve(t, [pieces(ok(body), 1_000_000)])
  const kept: Uint8Array[] = []
  const { body: answer } = await connection.request(get, watch(), () => undefined)
  await answer.forEachChunk((chunk) => {
    kept.push(chunk)
    return kept.length % 3 === 0 ? Promise.resolve() : undefined
  })
  assert.deepEqual(Buffer.concat(kept), body)
})

test('a body may be read a while after its head came, and nothing is lost', async (t) => {
  const body = randomBytes(2_000_000)
  const { connection, pool } = await serve(t, [[ok(body)]])
  const answer = await connection.request(get, watch(), () => undefined)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(await read(answer, pool), body)
})

test('a connection that is cut in the middle of a body is an error, not an end', async (t) => {
  const whole = ok(randomBytes(100_000))
  const { connection, pool } = await serve(t, [[whole.subarray(0, 60_000)]], { hangUp: true })
  const answer = await connection.request(get, watch(), () => undefined)
  await assert.rejects(read(answer, pool), { code: 'ECONNRESET' })
})

test('a body without a length ends with the connection', async (t) => {
  const body = randomBytes(100_000)
  const { connection, pool } = await serve(t, [[Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), body]], { hangUp: true })
  assert.deepEqual(await read(await connection.request(get, watch(), () => undefined), pool), body)
})

test('a consumer that fails ends the download with its own error', async (t) => {
  const { connection } = await serve(t, [[ok(randomBytes(500_000))]])
  const { body } = await connection.request(get, watch(), () => undefined)
  const mine = new Error('enough')
  await assert.rejects(
    body.forEachChunk(() => {
      throw mine
    }),
    mine,
  )
  assert.equal(connection.socket.destroyed, true)
})

test('bytes after the end of a body close the connection: the next answer could not be trusted', async (t) => {
  const body = randomBytes(50)
  const { connection, pool } = await serve(t, [[Buffer.concat([ok(body), Buffer.from('HTTP/1.1 200 OK\r\n')])]])
  const answer = await connection.request(get, watch(), () => assert.fail('it must not be used again'))
  assert.deepEqual(await read(answer, pool), body)
  assert.equal(connection.socket.destroyed, true)
})

test('what is no HTTP, and heads that disagree about their length, are refused', () => {
  for (const text of [
    'SSH-2.0-OpenSSH_9.2',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked',
    'HTTP/1.1 200 OK\r\nContent-Length: -1',
    'HTTP/1.1 200 OK\r\n folded: line',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip',
  ]) {
    assert.throws(() => parseResponseHead(text), text)
  }
})

test('an interim answer is passed over', async (t) => {
  const { connection, pool } = await serve(t, [
    [Buffer.concat([Buffer.from('HTTP/1.1 103 Early\r\nx: y\r\n\r\n'), ok(Buffer.from('body'))])],
  ])
  assert.equal((await read(await connection.request(get, watch(), () => undefined), pool)).toString(), 'body')
})

test('chunked coding is taken off, however it is cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 })),
      fc.integer({ min: 1, max: 9 }),
      (chunks, size) => {
        const framed = chunks.map((chunk) =>
          Buffer.concat([Buffer.from(`${chunk.byteLength.toString(16)};x=1\r\n`), chunk, Buffer.from('\r\n')]),
        )
        const wire = Buffer.concat([...framed, Buffer.from('0\r\ntrailer: t\r\n\r\n')])
        const decoder = new ChunkedDecoder()
        const parts = pieces(wire, size).flatMap((piece) => decoder.decode(piece).map((part) => Buffer.from(part)))
        assert.deepEqual(Buffer.concat(parts), Buffer.concat(chunks))
        assert.equal(decoder.isDone, true)
      },
    ),
  )
})

test('the pool lends a buffer again only after it was given back', () => {
  const pool = new ChunkPool()
  const buffer = pool.take()
  const chunk = pool.lend(buffer, 1000)
  assert.notEqual(pool.take(), buffer)
  pool.giveBack(chunk.subarray(0, 10))
  assert.notEqual(pool.take(), buffer)
  pool.giveBack(chunk)
  pool.giveBack(chunk)
  assert.equal(pool.take(), buffer)
  assert.notEqual(pool.take(), buffer)
})
