import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { describeBytes, type ScriptedRegistryOptions, startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { testClient } from '../../testkit/test-client.ts'
import { type Credentials, type CredentialsProvider, fixedCredentials, noCredentials } from './credentials.ts'

const known = { username: 'admin', password: 'open-sesame' }

function provider(entries: Record<string, Partial<Credentials>>): CredentialsProvider {
  return {
    find: async (registry) => {
      const entry = entries[registry]
      return entry && ({ kind: 'password', ...known, key: registry, ...entry } as Credentials)
    },
  }
}

async function setUp(t: Parameters<typeof startScriptedRegistry>[0], options: ScriptedRegistryOptions) {
  const registry = await startScriptedRegistry(t, options)
  const bytes = randomBytes(1000)
  const blob = registry.addBlob('ocp/release', bytes)
  const at = { registry: registry.address, repository: 'ocp/release' }
  const clientFor = (credentials: CredentialsProvider) => testClient(t, { credentials })
  const tokenRequests = () => registry.requests.filter(({ path }) => path.startsWith('/token'))
  return { registry, blob, at, clientFor, tokenRequests }
}

test('a basic challenge is answered, once for the whole process', async (t) => {
  const { registry, blob, at, clientFor } = await setUp(t, { auth: { kind: 'basic', ...known } })
  const { client } = clientFor(provider({ [registry.address]: {} }))
  for (let count = 0; count < 3; count += 1) assert.equal(await client.hasBlob(at, blob), true)
  assert.deepEqual(
    registry.requests.filter(({ path }) => path !== '/v2/').map(({ status }) => status),
    [401, 200, 200, 200],
  )
  await client.ping(registry.address)
})

test('wrong credentials are refused with their key and the next step, and without the password', async (t) => {
  const { registry, blob, at, clientFor } = await setUp(t, { auth: { kind: 'basic', ...known } })
  const { client } = clientFor(provider({ [registry.address]: { password: 'wrong-secret' } as Partial<Credentials> }))
  await assert.rejects(client.hasBlob(at, blob), (error: Error) => {
    assert.equal(Reflect.get(error, 'code'), 'REGISTRY_UNAUTHORIZED')
    assert.match(String(Reflect.get(error, 'hint')), /were refused. Log in again: podman login/)
    assert.ok(!JSON.stringify([error.message, error]).includes('wrong-secret'))
    return true
  })
  await assert.rejects(clientFor(provider({})).client.hasBlob(at, blob), (error: Error) => {
    assert.match(String(Reflect.get(error, 'hint')), /No credentials for .*ocp\/release were found/)
    return true
  })
})

test('one token serves all requests of its scope, and is asked for once by many', async (t) => {
  const { registry, blob, at, clientFor, tokenRequests } = await setUp(t, { auth: { kind: 'bearer', ...known } })
  const { client } = clientFor(provider({ [registry.address]: {} }))
  const reads = await Promise.all(Array.from({ length: 10 }, () => client.hasBlob(at, blob)))
  assert.ok(reads.every(Boolean))
  const bytes = randomBytes(100)
  await client.pushBlob(at, describeBytes(bytes), async function* () {
    yield bytes
  })
  const scopes = tokenRequests().map(({ path }) => new URL(path, registry.url).searchParams.get('scope'))
  assert.deepEqual(scopes, ['repository:ocp/release:pull', 'repository:ocp/release:pull,push'])
})

test('a token is renewed before it runs out', async (t) => {
  const { registry, blob, at, clientFor, tokenRequests } = await setUp(t, {
    auth: { kind: 'bearer', ...known, tokenSeconds: 300 },
  })
  const { client, clock } = clientFor(provider({ [registry.address]: {} }))
  await client.hasBlob(at, blob)
  clock.advance(239_000)
  await client.hasBlob(at, blob)
  assert.equal(tokenRequests().length, 1)
  clock.advance(2_000)
  await client.hasBlob(at, blob)
  assert.equal(tokenRequests().length, 2)
  assert.equal(registry.requests.filter(({ path, status }) => path !== '/v2/' && status === 401).length, 1)
})

test('a token that the registry forgot is replaced in the middle of an upload', async (t) => {
  const tokens = new Map<string, { scope: string; canWrite: boolean }>()
  const { registry, at } = await setUp(t, { auth: { kind: 'bearer', ...known, tokens } })
  const { client } = testClient(t, {
    credentials: provider({ [registry.address]: {} }),
    limits: { monolithicBytes: 1, chunkBytes: 100_000 },
  })
  const bytes = randomBytes(300_000)
  let sessions = 0
  await client.pushBlob(
    at,
    describeBytes(bytes),
    async function* (offset) {
      yield bytes.subarray(offset)
    },
    {
      onSession: () => {
        sessions += 1
        if (sessions === 2) tokens.clear()
      },
    },
  )
  assert.deepEqual(registry.content.blobs.get(describeBytes(bytes).digest)?.byteLength, 300_000)
})

test('without credentials an anonymous token is used', async (t) => {
  const { blob, at, clientFor } = await setUp(t, { auth: { kind: 'bearer', ...known, anonymousPull: true } })
  assert.equal(await clientFor(provider({})).client.hasBlob(at, blob), true)
})

test('an identity token is exchanged by POST', async (t) => {
  const { registry, blob, at, clientFor, tokenRequests } = await setUp(t, {
    auth: { kind: 'bearer', ...known, identityToken: 'refresh-me' },
  })
  const entry: Credentials = { kind: 'identity-token', username: '', token: 'refresh-me', key: 'k' }
  const { client } = clientFor({ find: async () => entry })
  assert.equal(await client.hasBlob(at, blob), true)
  assert.deepEqual(
    tokenRequests().map(({ method }) => method),
    ['POST'],
  )
  assert.ok(!registry.requests.some(({ path }) => path.includes('refresh-me')))
})

test('credentials do not go to a token service on another host', async (t) => {
  const service = await startScriptedRegistry(t, { auth: { kind: 'bearer', ...known } })
  const { registry, blob, at, clientFor } = await setUp(t, {
    auth: { kind: 'bearer', ...known, realm: `${service.url}/token` },
  })
  const { client, lines } = clientFor(provider({ [registry.address]: {} }))
  await assert.rejects(client.hasBlob(at, blob), (error: Error) => {
    assert.equal(Reflect.get(error, 'code'), 'REGISTRY_UNAUTHORIZED')
    return true
  })
  assert.ok(service.requests.length > 0)
  assert.ok(service.requests.every(({ headers, path }) => !headers.authorization && !path.includes('account')))
  assert.ok(lines.some((line) => line.includes('credentials are not sent to')))
  const { client: trusting } = clientFor(provider({ [registry.address]: {}, [service.address]: {} }))
  await assert.rejects(trusting.hasBlob(at, blob))
  assert.ok(service.requests.some(({ headers }) => headers.authorization !== undefined))
})

test('credentials do not follow a redirect to another host', async (t) => {
  const { registry, blob, at, clientFor } = await setUp(t, { auth: { kind: 'basic', ...known } })
  const storage = await startScriptedRegistry(t)
  storage.content.blobs.set(blob.digest, registry.content.blobs.get(blob.digest) ?? new Uint8Array())
  storage.content.links.add(`bucket@${blob.digest}`)
  const { client } = clientFor(provider({ [registry.address]: {} }))
  await client.ping(registry.address)
  const location = `${storage.url}/v2/bucket/blobs/${blob.digest}`
  registry.fault({ path: /blobs/, status: 307, headers: { location } })
  let received = 0
  await client.fetchBlob(at, blob).forEachChunk((chunk) => {
    received += chunk.byteLength
    return undefined
  })
  assert.equal(received, blob.size)
  assert.deepEqual(
    storage.requests.map(({ headers }) => headers.authorization),
    [undefined],
  )
})

test('a redirect that never ends is given up', async (t) => {
  const { registry, blob, at, clientFor } = await setUp(t, {})
  registry.fault({ path: /blobs/, status: 307, headers: { location: `/v2/ocp/release/blobs/${blob.digest}` } })
  await assert.rejects(clientFor(provider({})).client.hasBlob(at, blob), /more than 10 redirects/)
})

test('the right to delete is asked for by the name that every token service knows', async (t) => {
  const { registry, at, clientFor, tokenRequests } = await setUp(t, { auth: { kind: 'bearer', ...known } })
  const { digest } = registry.addManifest('ocp/release', { schemaVersion: 2, manifests: [] }, '1')
  const { client } = clientFor(provider({ [registry.address]: {} }))
  assert.equal(await client.deleteManifest({ ...at, digest }), true)
  const scopes = tokenRequests().map(({ path }) => new URL(path, registry.url).searchParams.get('scope'))
  assert.deepEqual(scopes, ['repository:ocp/release:*'])
})

test('a registry token is sent as it is, and no token service is asked', async (t) => {
  const { registry, blob, at, clientFor, tokenRequests } = await setUp(t, { auth: { kind: 'bearer', ...known } })
  const login = clientFor(provider({ [registry.address]: {} }))
  await login.client.hasBlob(at, blob)
  const [token = ''] = registry.requests.flatMap(
    ({ headers }) => /^Bearer (.*)/.exec(headers.authorization ?? '')?.[1] ?? [],
  )
  registry.requests.length = 0
  const entry = (text: string): Credentials => ({
    kind: 'registry-token',
    username: '',
    token: text,
    key: '--src-registry-token',
  })
  const { client } = clientFor(fixedCredentials(entry(token), noCredentials))
  assert.equal(await client.hasBlob(at, blob), true)
  assert.deepEqual(tokenRequests(), [])
  await assert.rejects(
    clientFor(fixedCredentials(entry('stale'), noCredentials)).client.hasBlob(at, blob),
    (error: Error) => {
      assert.equal(Reflect.get(error, 'code'), 'REGISTRY_UNAUTHORIZED')
      assert.match(String(Reflect.get(error, 'hint')), /--src-registry-token/)
      return true
    },
  )
})

test('credentials that are the same for every registry make no token service trusted', async (t) => {
  const service = await startScriptedRegistry(t, { auth: { kind: 'bearer', ...known } })
  const { blob, at, clientFor } = await setUp(t, { auth: { kind: 'bearer', ...known, realm: `${service.url}/token` } })
  const credentials: Credentials = { kind: 'password', ...known, key: '--src-creds' }
  await assert.rejects(clientFor(fixedCredentials(credentials, noCredentials)).client.hasBlob(at, blob))
  assert.ok(service.requests.length > 0)
  assert.ok(service.requests.every(({ headers }) => headers.authorization === undefined))
  const named = fixedCredentials(credentials, provider({ [service.address]: {} }))
  await assert.rejects(clientFor(named).client.hasBlob(at, blob))
  assert.ok(service.requests.some(({ headers }) => headers.authorization !== undefined))
})
