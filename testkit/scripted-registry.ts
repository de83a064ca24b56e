/**
 * A registry on loopback that does what a test tells it to, lies included.
 *
 * It speaks enough of the distribution protocol to be pulled from and pushed to: blobs, chunks, mounts, manifests, tags,
 * referrers. `faults` make single requests go wrong; `requests` records what was asked, and the bytes in and out.
 *
 *     const registry = await startScriptedRegistry(t)
 *     const layer = registry.addBlob('openshift/release', randomBytes(300_000))
 *     registry.fault({ method: 'GET', path: /blobs/, times: 1, cutAfter: 100_000 })
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Descriptor } from '../src/oci/descriptor.ts'
import { digestOf } from '../src/oci/digest.ts'
import { authorize, issueToken, type ScriptedAuth } from './scripted-auth.ts'
import { type Fault, FaultScript, type RecordedRequest, recordOf, withFault } from './scripted-fault.ts'
import { answerProtocol, type ScriptedBehaviour, ScriptedContent } from './scripted-protocol.ts'
import type { Cleanup } from './temp-dir.ts'

export interface ScriptedRegistryOptions extends ScriptedBehaviour {
  /** PEM. Without it the registry speaks plain HTTP. */
  readonly tls?: { readonly key: string; readonly cert: string }
  readonly auth?: ScriptedAuth
}

export interface ScriptedRegistry {
  /** `127.0.0.1:PORT`, as it stands in a reference. */
  readonly address: string
  readonly url: string
  readonly content: ScriptedContent
  /** In the order in which they arrived; emptied by the test where it wants to. */
  readonly requests: RecordedRequest[]
  /** The client's port of every connection that was made. */
  readonly connections: number[]
  /** Puts a blob there. */
  addBlob(repository: string, bytes: Uint8Array): Descriptor
  /** Puts a manifest there, with a tag or without. */
  addManifest(repository: string, document: object, tag?: string): Descriptor
  /** Makes requests that match go wrong, from now on. The first that matches and is not used up is taken. */
  fault(fault: Fault): void
  close(): Promise<void>
}

/** A registry on a free port of 127.0.0.1, closed when `t` ends. */
export async function startScriptedRegistry(
  t: Cleanup,
  options: ScriptedRegistryOptions = {},
): Promise<ScriptedRegistry> {
  const content = new ScriptedContent()
  const requests: RecordedRequest[] = []
  const faults = new FaultScript()
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const record = recordOf(request, response)
    requests.push(record)
    const fault = faults.next(record)
    withFault({ request, response, record, fault }, () => answer({ request, response, content, options }))
  }
  const server = options.tls === undefined ? createServer(listener) : createSecureServer(options.tls, listener)
  const connections: number[] = []
  server.on('connection', (socket) => connections.push(socket.remotePort ?? 0))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
  t.after(close)
  return {
    address: `127.0.0.1:${port}`,
    url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    content,
    requests,
    connections,
    addBlob: (repository, bytes) => content.addBlob(repository, bytes),
    addManifest: (repository, document, tag) => content.addManifest(repository, document, tag),
    fault: (fault) => faults.add(fault),
    close,
  }
}

/** The descriptor of bytes, as a layer. */
export function describeBytes(bytes: Uint8Array, mediaType = 'application/vnd.oci.image.layer.v1.tar'): Descriptor {
  return { mediaType, digest: digestOf(bytes), size: bytes.byteLength }
}

interface Answering {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly content: ScriptedContent
  readonly options: ScriptedRegistryOptions
}

async function answer({ request, response, content, options }: Answering): Promise<void> {
  const { auth } = options
  if (auth !== undefined && issueToken(auth, request, response)) return
  if (auth !== undefined && !authorize(auth, request, response)) return
  await answerProtocol({ request, response, content, behaviour: options })
}
