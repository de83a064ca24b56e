/** Plain HTTP for tests that look at the protocol itself: nothing is interpreted, retried or followed. */
import { type Agent, type IncomingHttpHeaders, request } from 'node:http'

export interface WireRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | number>>
  readonly body?: Uint8Array | string
  /** Sent without a Content-Length. */
  readonly chunks?: readonly Uint8Array[]
  readonly agent?: Agent
}

export interface WireAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly json: () => Record<string, unknown>
  /** The code of the first error in a body of distribution-spec's form. */
  readonly errorCode: () => string | undefined
}

export function wire(url: string, options: WireRequest = {}): Promise<WireAnswer> {
  const { method = 'GET', headers = {}, body, chunks, agent } = options
  return new Promise((resolve, reject) => {
    const length = chunks === undefined && body !== undefined ? { 'Content-Length': Buffer.byteLength(body) } : {}
    const outgoing = request(
      url,
      { method, headers: { ...length, ...headers }, ...(agent && { agent }) },
      (incoming) => {
        const received: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => received.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => resolve(answerOf(incoming.statusCode ?? 0, incoming.headers, Buffer.concat(received))))
      },
    )
    outgoing.on('error', reject)
    for (const chunk of chunks ?? []) outgoing.write(chunk)
    outgoing.end(body)
  })
}

function answerOf(status: number, headers: IncomingHttpHeaders, body: Buffer): WireAnswer {
  const json = () => JSON.parse(body.toString()) as Record<string, unknown>
  return {
    status,
    headers,
    body,
    json,
    errorCode: () => (json()['errors'] as { code: string }[] | undefined)?.[0]?.code,
  }
}
