/** The clients that people have, between two embedded registries with TLS and passwords. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { systemClock } from '../../src/host/clock.ts'
import { createAccount } from '../../src/registry/account.ts'
import { selfSignedCertificate } from '../../src/registry/certificate.ts'
import type { RunningRegistry } from '../../src/registry/server.ts'
import { Repository } from '../../src/store/repository.ts'
import { makeMultiArch } from '../../testkit/image.ts'
import { type Peer, peer } from '../../testkit/peers.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testRegistry } from '../../testkit/test-registry.ts'

const run = promisify(execFile)
const image = makeMultiArch({ seed: 'peers', architectures: ['amd64', 'arm64'], layerBytes: 300_000, tag: 'v1' })

interface Site {
  readonly directory: string
  readonly source: RunningRegistry
  readonly target: RunningRegistry
  /** Holds `ca.crt`. */
  readonly certificates: string
  /** Credentials for both registries. */
  readonly authFile: string
  readonly password: string
  /** Runs the peer. */
  readonly call: (...args: string[]) => Promise<string>
}

/** Two registries, the first with the image at peers/image:v1; undefined where the peer is missing. */
async function site(t: TestContext, name: Peer): Promise<Site | undefined> {
  const program = peer(t, name)
  if (program === undefined) return undefined
  const directory = await tempDir(t)
  const root = join(directory, 'source')
  const account = await createAccount(root, 'admin')
  assert.ok(account)
  const tls = await selfSignedCertificate({ root, hosts: ['127.0.0.1', 'localhost'], clock: systemClock })
  const options = { tls, htpasswd: account.htpasswd }
  const source = await testRegistry(t, { ...options, root })
  const target = await testRegistry(t, { ...options, root: join(directory, 'target') })
  await fill(source)
  const password = (await readFile(account.passwordFile, 'utf8')).trim()
  const auth = Buffer.from(`admin:${password}`).toString('base64')
  const authFile = join(directory, 'docker', 'config.json')
  await mkdir(join(directory, 'docker'))
  await writeFile(authFile, JSON.stringify({ auths: { [source.address]: { auth }, [target.address]: { auth } } }))
  const certificates = join(directory, 'certificates')
  await mkdir(certificates)
  await copyFile(tls.caFile, join(certificates, 'ca.crt'))
  const env = {
    PATH: process.env['PATH'],
    HOME: directory,
    DOCKER_CONFIG: join(directory, 'docker'),
    REGISTRY_AUTH_FILE: authFile,
    SSL_CERT_FILE: tls.caFile,
  }
  const call = async (...args: string[]) => (await run(program, args, { env })).stdout
  return { directory, source, target, certificates, authFile, password, call }
}

async function fill({ store }: RunningRegistry): Promise<void> {
  const repository = new Repository(store, 'peers/image')
  for (const blob of image.blobs) {
    await store.put(blob.descriptor, blob.open(), 'test')
    repository.addBlob(blob.descriptor.digest)
  }
  for (const { descriptor, bytes, tag } of image.manifests) {
    const { digest, mediaType } = descriptor
    await repository.putManifest({ digest, mediaType, bytes, tags: tag === undefined ? [] : [tag] }, () => undefined)
  }
}

function requireWholeCopy({ target }: Site): void {
  const copy = new Repository(target.store, 'peers/copy')
  assert.equal(copy.resolve('v1'), image.digest)
  for (const { descriptor } of image.manifests) assert.equal(copy.mediaTypeOf(descriptor.digest), descriptor.mediaType)
  for (const { descriptor } of image.blobs) {
    assert.ok(copy.hasBlob(descriptor.digest))
    assert.equal(target.store.sizeOf(descriptor.digest), descriptor.size)
  }
}

test('skopeo copies every architecture', async (t) => {
  const here = await site(t, 'skopeo')
  if (here === undefined) return
  const { source, target, certificates, call } = here
  const certs = ['--src-cert-dir', certificates, '--dest-cert-dir', certificates]
  await call(
    '--insecure-policy',
    'copy',
    '--all',
    ...certs,
    `docker://${source.address}/peers/image:v1`,
    `docker://${target.address}/peers/copy:v1`,
  )
  requireWholeCopy(here)
})

for (const [name, ...words] of [
  ['crane', 'copy'],
  ['regctl', 'image', 'copy'],
  ['oras', 'cp'],
] as const) {
  test(`${name} copies every architecture`, async (t) => {
    const here = await site(t, name)
    if (here === undefined) return
    await here.call(...words, `${here.source.address}/peers/image:v1`, `${here.target.address}/peers/copy:v1`)
    requireWholeCopy(here)
  })
}

test('podman logs in, pulls and pushes; with a wrong password it does not', async (t) => {
  const here = await site(t, 'podman')
  if (here === undefined) return
  const { directory, source, target, certificates, password, call } = here
  const storage = ['--root', join(directory, 'storage'), '--runroot', join(directory, 'run'), '--storage-driver', 'vfs']
  const certs = ['--cert-dir', certificates]
  const login = (given: string) =>
    call('login', ...certs, '--authfile', join(directory, 'login.json'), '-u', 'admin', '-p', given, source.address)
  await assert.rejects(login('wrong'), /(unauthorized|authentication required|invalid username)/i)
  assert.match(await login(password), /Login Succeeded/)
  await call(...storage, 'pull', ...certs, '--quiet', `${source.address}/peers/image:v1`)
  await call(
    ...storage,
    'push',
    ...certs,
    '--quiet',
    `${source.address}/peers/image:v1`,
    `${target.address}/peers/copy:v1`,
  )
  const digest = new Repository(target.store, 'peers/copy').resolve('v1')
  assert.ok(digest !== undefined && target.store.sizeOf(digest) !== undefined)
})
