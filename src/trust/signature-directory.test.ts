import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeReleaseSigner, signRelease } from '../../testkit/release-signing.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { KnownError } from '../errors/known-error.ts'
import { createLog, silentLog } from '../host/log.ts'
import type { Digest } from '../oci/digest.ts'
import { loadKeys } from './openpgp-keys.ts'
import { SignatureDirectory, withSignatureCache } from './signature-directory.ts'
import { signaturesFromOcMirror } from './signature-documents.ts'
import type { ReleaseSignature, SignatureSource } from './signature-source.ts'
import { verifyRelease } from './verify-release.ts'

const hex = 'ab'.repeat(32)
const digest: Digest = `sha256:${hex}`
const { signal } = new AbortController()

async function verifiedSignatures(...references: readonly string[]) {
  const signer = await makeReleaseSigner()
  const keys = await loadKeys([{ content: signer.publicKey, origin: 'test' }])
  return Promise.all(
    references.map(async (reference, index) => {
      const bytes = await signRelease(signer, { digest, reference })
      return verifyRelease({ number: index + 1, bytes }, { digest, keys, now: Date.UTC(2026, 10, 21) })
    }),
  )
}

function sourceOf(...signatures: readonly Uint8Array[]): SignatureSource {
  return {
    readSignatures: async () => signatures.map((bytes, index): ReleaseSignature => ({ number: index + 1, bytes })),
  }
}

test('signatures are kept under the name that oc-mirror looks for, further ones beside it, and none twice', async (t) => {
  const path = join(await tempDir(t), 'signatures')
  const directory = new SignatureDirectory(path)
  assert.deepEqual(await directory.readSignatures(digest, signal), [])
  const signatures = await verifiedSignatures(
    'quay.io/example/ocp-release:4.18.9-x86_64',
    'quay.io/example/other:v2',
    'quay.io/example/other@sha256:00',
  )
  await directory.keep(digest, signatures, signal)
  await directory.keep(digest, signatures.toReversed(), signal)
  assert.deepEqual((await readdir(path)).toSorted(), [
    `4.18.9-x86_64-sha256-${hex}`,
    `release-sha256-${hex}-3`,
    `v2-sha256-${hex}-2`,
  ])
  const read = await directory.readSignatures(digest, signal)
  assert.deepEqual(
    read.map(({ number, bytes }) => [
      number,
      Buffer.from(bytes).equals(signatures[number - 1]?.bytes ?? new Uint8Array()),
    ]),
    [
      [1, true],
      [2, true],
      [3, true],
    ],
  )
  assert.deepEqual(await directory.readSignatures(`sha256:${'cd'.repeat(32)}`, signal), [])
})

test('what a source has comes first, and what the directory has besides is not lost', async (t) => {
  const directory = new SignatureDirectory(await tempDir(t))
  const signatures = await verifiedSignatures('example.com/a:1', 'example.com/a:2')
  await directory.keep(digest, signatures, signal)
  const [first, second] = signatures
  const fresh = Buffer.from('fresh')
  const source = withSignatureCache(sourceOf(fresh, second?.bytes ?? fresh), directory, silentLog)
  assert.deepEqual(
    (await source.readSignatures(digest, signal)).map(({ number, bytes }) => [number, bytes]),
    [
      [1, fresh],
      [2, second?.bytes],
      [3, Buffer.from(first?.bytes ?? fresh)],
    ],
  )
})

test('a store that is not available is made up for by what an earlier run kept, and said so; without that it is an error', async (t) => {
  const directory = new SignatureDirectory(await tempDir(t))
  const unavailable: SignatureSource = {
    readSignatures: () => Promise.reject(new KnownError('SIGNATURE_UNAVAILABLE', 'no answer')),
  }
  const lines: string[] = []
  const source = withSignatureCache(
    unavailable,
    directory,
    createLog('warn', (line) => lines.push(line)),
  )
  await assert.rejects(source.readSignatures(digest, signal), { code: 'SIGNATURE_UNAVAILABLE' })
  await directory.keep(digest, await verifiedSignatures('example.com/a:1'), signal)
  assert.equal((await source.readSignatures(digest, signal)).length, 1)
  assert.deepEqual(lines, ['no answer; the signatures of an earlier run are used'])
})

test('signatures of an oc-mirror archive are found by their digest', async (t) => {
  const root = await tempDir(t)
  await writeFile(join(root, 'a'), 'one')
  const names = [
    `working-dir/signatures/4.14.1-x86_64-sha256-${hex}`,
    `working-dir/other/x-sha256-${hex}`,
    'working-dir/signatures/readme',
  ]
  const asked: string[] = []
  const source = signaturesFromOcMirror(names, async (name) => {
    asked.push(name)
    return readFile(join(root, 'a'))
  })
  assert.deepEqual(await source.readSignatures(digest, signal), [{ number: 1, bytes: Buffer.from('one') }])
  assert.deepEqual(asked, [names[0]])
})
