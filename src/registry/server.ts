/**
 * The embedded registry: distribution-spec 1.1 over the store.
 *
 * `node:http` and a router of its own, because names contain slashes and because the bytes of a blob are the whole cost.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { hasSystemCode, KnownError } from '../errors/known-error.ts'
import type { Clock } from '../host/clock.ts'
import type { Log } from '../host/log.ts'
import { collectYoungGarbageEvery } from '../host/memory.ts'
import { BlobStore } from '../store/blob-store.ts'
import { dispatch } from './dispatch.ts'
import type { RegistryContext } from './exchange.ts'
import { Htpasswd } from './htpasswd.ts'
import { ReadBuffers } from './send-file.ts'
import { UploadSessions } from './upload-sessions.ts'

export interface RegistryOptions {
  /** Directory of the store; made where it is missing. */
  readonly root: string
  /** Default: 127.0.0.1, on any free port. */
  readonly listen?: { readonly host: string; readonly port: number } | undefined
  /** PEM texts. Plain HTTP without them. */
  readonly tls?: { readonly certificate: string; readonly key: string } | undefined
  /** Plain HTTP on another address than loopback is refused without this. */
  readonly insecureHttp?: boolean | undefined
  /** Path of an htpasswd file. Open to everybody without one. */
  readonly htpasswd?: string | undefined
  readonly readOnly?: boolean | undefined
  /** Whether an index may name manifests that the repository does not have. Default: allow. */
  readonly sparseIndex?: 'allow' | 'refuse' | undefined
  /** Announced to clients that push in chunks (distribution-spec, `OCI-Chunk-Min-Length`); smaller ones are taken too. */
  readonly chunkMinBytes?: number | undefined
  readonly log: Log
  readonly clock: Clock
}

export interface RunningRegistry {
  /** `http://127.0.0.1:5000` */
  readonly url: string
  /** `127.0.0.1:5000`, as image references write it. */
  readonly address: string
  readonly store: BlobStore
  /** Stops listening, lets requests under way end, and cuts those off that last longer than `graceMs` (default 5 s). */
  close(graceMs?: number): Promise<void>
}

const idleTimeoutMs = 120_000
const headersTimeoutMs = 60_000
const keepAliveTimeoutMs = 75_000
const defaultChunkMinBytes = 64 * 1024
/** Measured: peaks of 167 instead of 210 MiB with four large uploads, in a fifth less CPU than V8 takes by itself. */
const collectGarbageBytes = 16 * 1024 * 1024
const removeAbandonedEveryMs = 60 * 60 * 1000

/** @throws KnownError USAGE, LISTEN_FAILED, CONFIG_INVALID, FILE_UNREADABLE, STORE_CORRUPT, DISK_FULL */
export async function startRegistry(options: RegistryOptions): Promise<RunningRegistry> {
  const { log, clock, tls, listen = { host: '127.0.0.1', port: 0 } } = options
  requireSafeTransport(options, listen.host)
  const htpasswd = options.htpasswd === undefined ? undefined : new Htpasswd(options.htpasswd)
  const store = await BlobStore.open(options.root, clock)
  const context: RegistryContext = {
    store,
    sessions: new UploadSessions(store),
    buffers: new ReadBuffers(),
    countReceived: collectYoungGarbageEvery(collectGarbageBytes),
    log,
    readOnly: options.readOnly === true,
    sparseIndex: options.sparseIndex ?? 'allow',
    chunkMinBytes: options.chunkMinBytes ?? defaultChunkMinBytes,
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // A connection that falls idle while the server closes would keep it open until its time-out.
    response.once('finish', () => void (server.listening || setImmediate(() => server.closeIdleConnections())))
    void dispatch(context, htpasswd, { request, response })
  }
  const server =
    tls === undefined ? createServer(onRequest) : createTlsServer({ cert: tls.certificate, key: tls.key }, onRequest)
  configure(server)
  await listenOn(server, listen)
  const cancelSweep = sweepRegularly(context.sessions, clock)
  const address = formatAddress(listen.host, (server.address() as AddressInfo).port)
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${address}`,
    address,
    store,
    close: async (graceMs = 5000) => {
      cancelSweep()
      await closeServer(server, clock, graceMs)
      await store.names.flush()
    },
  }
}

function requireSafeTransport({ tls, insecureHttp }: RegistryOptions, host: string): void {
  const isLoopback = host === 'localhost' || host === '::1' || /^127\./.test(host)
  if (tls !== undefined || insecureHttp === true || isLoopback) return
  throw new KnownError('USAGE', `Plain HTTP on ${host} would show images and passwords to the network`, {
    hint: 'Add --self-signed, or --tls-cert and --tls-key; or say --insecure-http if you mean it.',
  })
}

function configure(server: Server): void {
  // A large blob takes as long as it takes: what ends a request is silence, not its length.
  server.requestTimeout = 0
  server.timeout = idleTimeoutMs
  server.headersTimeout = headersTimeoutMs
  server.keepAliveTimeout = keepAliveTimeoutMs
}

async function listenOn(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    const why = hasSystemCode(error, 'EADDRINUSE') ? 'the port is in use' : String(error)
    throw new KnownError('LISTEN_FAILED', `Cannot listen on ${formatAddress(host, port)}: ${why}`, { cause: error })
  }
}

function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

function sweepRegularly(sessions: UploadSessions, clock: Clock): () => void {
  const next = () =>
    clock.after(removeAbandonedEveryMs, () => {
      sessions.removeAbandoned()
      cancel = next()
    })
  let cancel = next()
  return () => cancel()
}

async function closeServer(server: Server, clock: Clock, graceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  const cancel = clock.after(graceMs, () => server.closeAllConnections())
  await closed
  cancel()
}
