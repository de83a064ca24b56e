import { KnownError } from '../errors/known-error.ts'
import type { HttpAnswer } from './transport.ts'

/**
 * Hands every chunk of a body to `consume`; waits where it returns a promise.
 *
 * `data` events rather than `for await`: at a gigabyte a second, a promise for every 64 KiB is what costs.
 */
export function forEachBodyChunk(
  { body, watch, onReceived }: HttpAnswer,
  consume: (chunk: Uint8Array) => Promise<void> | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      body.destroy()
      reject(error)
    }
    body.on('data', (chunk: Uint8Array) => {
      watch.touch()
      onReceived(chunk.byteLength)
      let pending: Promise<void> | undefined
      try {
        pending = consume(chunk)
      } catch (error) {
        return fail(error)
      }
      if (pending === undefined) return
      body.pause()
      watch.paused = true
      pending.then(() => {
        watch.paused = false
        body.resume()
      }, fail)
    })
    body.once('end', () => {
      if (body.complete) resolve()
      else fail(cut())
    })
    body.once('error', fail)
    body.once('close', () => reject(cut()))
  })
}

function cut(): Error {
  return Object.assign(new Error('the connection was cut in the middle of the answer'), { code: 'ECONNRESET' })
}

/**
 * A body that is small by nature: a manifest, a token, a list.
 *
 * @throws KnownError REGISTRY_PROTOCOL when it is larger than `limit` bytes
 */
export async function readBody(answer: HttpAnswer, limit: number, subject: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  await forEachBodyChunk(answer, (chunk) => {
    size += chunk.byteLength
    if (size > limit) {
      throw new KnownError('REGISTRY_PROTOCOL', `${subject}: ${answer.url.host} sends more than ${limit} bytes`, {
        details: { image: subject, host: answer.url.host, limit },
      })
    }
    chunks.push(chunk)
    return undefined
  })
  return Buffer.concat(chunks, size)
}

/** Reads and forgets, so that the connection can be used again. */
export function drainBody({ body }: HttpAnswer): void {
  body.on('error', () => body.destroy())
  body.resume()
}
