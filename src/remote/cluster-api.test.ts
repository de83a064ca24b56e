import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { base64, kubeconfigText, startClusterApi } from '../../testkit/cluster-api.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { loadClusterAccess } from '../config/kubeconfig.ts'
import { type ClusterAddress, listObjects } from './cluster-api.ts'

const signal = new AbortController().signal
const pods = '/api/v1/pods'

async function itemsOf(address: ClusterAddress, path: string, pageSize = 2): Promise<unknown[]> {
  const items: unknown[] = []
  for await (const page of listObjects(address, path, { signal, pageSize })) {
    items.push(...(page as { items: unknown[] }).items)
  }
  return items
}

test('a list is read over all its pages, with GET alone', async (t) => {
  const all = Array.from({ length: 5 }, (_, index) => ({ index }))
  const api = await startClusterApi(t, { lists: { [pods]: all } })
  const access = await loadClusterAccess(api.kubeconfig)
  assert.deepEqual(await itemsOf(access, pods), all)
  assert.deepEqual(api.requests, [
    `GET ${pods}?limit=2`,
    `GET ${pods}?limit=2&continue=2`,
    `GET ${pods}?limit=2&continue=4`,
  ])
})

test('a kind that the cluster does not know is an empty list; one that may not be read is an error', async (t) => {
  const api = await startClusterApi(t, { lists: {}, forbidden: [pods] })
  const access = await loadClusterAccess(api.kubeconfig)
  assert.deepEqual(await itemsOf(access, '/apis/none/v1/nones'), [])
  await assert.rejects(itemsOf(access, pods), {
    code: 'CLUSTER_UNREADABLE',
    message: /api\/v1\/pods cannot be read: it answered 403: forbidden: cannot list/,
  })
})

test('a server whose certificate is not trusted, a wrong token and plain HTTP are refused', async (t) => {
  const api = await startClusterApi(t, { lists: { [pods]: [] } })
  const access = await loadClusterAccess(api.kubeconfig)
  const { ca: _, ...untrusting } = access
  await assert.rejects(itemsOf(untrusting, pods), { code: 'CLUSTER_UNREADABLE' })
  assert.deepEqual(await itemsOf({ ...untrusting, isInsecure: true }, pods), [])
  await assert.rejects(itemsOf({ ...access, token: 'wrong' }, pods), (error: Error) => {
    assert.match(error.message, /401: Unauthorized/)
    assert.ok(!JSON.stringify(error).includes('wrong'))
    return true
  })
  await assert.rejects(itemsOf({ ...access, server: 'http://127.0.0.1:1' }, pods), /no https/)
})

test('a client certificate lets us in, without a token', async (t) => {
  const api = await startClusterApi(t, { lists: { [pods]: [{}] } })
  const { token: _, ...access } = await loadClusterAccess(api.kubeconfig)
  await assert.rejects(itemsOf(access, pods), /401/)
  assert.deepEqual(await itemsOf({ ...access, certificate: api.client }, pods), [{}])
})

test('an interruption ends the reading at once', async (t) => {
  const api = await startClusterApi(t, { lists: { [pods]: [] } })
  const access = await loadClusterAccess(api.kubeconfig)
  const reading = listObjects(access, pods, { signal: AbortSignal.abort(new Error('stopped')) }).next()
  await assert.rejects(reading, /stopped/)
})

test('certificates come from the kubeconfig or from files beside it, and a login by a program is refused', async (t) => {
  const directory = await tempDir(t)
  const path = join(directory, 'kubeconfig')
  await writeFile(join(directory, 'ca.crt'), 'CA')
  await writeFile(join(directory, 'token'), 'from-file\n')
  const server = 'https://api.lab:6443'
  const certificate = { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') }
  await writeFile(path, kubeconfigText({ server, 'certificate-authority': 'ca.crt' }, certificate))
  const byCertificate = { server, isInsecure: false, ca: 'CA', certificate: { cert: 'CERT', key: 'KEY' } }
  assert.deepEqual(await loadClusterAccess(path), byCertificate)
  await writeFile(path, kubeconfigText({ server, 'tls-server-name': 'api' }, { token: 'old', tokenFile: 'token' }))
  const byToken = { server, isInsecure: false, serverName: 'api', token: 'from-file' }
  assert.deepEqual(await loadClusterAccess(path), byToken)
  const refusals: [string, RegExp][] = [
    [kubeconfigText({ server }, { exec: { command: 'login' } }), /"admin" has neither a token nor a certificate/],
    [kubeconfigText({ server, 'proxy-url': 'http://p' }, { token: 'x' }), /proxy-url/],
    [kubeconfigText({ server }, { token: 'x' }).replace('current-context: kit', 'current-context: other'), /"other"/],
    ['clusters: [', /kubeconfig: /],
    ['kind: Config', /contexts/],
  ]
  for (const [text, message] of refusals) {
    await writeFile(path, text)
    await assert.rejects(loadClusterAccess(path), { code: 'KUBECONFIG_INVALID', message })
  }
})
