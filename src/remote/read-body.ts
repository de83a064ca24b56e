import { KnownError } from '../errors/known-error.ts'
import { protocolCode, type RequestSubject } from './failure.ts'
import type { HttpAnswer } from './http-message.ts'

/**
 * A body that is small by nature: a manifest, a token, a list.
 *
 * @throws KnownError REGISTRY_PROTOCOL, or WEB_INVALID, when it is larger than `limit` bytes
 */
export async function readBody(
  answer: HttpAnswer,
  limit: number,
  { subject, peer }: Pick<RequestSubject, 'subject' | 'peer'>,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  await answer.body.forEachChunk((chunk) => {
    size += chunk.byteLength
    if (size > limit) {
      throw new KnownError(protocolCode(peer), `${subject}: ${answer.url.host} sends more than ${limit} bytes`, {
        details: { ...(peer !== 'web' && { image: subject }), host: answer.url.host, limit },
      })
    }
    chunks.push(chunk)
    return undefined
  })
  return Buffer.concat(chunks, size)
}

/** Reads and forgets, so that the connection can be used again. */
export function drainBody({ body }: HttpAnswer): void {
  body.drain()
}
