/** The mirror of a bootstrap site: a registry in memory behind TLS and a password, which can be broken while it runs. */
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { Clock } from '../src/host/clock.ts'
import type { Digest } from '../src/oci/digest.ts'
import { authorize, type ScriptedAuth } from './scripted-auth.ts'
import { type Fault, FaultScript, type RecordedRequest, recordOf, withFault } from './scripted-fault.ts'
import { answerProtocol, ScriptedContent } from './scripted-protocol.ts'
import type { SiteCertificate } from './site-certificates.ts'
import type { Cleanup } from './temp-dir.ts'

/** What a site does to its mirror, whichever registry that is. */
export interface BootstrapMirror {
  readonly port: number
  /** By digest or by tag; the manifests that it names stay. */
  removeManifest(repository: string, reference: string): Promise<void>
  removeBlob(repository: string, digest: Digest): Promise<void>
}

/** The mirror that can lie. */
export interface ScriptedMirror extends BootstrapMirror {
  readonly content: ScriptedContent
  readonly requests: RecordedRequest[]
  /** Another certificate, from the next connection on. */
  present(certificate: SiteCertificate): void
  /** Plain HTTP on the same port, from the next connection on. */
  dropTls(): void
  /** Who may read. Undefined: everybody. */
  admit(auth: ScriptedAuth | undefined): void
  fault(fault: Fault): void
  /** Nobody listens there any more. */
  stop(): Promise<void>
}

export interface ScriptedMirrorOptions {
  readonly certificate: SiteCertificate
  readonly auth: ScriptedAuth
  /** What its `Date` header goes by. */
  readonly clock: Clock
}

/** A mirror on a free port of 127.0.0.1, closed when `t` ends. */
export async function startScriptedMirror(t: Cleanup, options: ScriptedMirrorOptions): Promise<ScriptedMirror> {
  const content = new ScriptedContent()
  const requests: RecordedRequest[] = []
  const faults = new FaultScript()
  const state: { auth: ScriptedAuth | undefined; isPlain: boolean } = { auth: options.auth, isPlain: false }
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('date', new Date(options.clock.now()).toUTCString())
    const record = recordOf(request, response)
    requests.push(record)
    withFault({ request, response, record, fault: faults.next(record) }, async () => {
      if (state.auth !== undefined && !authorize(state.auth, request, response)) return
      await answerProtocol({ request, response, content, behaviour: {} })
    })
  }
  const secure = createHttpsServer(options.certificate, onRequest)
  const plain = createHttpServer(onRequest)
  const sockets = new Set<Socket>()
  const front = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    ;(state.isPlain ? plain : secure).emit('connection', socket)
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  const stop = () =>
    new Promise<void>((done) => {
      front.close(() => done())
      for (const socket of sockets) socket.destroy()
    })
  t.after(stop)
  return {
    port: (front.address() as AddressInfo).port,
    content,
    requests,
    removeManifest: async (repository, reference) => removeManifest(content, repository, reference),
    removeBlob: async (repository, digest) => void content.links.delete(`${repository}@${digest}`),
    present: (certificate) => secure.setSecureContext(certificate),
    dropTls: () => {
      state.isPlain = true
    },
    admit: (auth) => {
      state.auth = auth
    },
    fault: (fault) => faults.add(fault),
    stop,
  }
}

function removeManifest(content: ScriptedContent, repository: string, reference: string): void {
  const digest = content.tags.get(`${repository}:${reference}`) ?? reference
  content.tags.delete(`${repository}:${reference}`)
  content.manifests.delete(`${repository}@${digest}`)
}
