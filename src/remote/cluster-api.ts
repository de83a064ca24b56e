/**
 * Reads objects of a cluster from its API. Only GET, in pages.
 *
 * Source: kubernetes.io/docs/reference/using-api/api-concepts, "Retrieving large results sets in chunks".
 */
import type { IncomingMessage } from 'node:http'
import { KnownError } from '../errors/known-error.ts'
import { https } from '../host/web-modules.ts'

/** Where the API is, and who we are there. Certificates and keys are PEM. */
export interface ClusterAddress {
  readonly server: string
  readonly ca?: string
  readonly serverName?: string
  readonly isInsecure: boolean
  readonly token?: string
  readonly certificate?: { readonly cert: string; readonly key: string }
}

export interface ClusterListOptions {
  readonly signal: AbortSignal
  /** Objects in a page. */
  readonly pageSize?: number
  /** No byte for this long, in milliseconds, ends the request. */
  readonly idleTimeoutMs?: number
}

const maxPageBytes = 256 * 1024 * 1024

/**
 * The pages of a list, each as the API sends it; none where the cluster does not know this kind of object.
 *
 * @param path `/api/v1/pods`
 * @throws KnownError CLUSTER_UNREADABLE
 */
export async function* listObjects(
  address: ClusterAddress,
  path: string,
  options: ClusterListOptions,
): AsyncGenerator<unknown> {
  if (!address.server.startsWith('https://')) {
    throw unreadable(address, path, { why: 'the server is no https:// URL' })
  }
  let next: string | undefined = ''
  while (next !== undefined) {
    const query = new URLSearchParams({
      limit: String(options.pageSize ?? 500),
      ...(next !== '' && { continue: next }),
    })
    const page = await getPage(address, `${path}?${query}`, options)
    if (page === undefined) return
    yield page
    next = continueOf(page)
  }
}

async function getPage(address: ClusterAddress, path: string, options: ClusterListOptions): Promise<unknown> {
  const { status, text } = await get(address, path, options)
  if (status === 404) return undefined
  if (status !== 200) throw unreadable(address, path, { why: `it answered ${status}${reasonOf(text)}` })
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unreadable(address, path, { why: 'its answer is not JSON', cause })
  }
}

function continueOf(page: unknown): string | undefined {
  const metadata: unknown = typeof page === 'object' && page !== null && 'metadata' in page ? page.metadata : undefined
  const next =
    typeof metadata === 'object' && metadata !== null && 'continue' in metadata ? metadata.continue : undefined
  return typeof next === 'string' && next !== '' ? next : undefined
}

/** The message of a `Status` object. */
function reasonOf(text: string): string {
  const message = /"message":\s*"((?:[^"\\]|\\.){1,300})/.exec(text)?.[1]
  return message === undefined ? '' : `: ${message}`
}

async function get(
  address: ClusterAddress,
  path: string,
  { signal, idleTimeoutMs = 60_000 }: ClusterListOptions,
): Promise<{ status: number; text: string }> {
  const { ca, serverName, isInsecure, token, certificate } = address
  const url = new URL(address.server.replace(/\/$/, '') + path)
  try {
    const response = await new Promise<IncomingMessage>((onResponse, reject) => {
      const request = https().request(url, {
        method: 'GET',
        signal,
        agent: false,
        rejectUnauthorized: !isInsecure,
        timeout: idleTimeoutMs,
        headers: {
          accept: 'application/json',
          'user-agent': 'sallyport',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        ...(ca !== undefined && { ca }),
        ...(serverName !== undefined && { servername: serverName }),
        ...certificate,
      })
      request.once('response', onResponse)
      request.on('timeout', () => request.destroy(new Error(`no byte for ${Math.round(idleTimeoutMs / 1000)} s`)))
      request.on('error', reject)
      request.end()
    })
    return { status: response.statusCode ?? 0, text: await readText(response) }
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof KnownError || !(cause instanceof Error)) throw cause
    throw unreadable(address, path, { why: cause.message, cause })
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength
    if (size > maxPageBytes) throw new Error(`it sends more than ${maxPageBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size).toString('utf8')
}

function unreadable(
  { server }: ClusterAddress,
  request: string,
  { why, cause }: { readonly why: string; readonly cause?: unknown },
): KnownError {
  const path = request.replace(/\?.*$/, '')
  return new KnownError('CLUSTER_UNREADABLE', `${server}${path} cannot be read: ${why}`, {
    details: { host: server, path },
    cause,
  })
}
