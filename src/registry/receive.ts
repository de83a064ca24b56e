import type { IncomingMessage } from 'node:http'
import { maxManifestBytes } from '../oci/manifest.ts'
import type { StagedFile } from '../store/staged-file.ts'
import type { RegistryContext } from './exchange.ts'
import { Refusal } from './refusal.ts'

/**
 * Writes the body of a request to a staged file, no faster than the disk takes it.
 *
 * Where the client goes away in the middle, what arrived is in the file when the refusal is thrown.
 *
 * @throws Refusal BLOB_UPLOAD_INVALID, KnownError DISK_FULL
 */
export async function receive(
  { countReceived }: RegistryContext,
  request: IncomingMessage,
  staged: StagedFile,
): Promise<void> {
  const isWhole = await new Promise<boolean>((resolve, reject) => {
    const fail = (error: unknown) => {
      request.off('data', onData)
      request.resume()
      reject(error)
    }
    const onData = (chunk: Uint8Array) => {
      try {
        countReceived(chunk.byteLength)
        const room = staged.write(chunk)
        if (room === undefined) return
        request.pause()
        room.then(() => request.resume(), fail)
      } catch (error) {
        fail(error)
      }
    }
    request.on('data', onData)
    request.once('end', () => resolve(true))
    request.once('error', () => resolve(false))
    request.once('close', () => resolve(request.complete))
    if (request.destroyed) resolve(request.complete)
  })
  await staged.settle()
  if (!isWhole) throw new Refusal('BLOB_UPLOAD_INVALID', 'the connection ended in the middle of the body')
}

/** The body of a manifest upload. @throws Refusal MANIFEST_INVALID with status 413 above 4 MiB */
export async function receiveManifest(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = () =>
    new Refusal('MANIFEST_INVALID', `a manifest has at most ${maxManifestBytes} bytes`, { status: 413 })
  if (Number(request.headers['content-length'] ?? 0) > maxManifestBytes) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > maxManifestBytes) throw tooLarge()
    chunks.push(chunk)
  }
  if (!request.complete) throw new Refusal('MANIFEST_INVALID', 'the connection ended in the middle of the manifest')
  return Buffer.concat(chunks)
}
