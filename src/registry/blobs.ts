/** Blobs: distribution-spec, "Pulling blobs", "Checking if content exists", "Deleting Blobs". */
import { closeSync } from 'node:fs'
import type { Digest } from '../oci/digest.ts'
import type { OpenBlob } from '../store/blob-store.ts'
import { Repository } from '../store/repository.ts'
import { answer, type Exchange, type RegistryContext } from './exchange.ts'
import { type ByteRange, requestedRange } from './range.ts'
import { Refusal } from './refusal.ts'
import { sendFile } from './send-file.ts'

interface BlobRoute {
  readonly name: string
  readonly digest: Digest
}

export async function getBlob(context: RegistryContext, route: BlobRoute, exchange: Exchange): Promise<void> {
  const blob = openBlob(context, route)
  try {
    const range = rangeAsked(exchange, blob, route.digest)
    writeBlobHead(exchange, { blob, range, digest: route.digest })
    await sendFile({
      response: exchange.response,
      file: blob.file,
      range: range ?? { start: 0, end: blob.sizeBytes },
      buffers: context.buffers,
    })
  } finally {
    closeSync(blob.file)
  }
}

export function headBlob(context: RegistryContext, route: BlobRoute, exchange: Exchange): void {
  const { store } = context
  // The client is about to rely on it, so garbage collection has to wait.
  const isHere = new Repository(store, route.name).renewBlob(route.digest) && store.renew(route.digest)
  const size = isHere ? store.sizeOf(route.digest) : undefined
  if (size === undefined) throw unknownBlob(route)
  exchange.response.writeHead(200, { ...blobHeaders(route.digest), 'Content-Length': size }).end()
}

export function deleteBlob(context: RegistryContext, route: BlobRoute, exchange: Exchange): void {
  if (!new Repository(context.store, route.name).removeBlob(route.digest)) throw unknownBlob(route)
  answer(exchange, 202)
}

function openBlob({ store }: RegistryContext, route: BlobRoute): OpenBlob {
  const blob = new Repository(store, route.name).hasBlob(route.digest) ? store.open(route.digest) : undefined
  if (blob === undefined) throw unknownBlob(route)
  return blob
}

function unknownBlob({ name, digest }: BlobRoute): Refusal {
  return new Refusal('BLOB_UNKNOWN', `${name} has no blob ${digest}`, { detail: { name, digest } })
}

function blobHeaders(digest: Digest): Record<string, string> {
  return {
    'Content-Type': 'application/octet-stream',
    'Docker-Content-Digest': digest,
    'Accept-Ranges': 'bytes',
    ETag: `"${digest}"`,
  }
}

function rangeAsked({ request }: Exchange, blob: OpenBlob, digest: Digest): ByteRange | undefined {
  const condition = request.headers['if-range']
  if (condition !== undefined && condition !== `"${digest}"`) return undefined
  const range = requestedRange(request.headers.range, blob.sizeBytes)
  if (range !== 'unsatisfiable') return range
  throw new Refusal('RANGE_INVALID', `the blob has ${blob.sizeBytes} bytes, asked for "${request.headers.range}"`, {
    headers: { 'Content-Range': `bytes */${blob.sizeBytes}` },
  })
}

interface BlobAnswer {
  readonly blob: OpenBlob
  readonly range: ByteRange | undefined
  readonly digest: Digest
}

function writeBlobHead({ response }: Exchange, { blob, range, digest }: BlobAnswer): void {
  if (range === undefined) {
    response.writeHead(200, { ...blobHeaders(digest), 'Content-Length': blob.sizeBytes })
    return
  }
  response.writeHead(206, {
    ...blobHeaders(digest),
    'Content-Length': range.end - range.start,
    'Content-Range': `bytes ${range.start}-${range.end - 1}/${blob.sizeBytes}`,
  })
}
