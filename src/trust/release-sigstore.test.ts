import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeMultiArch } from '../../testkit/image.ts'
import { startScriptedRegistry } from '../../testkit/scripted-registry.ts'
import { pushAll } from '../../testkit/seed.ts'
import { makeSigningKey, makeSigstoreSignature, signatureTag } from '../../testkit/sigstore-signing.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { testClient } from '../../testkit/test-client.ts'
import type { Digest } from '../oci/digest.ts'
import { loadSigstoreKey, type ReleaseSigstoreRequest, verifyReleaseSigstore } from './release-sigstore.ts'

const key = makeSigningKey()
const release = makeMultiArch({ seed: 'release', architectures: ['amd64', 'arm64'], layers: 1, tag: '4.18.9-multi' })
const instances = release.manifests.slice(0, -1).map(({ descriptor }) => descriptor.digest)

async function requestFor(t: TestContext, signed: readonly Digest[], name: string): Promise<ReleaseSigstoreRequest> {
  const registry = await startScriptedRegistry(t)
  const { client } = testClient(t)
  const tags = signed.map((digest) =>
    signatureTag(digest, [makeSigstoreSignature({ key, digest, dockerReference: `${registry.address}/${name}` })]),
  )
  await pushAll(client, registry.address, [{ repository: 'dev/ocp-release', images: [release, ...tags] }])
  const file = join(await tempDir(t), 'cosign.pub')
  await writeFile(file, key.publicPem)
  return {
    source: client,
    image: { registry: registry.address, repository: 'dev/ocp-release', digest: release.digest },
    digest: release.digest,
    instances,
    keys: [await loadSigstoreKey(file)],
    signal: t.signal,
  }
}

test('the release image and each of its manifests is signed, whatever tag was signed', async (t) => {
  const request = await requestFor(t, [release.digest, ...instances], 'dev/ocp-release:4.18.9-x86_64')
  const verified = await verifyReleaseSigstore(request)
  assert.deepEqual(
    verified.map(({ digest }) => digest),
    [release.digest, ...instances],
  )
})

for (const [title, missing] of [
  ['the index', release.digest],
  ['one architecture', instances.at(-1)],
] as const) {
  test(`a release of which ${title} is not signed is refused, by the digest that is not`, async (t) => {
    const signed = [release.digest, ...instances].filter((digest) => digest !== missing)
    await assert.rejects(verifyReleaseSigstore(await requestFor(t, signed, 'dev/ocp-release')), (error: Error) => {
      assert.match(error.message, new RegExp(`ocp-release@${missing} has no sigstore signature`))
      return 'code' in error && error.code === 'SIGNATURE_MISSING'
    })
  })
}

test('a signature for another repository does not count', async (t) => {
  const request = await requestFor(t, [release.digest, ...instances], 'dev/something-else')
  await assert.rejects(verifyReleaseSigstore(request), { code: 'SIGNATURE_INVALID', message: /for the name/ })
})

test('a key file that is not there, or holds no key, is an error by its name', async (t) => {
  const file = join(await tempDir(t), 'none.pub')
  await assert.rejects(loadSigstoreKey(file), { code: 'FILE_UNREADABLE', message: /none\.pub/ })
  await writeFile(file, key.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await assert.rejects(loadSigstoreKey(file), { code: 'KEY_INVALID', message: /none\.pub: it holds no public key/ })
})
