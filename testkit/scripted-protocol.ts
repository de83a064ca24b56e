/** The distribution protocol of the scripted registry: small, in memory, and honest. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Descriptor } from '../src/oci/descriptor.ts'
import { type Digest, digestOf, isDigest } from '../src/oci/digest.ts'

/** What kind of registry it is. */
export interface ScriptedBehaviour {
  /** False: PATCH is answered with 405. */
  readonly acceptsChunks?: boolean
  /** `OCI-Chunk-Min-Length`. */
  readonly minChunkBytes?: number
  /** `Location` with scheme and host, as distribution writes it. */
  readonly absoluteLocations?: boolean
  /** True: the referrers API, and `OCI-Subject`. */
  readonly hasReferrersApi?: boolean
  /** Entries in a page of tags. */
  readonly tagsPerPage?: number
  /** False: mounts are answered with 202. */
  readonly mounts?: boolean
  /**
   * What DELETE of a manifest takes. `digests`: not a tag, as distribution before 3. `image-of-tag`: a tag too, and the
   * manifest with it. `dangling`: by digest without the tags that stand for it. Default: `all`.
   */
  readonly deletes?: 'all' | 'digests' | 'none' | 'image-of-tag' | 'dangling'
}

interface StoredManifest {
  readonly bytes: Uint8Array
  readonly mediaType: string
}

/** What it holds. Tests look into it, and put into it. */
export class ScriptedContent {
  readonly blobs = new Map<string, Uint8Array>()
  /** By `REPOSITORY@DIGEST`. */
  readonly manifests = new Map<string, StoredManifest>()
  /** By `REPOSITORY:TAG`. */
  readonly tags = new Map<string, Digest>()
  /** `REPOSITORY@DIGEST` of every blob that a repository may read. */
  readonly links = new Set<string>()
  /** Unfinished uploads by their id. */
  readonly uploads = new Map<string, { readonly repository: string; bytes: Buffer }>()
  #count = 0

  addBlob(repository: string, bytes: Uint8Array): Descriptor {
    const digest = digestOf(bytes)
    this.blobs.set(digest, bytes)
    this.links.add(`${repository}@${digest}`)
    return { mediaType: 'application/vnd.oci.image.layer.v1.tar', digest, size: bytes.byteLength }
  }

  addManifest(repository: string, document: object, tag?: string): Descriptor {
    const declared = 'mediaType' in document ? String(document.mediaType) : undefined
    const mediaType = declared ?? 'application/vnd.oci.image.manifest.v1+json'
    const bytes = Buffer.from(JSON.stringify(document))
    const digest = digestOf(bytes)
    this.manifests.set(`${repository}@${digest}`, { bytes, mediaType })
    if (tag !== undefined) this.tags.set(`${repository}:${tag}`, digest)
    return { mediaType, digest, size: bytes.byteLength }
  }

  /** True where anything at all is known of this repository. */
  hasRepository(repository: string): boolean {
    const names = [...this.manifests.keys(), ...this.tags.keys(), ...this.links]
    return names.some((name) => name.startsWith(`${repository}@`) || name.startsWith(`${repository}:`))
  }

  beginUpload(repository: string): string {
    this.#count += 1
    const id = `upload-${this.#count}`
    this.uploads.set(id, { repository, bytes: Buffer.alloc(0) })
    return id
  }
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly content: ScriptedContent
  readonly behaviour: ScriptedBehaviour
}

interface Routed extends Exchange {
  readonly repository: string
  readonly name: string
  readonly query: URLSearchParams
}

export async function answerProtocol(exchange: Exchange): Promise<void> {
  const { request, response } = exchange
  const url = new URL(request.url ?? '', 'http://registry.invalid')
  if (url.pathname === '/v2/') {
    request.resume()
    return void response.end('{}')
  }
  const match = /^\/v2\/(.+)\/(manifests|blobs\/uploads|blobs|tags|referrers)\/([^/]*)$/.exec(url.pathname)
  const [, repository = '', kind = '', name = ''] = match ?? []
  const routed = { ...exchange, repository, name, query: url.searchParams }
  const routes: Record<string, (routed: Routed) => Promise<void>> = {
    manifests: answerManifest,
    'blobs/uploads': answerUpload,
    blobs: answerBlob,
    tags: answerTags,
    referrers: answerReferrers,
  }
  const route = routes[kind]
  if (route === undefined) return fail(exchange, 404, 'UNSUPPORTED')
  await route(routed)
}

function fail({ request, response }: Pick<Exchange, 'request' | 'response'>, status: number, code: string): void {
  request.resume()
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ errors: [{ code, message: code.toLowerCase().replaceAll('_', ' ') }] }))
}

async function answerManifest(routed: Routed): Promise<void> {
  const { request, response, content, behaviour, repository, name } = routed
  if (request.method === 'PUT') {
    const bytes = await bodyOf(request)
    const digest = digestOf(bytes)
    if (isDigest(name) && name !== digest) return fail(routed, 400, 'DIGEST_INVALID')
    const mediaType = request.headers['content-type'] ?? ''
    content.manifests.set(`${repository}@${digest}`, { bytes, mediaType })
    if (!isDigest(name)) content.tags.set(`${repository}:${name}`, digest)
    const subject = subjectOf(bytes)
    const noted = behaviour.hasReferrersApi === true && subject !== undefined ? { 'oci-subject': subject } : {}
    response.writeHead(201, { location: `/v2/${repository}/manifests/${digest}`, ...digestHeader(digest), ...noted })
    return void response.end()
  }
  request.resume()
  if (request.method === 'DELETE') return deleteManifest(routed)
  const digest = isDigest(name) ? name : content.tags.get(`${repository}:${name}`)
  const stored = digest === undefined ? undefined : content.manifests.get(`${repository}@${digest}`)
  if (digest === undefined || stored === undefined) return fail(routed, 404, 'MANIFEST_UNKNOWN')
  response.writeHead(200, {
    'content-type': stored.mediaType,
    'content-length': stored.bytes.byteLength,
    ...digestHeader(digest),
  })
  response.end(stored.bytes)
}

async function deleteManifest(routed: Routed): Promise<void> {
  const { response, content, behaviour, repository, name } = routed
  const { deletes = 'all' } = behaviour
  if (deletes === 'none' || (deletes === 'digests' && !isDigest(name))) return fail(routed, 405, 'UNSUPPORTED')
  const digest = isDigest(name) ? name : content.tags.get(`${repository}:${name}`)
  const isImage = isDigest(name) || deletes === 'image-of-tag'
  const wasThere = isImage
    ? content.manifests.delete(`${repository}@${digest}`)
    : content.tags.delete(`${repository}:${name}`)
  if (!wasThere) return fail(routed, 404, 'MANIFEST_UNKNOWN')
  if (isImage && deletes !== 'dangling') {
    const names = [...content.tags].filter(([key, its]) => its === digest && key.startsWith(`${repository}:`))
    for (const [key] of names) content.tags.delete(key)
  }
  response.writeHead(202).end()
}

async function answerBlob(routed: Routed): Promise<void> {
  const { request, response, content, repository, name } = routed
  request.resume()
  const bytes = content.links.has(`${repository}@${name}`) ? content.blobs.get(name) : undefined
  if (bytes === undefined) return fail(routed, 404, 'BLOB_UNKNOWN')
  const headers = { 'content-type': 'application/octet-stream', 'docker-content-digest': name }
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN)
  if (Number.isNaN(from)) {
    response.writeHead(200, { ...headers, 'content-length': bytes.byteLength, 'accept-ranges': 'bytes' })
    return void response.end(bytes)
  }
  if (from >= bytes.byteLength) return fail(routed, 416, 'RANGE_INVALID')
  const range = `bytes ${from}-${bytes.byteLength - 1}/${bytes.byteLength}`
  response.writeHead(206, { ...headers, 'content-range': range }).end(bytes.subarray(from))
}

async function answerUpload(routed: Routed): Promise<void> {
  const { request, response, content, behaviour, repository, name, query } = routed
  if (request.method === 'POST') {
    request.resume()
    const digest = query.get('mount')
    if (digest !== null && behaviour.mounts !== false && content.links.has(`${query.get('from')}@${digest}`)) {
      content.links.add(`${repository}@${digest}`)
      return void response.writeHead(201, { location: `/v2/${repository}/blobs/${digest}` }).end()
    }
    const minimum = behaviour.minChunkBytes === undefined ? {} : { 'oci-chunk-min-length': behaviour.minChunkBytes }
    const headers = uploadHeaders(routed, content.beginUpload(repository), 0)
    return void response.writeHead(202, { ...headers, ...minimum }).end()
  }
  const upload = content.uploads.get(name)
  if (upload === undefined || upload.repository !== repository) return fail(routed, 404, 'BLOB_UPLOAD_UNKNOWN')
  if (request.method === 'GET') {
    request.resume()
    return void response.writeHead(204, uploadHeaders(routed, name, upload.bytes.byteLength)).end()
  }
  if (request.method === 'DELETE') {
    request.resume()
    content.uploads.delete(name)
    return void response.writeHead(204).end()
  }
  if (request.method === 'PATCH') {
    if (behaviour.acceptsChunks === false) return fail(routed, 405, 'UNSUPPORTED')
    const from = Number(request.headers['content-range']?.split('-')[0] ?? 0)
    if (from !== upload.bytes.byteLength) return fail(routed, 416, 'RANGE_INVALID')
  }
  await receiveInto(request, upload)
  if (request.method === 'PATCH') {
    return void response.writeHead(202, uploadHeaders(routed, name, upload.bytes.byteLength)).end()
  }
  content.uploads.delete(name)
  if (digestOf(upload.bytes) !== query.get('digest')) return fail(routed, 400, 'DIGEST_INVALID')
  const { digest } = content.addBlob(repository, upload.bytes)
  response.writeHead(201, { location: `/v2/${repository}/blobs/${digest}`, ...digestHeader(digest) }).end()
}

function uploadHeaders({ request, behaviour, repository }: Routed, id: string, size: number): OutgoingHttpHeaders {
  const path = `/v2/${repository}/blobs/uploads/${id}?_state=kept`
  const location = behaviour.absoluteLocations === true ? `http://${request.headers.host}${path}` : path
  return { location, range: `0-${Math.max(0, size - 1)}` }
}

async function answerTags(routed: Routed): Promise<void> {
  const { request, response, content, behaviour, repository, query } = routed
  request.resume()
  if (!content.hasRepository(repository)) return fail(routed, 404, 'NAME_UNKNOWN')
  const prefix = `${repository}:`
  const all = [...content.tags.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length))
  const after = all.toSorted().filter((tag) => tag > (query.get('last') ?? ''))
  const page = after.slice(0, behaviour.tagsPerPage ?? after.length)
  const more = page.length < after.length
  const link = more ? { link: `</v2/${repository}/tags/list?n=2&last=${page.at(-1)}>; rel="next"` } : {}
  response.writeHead(200, { 'content-type': 'application/json', ...link })
  response.end(JSON.stringify({ name: repository, tags: page }))
}

async function answerReferrers(routed: Routed): Promise<void> {
  const { request, response, content, behaviour, repository, name } = routed
  request.resume()
  if (behaviour.hasReferrersApi !== true) return fail(routed, 404, 'UNSUPPORTED')
  const manifests = [...content.manifests]
    .filter(([key, { bytes }]) => key.startsWith(`${repository}@`) && subjectOf(bytes) === name)
    .map(([key, { bytes, mediaType }]) => ({ mediaType, digest: key.split('@')[1], size: bytes.byteLength }))
  const mediaType = 'application/vnd.oci.image.index.v1+json'
  response.writeHead(200, { 'content-type': mediaType })
  response.end(JSON.stringify({ schemaVersion: 2, mediaType, manifests }))
}

function subjectOf(bytes: Uint8Array): string | undefined {
  const document: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
  if (typeof document !== 'object' || document === null || !('subject' in document)) return undefined
  const { subject } = document
  return typeof subject === 'object' && subject !== null && 'digest' in subject ? String(subject.digest) : undefined
}

function digestHeader(digest: Digest): OutgoingHttpHeaders {
  return { 'docker-content-digest': digest }
}

/** What arrived is kept, also when the connection breaks: that is what an upload is resumed from. */
async function receiveInto(request: IncomingMessage, upload: { bytes: Buffer }): Promise<void> {
  for await (const chunk of request) upload.bytes = Buffer.concat([upload.bytes, chunk])
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}
