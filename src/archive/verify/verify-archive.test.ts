import assert from 'node:assert/strict'
import { generateKeyPairSync, randomInt } from 'node:crypto'
import { rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  type ArchiveContent,
  type ArchiveSample,
  contentOfImages,
  type MadeArchive,
  writeSampleArchive,
} from '../../../testkit/archive.ts'
import { makeImage } from '../../../testkit/image.ts'
import { randomBytes } from '../../../testkit/random-bytes.ts'
import { tempDir } from '../../../testkit/temp-dir.ts'
import { type Digest, digestOf } from '../../oci/digest.ts'
import { loadSigningKey, loadVerifyKey } from '../format/signature.ts'
import { volumeName } from '../format/volume-names.ts'
import { findArchives } from '../read/find-archives.ts'
import { type ArchiveVerification, type VerifyArchiveOptions, verifyArchive } from './verify-archive.ts'

const volumeBytes = 16 * 1024
const image = makeImage({ seed: 'verified', layers: 2, layerBytes: 3000 })
const failed = [
  { source: 'quay.io/x/y:1', destination: 'x/y:1', class: 'additional' as const, code: 'C', message: 'm' },
]

function blob(seed: string, size: number, algorithm: 'sha256' | 'sha512' = 'sha256'): ArchiveContent {
  const bytes = randomBytes(seed, size)
  return { digest: digestOf(bytes, algorithm), bytes }
}

const blobs = [
  blob('a', 40_000),
  blob('b', 9000),
  blob('c', 701),
  blob('d', 513, 'sha512'),
  blob('e', 20_000, 'sha512'),
]

async function sample(): Promise<ArchiveSample> {
  const images = [
    {
      source: 'quay.io/a/b:1',
      destination: 'a/b:1',
      digest: image.digest,
      class: 'additional' as const,
      why: 'asked for',
    },
    {
      source: 'quay.io/a/c:1',
      destination: 'a/c:1',
      digest: image.digest,
      class: 'additional' as const,
      why: 'asked for',
    },
  ]
  return { carried: [...blobs, ...(await contentOfImages([image]))], images, volumeBytes, plan: '{"plan":1}\n' }
}

async function verified(directory: string, options?: VerifyArchiveOptions): Promise<ArchiveVerification> {
  const [found] = await findArchives(directory)
  assert.ok(found)
  return verifyArchive(found, options)
}

async function made(t: TestContext, changes: Partial<ArchiveSample> = {}) {
  const directory = await tempDir(t)
  return { directory, archive: await writeSampleArchive(directory, { ...(await sample()), ...changes }) }
}

test('a whole archive has no findings, and every byte of it was read', async (t) => {
  for (const changes of [{}, { failed, holes: [image.blobs[0]?.descriptor.digest as Digest] }]) {
    const { directory, archive } = await made(t, changes)
    const result = await verified(directory)
    assert.deepEqual(
      result.findings.filter(({ severity }) => severity === 'error'),
      [],
    )
    assert.deepEqual(result.damage, { blobs: [], entries: [], volumes: [], ranges: [] })
    assert.equal(
      result.bytes,
      [...archive.files.values()].reduce((sum, { byteLength }) => sum + byteLength, 0),
    )
  }
})

test('every flipped bit is found, and named with the volume and a range that holds it', async (t) => {
  const seed = Number(process.env['SALLYPORT_TEST_SEED'] ?? randomInt(2 ** 31))
  t.diagnostic(`SALLYPORT_TEST_SEED=${seed}`)
  const next = generator(seed)
  const archives: { directory: string; archive: MadeArchive }[] = []
  const whole = image.blobs[0]?.descriptor.digest as Digest
  const { signer } = await keyPair(await tempDir(t), 'one')
  for (const changes of [{ signer }, { failed }, { failed, holes: [whole] }, { volumeBytes: 1024 * 1024 }]) {
    archives.push(await made(t, changes))
  }
  for (let turn = 0; turn < 1000; turn += 1) {
    const { directory, archive } = archives[turn % archives.length] ?? { directory: '', archive: undefined }
    const names = [...(archive?.files.keys() ?? [])]
    const name = names[next(names.length)] ?? ''
    const bytes = archive?.files.get(name) ?? Buffer.alloc(0)
    const at = next(bytes.byteLength)
    const bit = 1 << next(8)
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ bit
    await writeFile(join(directory, name), flipped)
    const { findings, damage } = await verified(directory)
    const what = `seed ${seed}, turn ${turn}: bit ${bit} of byte ${at} of ${name}: ${JSON.stringify(damage)}`
    const hit = damage.ranges.filter(
      ({ file, start, end }) => file === join(directory, name) && start <= at && at < end,
    )
    assert.ok(hit.length > 0, what)
    assert.ok(
      damage.ranges.every(({ file }) => file === join(directory, name)),
      what,
    )
    assert.ok(
      findings.some(({ severity }) => severity === 'error'),
      what,
    )
    assert.ok(
      findings.some(({ summary, evidence = '' }) => `${summary}${evidence}`.includes(name)),
      what,
    )
    assert.ok(damage.blobs.length + damage.entries.length <= 1, what)
    await writeFile(join(directory, name), bytes)
  }
})

/** Numbers below a limit, the same for the same seed (a linear congruential generator, Knuth's constants). */
function generator(seed: number): (limit: number) => number {
  let state = BigInt(seed)
  return (limit) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn
    return Number((state >> 33n) % BigInt(limit))
  }
}

function ids({ findings }: ArchiveVerification): string[] {
  return findings.map(({ id }) => id)
}

test('a missing volume is named, with the blobs that lie in it and the images that need them', async (t) => {
  const { directory } = await made(t)
  const whole = await verified(directory)
  const { volume = 0 } = whole.archive?.blobs.get(image.digest)?.place ?? {}
  await rm(join(directory, volumeName('sallyport-v1-000001', volume)))
  const result = await verified(directory)
  assert.deepEqual(ids(result), ['archive.volume-missing'])
  assert.deepEqual(result.damage.volumes, [volume])
  assert.ok(result.damage.blobs.includes(image.digest))
  assert.match(
    result.findings[0]?.summary ?? '',
    /: the volume is not there; needed by quay\.io\/a\/b:1, quay\.io\/a\/c:1$/,
  )
})

test('a volume that is cut or has grown is named with the bytes that are too few or too many', async (t) => {
  for (const volume of [1, 3, -1]) {
    const { directory, archive } = await made(t)
    const names = [...archive.files.keys()]
    const name = names.at(volume < 0 ? volume : volume - 1) ?? ''
    const size = archive.files.get(name)?.byteLength ?? 0
    for (const by of [-700, -1, 1, 5000]) {
      await writeFile(join(directory, name), archive.files.get(name) ?? '')
      await truncate(join(directory, name), size + by)
      const result = await verified(directory)
      const [start, end] = [Math.min(size, size + by), Math.max(size, size + by)]
      const kind = by < 0 ? 'cut' : 'longer'
      const found = result.damage.ranges.find((range) => range.kind === kind)
      assert.deepEqual([found?.file, found?.start, found?.end], [join(directory, name), start, end], `${name} ${by}`)
    }
  }
})

test('a volume of another archive, and one too many, are named for what they are', async (t) => {
  const { directory, archive } = await made(t)
  const other = await made(t, { plan: '{"plan":2}\n' })
  const names = [...archive.files.keys()]
  await writeFile(join(directory, names[2] ?? ''), other.archive.files.get(names[2] ?? '') ?? '')
  await writeFile(join(directory, 'sallyport-v1-000001-0009.tar'), archive.files.get(names[1] ?? '') ?? '')
  const result = await verified(directory)
  assert.deepEqual(new Set(ids(result)), new Set(['archive.volume-foreign', 'archive.volume-longer']))
  assert.deepEqual(result.damage.volumes, [3])
})

test('content that is damaged in several places is all named, each piece in its volume', async (t) => {
  const { directory, archive } = await made(t)
  for (const [name, bytes] of archive.files) {
    const damaged = Buffer.from(bytes)
    damaged.fill(0xff, 2048, 2060)
    if (/000[2-5]/.test(name)) await writeFile(join(directory, name), damaged)
  }
  const result = await verified(directory)
  assert.deepEqual(
    result.damage.ranges.map(({ volume, kind }) => [volume, kind]),
    [2, 3, 4, 5].map((volume) => [volume, 'content']),
  )
})

test('a damaged piece is found although the checksum of its volume is damaged in the next one', async (t) => {
  const { directory, archive } = await made(t)
  const names = [...archive.files.keys()]
  for (const [volume, at] of [
    [2, 3000],
    [3, 725],
  ] as const) {
    const bytes = Buffer.from(archive.files.get(names[volume - 1] ?? '') ?? '')
    bytes[at] = 0
    await writeFile(join(directory, names[volume - 1] ?? ''), bytes)
  }
  const { ranges } = (await verified(directory)).damage
  for (const [volume, at] of [
    [2, 3000],
    [3, 725],
  ] as const) {
    assert.ok(ranges.some((range) => range.volume === volume && range.start <= at && at < range.end))
  }
})

test('an archive without a readable index is found out, and its first volume named', async (t) => {
  const { directory, archive } = await made(t)
  const [first = ''] = archive.files.keys()
  await writeFile(join(directory, first), Buffer.alloc(volumeBytes))
  const damaged = await verified(directory)
  assert.deepEqual(ids(damaged), ['archive.index-damaged'])
  assert.deepEqual(damaged.damage.entries, ['sallyport/archive.json'])
  await rm(join(directory, first))
  const missing = await verified(directory)
  assert.deepEqual(ids(missing), ['archive.index-damaged', 'archive.volume-missing'])
  assert.deepEqual(missing.damage.volumes, [1])
})

test('holes are told as warnings', async (t) => {
  const { directory } = await made(t, { failed })
  const { findings } = await verified(directory)
  assert.deepEqual(
    findings.map(({ id, severity }) => [id, severity]),
    [['archive.hole', 'warning']],
  )
})

test('a signature is checked where a key is given, and only that key will do', async (t) => {
  const directory = await tempDir(t)
  const keys = await Promise.all(['one', 'two'].map((name) => keyPair(directory, name)))
  const [one, two] = keys
  assert.ok(one && two)
  const unsigned = await made(t)
  const signed = await made(t, { signer: one.signer })
  assert.equal((await verified(unsigned.directory)).signature, 'none')
  assert.equal((await verified(signed.directory)).signature, 'not checked')
  assert.equal((await verified(signed.directory, { verifier: one.verifier })).signature, 'valid')
  for (const [where, verifier] of [
    [signed, two.verifier],
    [unsigned, one.verifier],
  ] as const) {
    const result = await verified(where.directory, { verifier })
    assert.deepEqual(ids(result), ['archive.signature'])
    assert.notEqual(result.signature, 'valid')
  }
})

test('a flipped bit in the end record is found, in its signature too, with the key or without', async (t) => {
  const { signer } = await keyPair(await tempDir(t), 'one')
  const { directory, archive } = await made(t, { signer })
  const [name, bytes] = [...archive.files].at(-1) ?? ['', Buffer.alloc(0)]
  const begin = bytes.byteLength - 1024 - 4096
  const text = bytes.toString('latin1', begin, begin + 4096)
  for (let at = 0; at < text.trimEnd().length; at += 3) {
    const flipped = Buffer.from(bytes)
    flipped[begin + at] = (flipped[begin + at] ?? 0) ^ 2
    await writeFile(join(directory, name), flipped)
    const { findings } = await verified(directory)
    assert.ok(
      findings.some(({ severity }) => severity === 'error'),
      `byte ${at} of ${text}`,
    )
  }
})

test('bytes that the disk does not give are named, and everything else is still proven', async (t) => {
  const { directory, archive } = await made(t)
  const [found] = await findArchives(directory)
  assert.ok(found)
  const name = [...archive.files.keys()][3] ?? ''
  await truncate(join(directory, name), 9000)
  const { damage, findings } = await verifyArchive(found)
  const unreadable = damage.ranges.filter(({ kind }) => kind === 'unreadable')
  assert.deepEqual(
    unreadable.map(({ volume, start, end }) => ({ volume, start, end })),
    [
      { volume: 4, start: 8192, end: 12_288 },
      { volume: 4, start: 12_288, end: 16_384 },
    ],
  )
  assert.ok(findings.every(({ summary }) => summary.includes(name)))
})

async function keyPair(directory: string, name: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const [secret, open] = [join(directory, `${name}.pem`), join(directory, `${name}.pub.pem`)]
  await writeFile(secret, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(open, publicKey.export({ type: 'spki', format: 'pem' }))
  return { signer: await loadSigningKey(secret), verifier: await loadVerifyKey(open) }
}
