/** Blob uploads: distribution-spec, "Pushing blobs", from the first POST to the closing PUT. */
import { KnownError } from '../errors/known-error.ts'
import { algorithmOf, type Digest, type DigestAlgorithm, digestOf } from '../oci/digest.ts'
import { isRepositoryPath } from '../oci/reference.ts'
import { Repository } from '../store/repository.ts'
import { StagedFile } from '../store/staged-file.ts'
import { answer, type Exchange, type RegistryContext } from './exchange.ts'
import { parseContentRange } from './range.ts'
import { receive } from './receive.ts'
import { Refusal } from './refusal.ts'
import { requireDigest } from './route.ts'

interface UploadRoute {
  readonly name: string
  readonly id: string
}

/** POST: mounts a blob, takes a whole one in a single request, or opens a session. */
export async function startUpload(context: RegistryContext, name: string, exchange: Exchange): Promise<void> {
  const { query } = exchange
  const mount = query.get('mount')
  if (mount !== null && mountBlob(context, { name, digest: requireDigest(mount), from: query.get('from') }))
    return answerCreated(exchange, name, requireDigest(mount))
  const digest = query.get('digest')
  if (digest !== null && carriesBlob(exchange, requireDigest(digest)))
    return receiveWhole(context, { name, digest: requireDigest(digest) }, exchange)
  const algorithm = algorithmAsked(digest ?? mount ?? `${query.get('digest-algorithm') ?? 'sha256'}:`)
  const id = await context.sessions.start(algorithm)
  answer(exchange, 202, {
    ...sessionHeaders({ name, id }, 0),
    ...(context.chunkMinBytes > 0 && { 'OCI-Chunk-Min-Length': context.chunkMinBytes }),
  })
}

/** PATCH: the next chunk, or a stream of unknown length. */
export async function continueUpload(context: RegistryContext, route: UploadRoute, exchange: Exchange): Promise<void> {
  const { sessions } = context
  const size = await sessions.write(route.id, exchange.request, async (staged) => {
    await appendBody(context, { route, staged, exchange })
    return staged.size
  })
  answer(exchange, 202, sessionHeaders(route, size))
}

/** PUT: the last bytes, if any are left, and the digest of the whole. */
export async function finishUpload(context: RegistryContext, route: UploadRoute, exchange: Exchange): Promise<void> {
  const { store, sessions } = context
  const digest = requireDigest(exchange.query.get('digest') ?? '')
  await sessions.write(route.id, exchange.request, async (staged) => {
    await appendBody(context, { route, staged, exchange })
    try {
      await store.commit(staged, digest)
    } catch (error) {
      sessions.forget(route.id)
      await staged.discard()
      throw error
    }
    sessions.forget(route.id)
    new Repository(store, route.name).addBlob(digest)
  })
  answerCreated(exchange, route.name, digest)
}

export async function uploadStatus(context: RegistryContext, route: UploadRoute, exchange: Exchange): Promise<void> {
  answer(exchange, 204, sessionHeaders(route, await context.sessions.offset(route.id)))
}

export async function cancelUpload(context: RegistryContext, route: UploadRoute, exchange: Exchange): Promise<void> {
  await context.sessions.cancel(route.id)
  answer(exchange, 204)
}

/** Without `from`, any repository may be where the blob comes from. */
function mountBlob({ store }: RegistryContext, wanted: { name: string; digest: Digest; from: string | null }): boolean {
  const { name, digest, from } = wanted
  if (from !== null && !(isRepositoryPath(from) && new Repository(store, from).hasBlob(digest))) return false
  if (!store.renew(digest)) return false
  new Repository(store, name).addBlob(digest)
  return true
}

/** A client that names the digest and sends nothing means to open a session, unless nothing is what it names. */
function carriesBlob({ request }: Exchange, digest: Digest): boolean {
  const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length']) > 0
  return hasBody || digest === digestOf('', algorithmOf(digest))
}

function algorithmAsked(digest: string): DigestAlgorithm {
  if (digest.startsWith('sha256:')) return 'sha256'
  if (digest.startsWith('sha512:')) return 'sha512'
  throw new Refusal('DIGEST_INVALID', 'the digest algorithms of this registry are sha256 and sha512')
}

interface BlobRoute {
  readonly name: string
  readonly digest: Digest
}

async function receiveWhole(context: RegistryContext, { name, digest }: BlobRoute, exchange: Exchange): Promise<void> {
  const { store } = context
  const staged = StagedFile.create(store.stagingPath(), store, algorithmOf(digest))
  try {
    await receive(context, exchange.request, staged)
    await store.commit(staged, digest)
  } catch (error) {
    await staged.discard()
    throw error
  }
  new Repository(store, name).addBlob(digest)
  answerCreated(exchange, name, digest)
}

interface Append {
  readonly route: UploadRoute
  readonly staged: StagedFile
  readonly exchange: Exchange
}

async function appendBody(context: RegistryContext, { route, staged, exchange }: Append): Promise<void> {
  const { request } = exchange
  const offset = staged.size
  const expected = chunkLength(exchange, { route, offset })
  try {
    await receive(context, request, staged)
  } catch (error) {
    // A session that cannot grow is no use to anybody, and its space is what is missing.
    if (error instanceof KnownError && error.code === 'DISK_FULL') {
      context.sessions.forget(route.id)
      await staged.discard()
    }
    throw error
  }
  if (expected === undefined || staged.size - offset === expected) return
  const received = staged.size - offset
  await staged.truncate(offset)
  throw new Refusal('SIZE_INVALID', `Content-Range announces ${expected} bytes, the body has ${received}`)
}

/** What `Content-Range` says about the length; a chunk at the wrong place is refused before its body is read. */
function chunkLength(
  { request }: Exchange,
  { route, offset }: { route: UploadRoute; offset: number },
): number | undefined {
  const header = request.headers['content-range']
  if (header === undefined) return undefined
  const range = parseContentRange(header)
  if (range === undefined) throw new Refusal('BLOB_UPLOAD_INVALID', `"${header}" is not a Content-Range like 0-1023`)
  if (range.start === offset) return range.end - range.start
  throw new Refusal('RANGE_INVALID', `the next byte of this upload is ${offset}, the chunk begins at ${range.start}`, {
    headers: sessionHeaders(route, offset),
  })
}

function sessionHeaders({ name, id }: UploadRoute, size: number): Record<string, string> {
  return {
    Location: `/v2/${name}/blobs/uploads/${id}`,
    Range: `0-${Math.max(0, size - 1)}`,
    'Docker-Upload-UUID': id,
  }
}

function answerCreated(exchange: Exchange, name: string, digest: Digest): void {
  answer(exchange, 201, { Location: `/v2/${name}/blobs/${digest}`, 'Docker-Content-Digest': digest })
}
