import { read } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { ByteRange } from './range.ts'

/** Measured: larger reads cost less CPU a byte up to here and a little beyond, and each download holds two of them. */
const readBytes = 512 * 1024
const maxKept = 32

/** Read buffers that are used again: fresh memory costs as much as the reading. */
export class ReadBuffers {
  readonly #free: Buffer[] = []

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(readBytes)
  }

  give(buffer: Buffer): void {
    if (this.#free.length < maxKept) this.#free.push(buffer)
  }
}

interface Sending {
  readonly response: ServerResponse
  readonly file: number
  readonly range: ByteRange
  readonly buffers: ReadBuffers
}

/**
 * Sends part of a file as the rest of a response: the next piece is read while the last one leaves, and no more than
 * these two are held. Ends early, without an error, where the client is gone; cuts the connection where the file is
 * shorter than it was.
 */
export async function sendFile({ response, file, range, buffers }: Sending): Promise<void> {
  const length = range.end - range.start
  if (length <= readBytes) {
    const bytes = Buffer.allocUnsafe(length)
    const count = length === 0 ? 0 : await readAt(file, bytes, range)
    return void (count === length ? response.end(bytes) : response.destroy())
  }
  let leaving = Promise.resolve(true)
  for (let position = range.start; position < range.end; ) {
    const buffer = buffers.take()
    const end = Math.min(range.end, position + readBytes)
    const [count, isThere] = await Promise.all([readAt(file, buffer, { start: position, end }), leaving])
    if (!isThere) return
    if (count === 0) return void response.destroy()
    leaving = sent(response, buffer.subarray(0, count)).then((isSent) => {
      // A buffer that did not leave may still be in somebody's hands.
      if (isSent) buffers.give(buffer)
      return isSent
    })
    position += count
  }
  if (await leaving) response.end()
}

function readAt(file: number, buffer: Buffer, { start, end }: ByteRange): Promise<number> {
  return new Promise((resolve, reject) => {
    read(file, buffer, 0, end - start, start, (error, count) => (error ? reject(error) : resolve(count)))
  })
}

/** Resolves when the bytes left for the kernel: true, or false where the client is gone. */
function sent(response: ServerResponse, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    if (response.destroyed) return resolve(false)
    const onClose = () => resolve(false)
    response.once('close', onClose)
    response.write(bytes, (error) => {
      response.off('close', onClose)
      resolve(!error)
    })
  })
}
