/** The API of a cluster on loopback, over TLS: serves lists of objects in pages, to whom it knows. */
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { stringify } from 'yaml'
import { testCertificate } from './certificates.ts'
import { type Cleanup, tempDir } from './temp-dir.ts'

export interface ClusterApi {
  readonly url: string
  /** PEM of its authority. */
  readonly ca: string
  /** Path of a kubeconfig for it. */
  readonly kubeconfig: string
  /** Method and path of every request, with its query. */
  readonly requests: string[]
  /** A certificate that it takes in the place of a token, with its key; PEM. */
  readonly client: { readonly cert: string; readonly key: string }
}

export interface ClusterApiOptions {
  /** By path: the items of the list. */
  readonly lists: Readonly<Record<string, readonly object[]>>
  /** Paths that are answered with 403. */
  readonly forbidden?: readonly string[]
}

const token = 'loopback-only'

export async function startClusterApi(t: Cleanup, { lists, forbidden = [] }: ClusterApiOptions): Promise<ClusterApi> {
  const { tls, ca } = await testCertificate(t)
  const { tls: client } = await testCertificate(t, ['admin.invalid'])
  const fingerprint = new X509Certificate(client.cert).fingerprint256
  const requests: string[] = []
  const asking = { ...tls, requestCert: true, rejectUnauthorized: false }
  const server = createServer(asking, (request, response) => {
    const url = new URL(request.url ?? '/', 'https://cluster.invalid')
    requests.push(`${request.method} ${request.url}`)
    const answer = (status: number, body: object) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const refuse = (status: number, message: string) => answer(status, { kind: 'Status', code: status, message })
    const { fingerprint256 } = (request.socket as TLSSocket).getPeerCertificate()
    const isKnown = fingerprint256 === fingerprint || request.headers.authorization === `Bearer ${token}`
    if (!isKnown) return refuse(401, 'Unauthorized')
    if (forbidden.includes(url.pathname)) return refuse(403, `forbidden: cannot list ${url.pathname}`)
    const items = lists[url.pathname]
    if (items === undefined) return refuse(404, 'the server could not find the requested resource')
    const from = Number(url.searchParams.get('continue') ?? 0)
    const to = from + Number(url.searchParams.get('limit') ?? items.length)
    const metadata = to < items.length ? { continue: String(to) } : {}
    answer(200, { kind: listKind(url.pathname), metadata, items: items.slice(from, to) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const kubeconfig = join(await tempDir(t), 'kubeconfig')
  await writeFile(kubeconfig, kubeconfigText({ server: url, 'certificate-authority-data': base64(ca) }, { token }))
  return { url, ca, kubeconfig, requests, client }
}

/** Text of a kubeconfig with one context. */
export function kubeconfigText(cluster: object, user: object): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'kit',
    contexts: [{ name: 'kit', context: { cluster: 'kit', user: 'admin' } }],
    clusters: [{ name: 'kit', cluster }],
    users: [{ name: 'admin', user }],
  })
}

export function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** As the API names lists; their items have no kind of their own. */
function listKind(path: string): string {
  const kinds: Readonly<Record<string, string>> = {
    pods: 'PodList',
    nodes: 'NodeList',
    clusterversions: 'ClusterVersionList',
    catalogsources: 'CatalogSourceList',
  }
  return kinds[path.split('/').at(-1) ?? ''] ?? 'List'
}
