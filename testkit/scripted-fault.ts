/** What can go wrong with one request to a scripted server. */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

export interface Fault {
  /** Which requests; all where nothing is said. */
  readonly method?: string
  /** Matched against the path with its query. */
  readonly path?: RegExp
  /** How often; always where nothing is said. */
  readonly times?: number

  /** Answers with this status instead, and with `headers` and `body` where they are there. */
  readonly status?: number
  readonly body?: string | Uint8Array
  /** Headers added to the true answer, or put in the place of its own. */
  readonly headers?: OutgoingHttpHeaders
  /** The body of the true answer, changed. Its Content-Length follows, unless `headers` says otherwise. */
  readonly change?: (body: Uint8Array) => Uint8Array
  /** Sends this many bytes of the true body, then resets the connection. */
  readonly cutAfter?: number
  /** Sends this many bytes of the true body, then nothing more. */
  readonly stallAfter?: number
  /** Reads this many bytes of the request, then resets the connection. */
  readonly cutUploadAfter?: number
  /** Takes no notice of `Range`. */
  readonly ignoreRange?: boolean
  /** Closes the connection instead of answering. */
  readonly hangUp?: boolean
  /** Neither answers nor closes. */
  readonly silent?: boolean
}

interface FaultyExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly record: RecordedRequest
  readonly fault: Fault | undefined
}

/** Lets `proceed` answer, with the fault between it and the wire. */
export function withFault(exchange: FaultyExchange, proceed: () => Promise<void>): void {
  const { request, response, fault } = exchange
  if (fault?.silent === true) return void request.resume()
  if (fault?.hangUp === true) return void request.socket.destroy()
  if (fault?.status !== undefined) {
    request.resume()
    response.writeHead(fault.status, fault.headers).end(fault.body)
    return
  }
  if (fault?.cutUploadAfter !== undefined) cutUpload(request, exchange.record, fault.cutUploadAfter)
  if (fault?.ignoreRange === true) delete request.headers.range
  interceptBody(exchange)
  proceed().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
}

function cutUpload(request: IncomingMessage, record: RecordedRequest, limit: number): void {
  request.on('data', () => {
    if (record.bytesIn >= limit) request.socket.resetAndDestroy()
  })
  request.pause()
}

/** The protocol answers with one `end(body)`; this is where it is changed, counted, cut and held. */
function interceptBody({ response, record, fault }: FaultyExchange): void {
  const send = response.end.bind(response)
  const writeHead = response.writeHead.bind(response)
  let head: { status: number; headers: OutgoingHttpHeaders } = { status: 200, headers: {} }
  response.writeHead = ((status: number, headers: OutgoingHttpHeaders = {}) => {
    head = { status, headers }
    return response
  }) as typeof response.writeHead
  response.end = ((body?: string | Uint8Array) => {
    const bytes = typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array())
    const sent = fault?.change?.(bytes) ?? bytes
    const length = response.req.method === 'HEAD' ? {} : { 'content-length': sent.byteLength }
    writeHead(head.status, { ...head.headers, ...length, ...fault?.headers })
    const limit = fault?.cutAfter ?? fault?.stallAfter
    const isWhole = limit === undefined || response.req.method === 'HEAD'
    record.bytesOut += isWhole ? sent.byteLength : Math.min(limit, sent.byteLength)
    if (isWhole) return send(sent)
    response.write(sent.subarray(0, limit), () => {
      // Two turns: a reset at once would discard the bytes that were just written.
      if (fault?.cutAfter !== undefined) setImmediate(() => setImmediate(() => response.socket?.destroy()))
    })
    response.flushHeaders()
    return response
  }) as typeof response.end
}

/** One request, as the server saw it. */
export interface RecordedRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** 0 where no answer was sent. */
  status: number
  /** Bytes of the body received, and of the body sent. */
  bytesIn: number
  bytesOut: number
}

export function recordOf(request: IncomingMessage, response: ServerResponse): RecordedRequest {
  const { method = '', url = '', headers } = request
  const record: RecordedRequest = { method, path: url, headers, status: 0, bytesIn: 0, bytesOut: 0 }
  request.on('data', (chunk: Uint8Array) => {
    record.bytesIn += chunk.byteLength
  })
  request.pause()
  response.once('close', () => {
    if (response.headersSent) record.status = response.statusCode
  })
  return record
}

/** Faults in the order in which they were added: the first that matches and is not used up is taken. */
export class FaultScript {
  readonly #faults: { readonly fault: Fault; left: number }[] = []

  add(fault: Fault): void {
    this.#faults.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY })
  }

  next(record: RecordedRequest): Fault | undefined {
    const found = this.#faults.find(({ fault, left }) => {
      const isMethod = fault.method === undefined || fault.method === record.method
      return left > 0 && isMethod && (fault.path === undefined || fault.path.test(record.path))
    })
    if (found === undefined) return undefined
    found.left -= 1
    return found.fault
  }
}
