/** The requests of one upload session (distribution-spec, "Pushing a blob in chunks"). */
import { KnownError } from '../errors/known-error.ts'
import { algorithmOf } from '../oci/digest.ts'
import { repositoryName } from '../oci/reference.ts'
import type { Upload } from './blob-upload.ts'
import type { Connections, RegistryRequest } from './connections.ts'
import type { BodySink, HttpAnswer } from './http-message.ts'
import { drainBody } from './read-body.ts'
import { redirectOf } from './redirect.ts'

/** Where an upload stands at the registry. */
export interface UploadState {
  readonly location: URL
  /** Bytes that the registry has. */
  readonly offset: number
  /** `OCI-Chunk-Min-Length`. */
  readonly minChunkBytes: number
}

type WriteTo = (sink: BodySink) => Promise<void>

/** A registry may have to move a large blob before it answers to the closing PUT. */
const commitTimeoutMs = 600_000

/** Each request is made once: `BlobUpload` knows where to go on, and is alone in trying again. */
export class UploadWire {
  /** Which attempt this is, from 1: for messages. */
  attempt = 1
  readonly #connections: Connections
  readonly #upload: Omit<Upload, 'open'>

  constructor(connections: Connections, upload: Omit<Upload, 'open'>) {
    this.#connections = connections
    this.#upload = upload
  }

  async begin(): Promise<UploadState> {
    const { repository, descriptor } = this.#upload
    const algorithm = algorithmOf(descriptor.digest)
    const query = algorithm === 'sha256' ? '' : `?digest-algorithm=${algorithm}`
    const answer = await this.#send({
      method: 'POST',
      path: `${repository.repository}/blobs/uploads/${query}`,
      lane: 'request',
      expect: [202],
    })
    drainBody(answer)
    return this.#stateFrom(answer, { offset: 0, minChunkBytes: 0 })
  }

  /** Where a session stands; undefined where it is gone, is empty, or is not for this blob. */
  async status(location: string): Promise<UploadState | undefined> {
    if (!URL.canParse(location)) return undefined
    const url = new URL(location)
    const answer = await this.#send({
      method: 'GET',
      path: url,
      lane: 'request',
      expect: [204, 200, 202, 404, 400, 405],
    })
    drainBody(answer)
    // `0-0` says one byte in the spec, and none in distribution: to begin again costs nothing in both cases.
    const end = endOfRange(answer)
    if (answer.status >= 400 || end === undefined || end === 0) return undefined
    const offset = end + 1
    if (offset > this.#upload.descriptor.size) return undefined
    return { ...this.#stateFrom(answer, { offset, minChunkBytes: 0 }, url) }
  }

  async patch(state: UploadState, chunk: { from: number; to: number; writeTo: WriteTo }): Promise<UploadState> {
    const { from, to, writeTo } = chunk
    const answer = await this.#send({
      method: 'PATCH',
      path: state.location,
      lane: 'upload',
      headers: { 'content-type': 'application/octet-stream', 'content-range': `${from}-${to - 1}` },
      body: { length: to - from, writeTo },
      expect: [202, 201, 204, 307, 308],
    })
    drainBody(answer)
    const redirect = redirectOf(answer)
    if (redirect !== undefined) return { ...state, location: redirect }
    const end = endOfRange(answer)
    const offset = end === undefined || end < from ? to : Math.min(end + 1, to)
    return this.#stateFrom(answer, { ...state, offset }, state.location)
  }

  /** The request that closes the session, with the whole blob where `writeTo` is given. */
  async put(state: UploadState, content?: { length: number; writeTo: WriteTo }): Promise<void> {
    const path = new URL(state.location)
    path.searchParams.set('digest', this.#upload.descriptor.digest)
    const answer = await this.#send({
      method: 'PUT',
      path,
      lane: content === undefined ? 'request' : 'upload',
      headers: { 'content-type': 'application/octet-stream' },
      ...(content !== undefined && { body: content }),
      answerTimeoutMs: commitTimeoutMs,
      expect: [201, 204],
    })
    drainBody(answer)
  }

  async exists(): Promise<boolean> {
    const { repository, descriptor } = this.#upload
    const path = `${repository.repository}/blobs/${descriptor.digest}`
    const answer = await this.#send({ method: 'HEAD', path, lane: 'request', expect: [200, 404] })
    drainBody(answer)
    const length = answer.headers['content-length']
    return answer.status === 200 && (length === undefined || Number(length) === descriptor.size)
  }

  /** Frees what the registry keeps for this session ("Clients SHOULD ignore any failures"). */
  async cancel(state: UploadState): Promise<void> {
    const request = { method: 'DELETE', path: state.location, lane: 'request', expect: [204, 200, 202, 404] } as const
    try {
      drainBody(await this.#connections.sendOnce(this.#whole(request, undefined), 1))
    } catch (error) {
      this.#connections.retries.log.debug(`upload not cancelled: ${String(error)}`)
    }
  }

  #send(request: Partial<RegistryRequest> & Pick<RegistryRequest, 'method' | 'path' | 'lane' | 'expect'>) {
    return this.#connections.sendOnce(this.#whole(request, this.#upload.options.signal), this.attempt)
  }

  #whole(
    request: Partial<RegistryRequest> & Pick<RegistryRequest, 'method' | 'path' | 'lane' | 'expect'>,
    signal: AbortSignal | undefined,
  ): RegistryRequest {
    const { repository, descriptor } = this.#upload
    return {
      registry: repository.registry,
      repository: repository.repository,
      subject: `${repositoryName(repository)}@${descriptor.digest}`,
      actions: 'pull,push',
      signal,
      ...request,
    }
  }

  #stateFrom(
    answer: HttpAnswer,
    { offset, minChunkBytes }: Pick<UploadState, 'offset' | 'minChunkBytes'>,
    known?: URL,
  ): UploadState {
    const { location } = answer.headers
    const asked = Number(answer.headers['oci-chunk-min-length'] ?? minChunkBytes)
    const state = { offset, minChunkBytes: Number.isSafeInteger(asked) ? asked : minChunkBytes }
    if (location !== undefined && URL.canParse(location, answer.url)) {
      return { ...state, location: new URL(location, answer.url) }
    }
    if (known !== undefined) return { ...state, location: known }
    const { repository } = this.#upload
    throw new KnownError(
      'REGISTRY_PROTOCOL',
      `${repositoryName(repository)}: ${answer.url.host} opened an upload without saying where (no Location)`,
      { details: { image: repositoryName(repository), host: answer.url.host, status: answer.status } },
    )
  }
}

/** The last byte that the registry has, from `Range: 0-N` (some write `bytes=0-N`). */
function endOfRange({ headers }: HttpAnswer): number | undefined {
  const match = /^(?:bytes=)?0-(\d+)$/.exec(headers.range ?? '')
  return match === null ? undefined : Number(match[1])
}
