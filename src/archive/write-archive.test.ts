import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import * as fc from 'fast-check'
import { type ArchiveContent, type ArchiveSample, makeArchive } from '../../testkit/archive.ts'
import { randomBytes } from '../../testkit/random-bytes.ts'
import { tempDir } from '../../testkit/temp-dir.ts'
import { mapConcurrently } from '../host/concurrency.ts'
import type { OpenBlob } from '../oci/content.ts'
import { digestOf } from '../oci/digest.ts'
import { mediaTypes } from '../oci/media-type.ts'
import { parseReference } from '../oci/reference.ts'
import type { ArchiveDraft } from './compose-front.ts'
import { archiveStem } from './volume-names.ts'
import { type ArchiveWriteOptions, ArchiveWriter } from './write-archive.ts'

const repository = parseReference('registry.test/some/where')

function draftOf(sample: ArchiveSample): ArchiveDraft {
  const { carried, held = [], images = [], sequence = 1, kind = 'full', volumeBytes = 1024 * 1024, failed } = sample
  const known = ({ digest, bytes, mediaType }: ArchiveContent) => ({
    digest,
    size: bytes.byteLength,
    ...(mediaType !== undefined && { mediaType }),
  })
  return {
    ...{ kind, sequence, volumeBytes, configuration: sample.configuration ?? '' },
    ...(failed && { failed: [...failed] }),
    ...{ carried: carried.map(known), held: held.map(known), images: [...images], plan: () => [sample.plan ?? '{}\n'] },
  }
}

function open(directory: string, sample: ArchiveSample, options: Partial<ArchiveWriteOptions> = {}) {
  const { signal } = new AbortController()
  const stem = archiveStem(sample.sequence ?? 1)
  return ArchiveWriter.open({ directory, stem, draft: draftOf(sample), signal, ...options })
}

function opening(bytes: Uint8Array, chunkBytes = 64 * 1024): OpenBlob {
  return async function* (offset) {
    for (let at = offset; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  }
}

async function push(writer: ArchiveWriter, { digest, bytes, mediaType = '' }: ArchiveContent, chunkBytes?: number) {
  const descriptor = { digest, size: bytes.byteLength, mediaType }
  if (mediaType) await writer.pushManifest({ ...repository, digest }, { descriptor, bytes })
  else await writer.pushBlob(repository, descriptor, opening(bytes, chunkBytes))
}

/** Writes an archive whole, except what is to be a hole. */
async function write(
  t: Pick<TestContext, 'after'>,
  sample: ArchiveSample,
  { concurrency = 4, chunkBytes = 65536 } = {},
) {
  const directory = await tempDir(t)
  const writer = await open(directory, sample, sample.signer && { signer: sample.signer })
  const wanted = sample.carried.filter(({ digest }) => !sample.holes?.includes(digest))
  await mapConcurrently(wanted, concurrency, (content) => push(writer, content, chunkBytes))
  const sealed = await writer.seal([])
  await writer.close()
  return { directory, sealed }
}

async function filesIn(directory: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(directory)).sort()
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)))
}

/** Names the first difference instead of printing megabytes. */
function assertSame(actual: ReadonlyMap<string, Buffer>, expected: ReadonlyMap<string, Buffer>): void {
  assert.deepEqual([...actual.keys()], [...expected.keys()])
  for (const [name, bytes] of expected) {
    const other = actual.get(name) ?? Buffer.alloc(0)
    const at = bytes.equals(other) ? -1 : bytes.findIndex((byte, index) => byte !== other[index])
    assert.equal(at, -1, `${name} differs at ${at}; ${other.byteLength} of ${bytes.byteLength} bytes`)
    assert.equal(other.byteLength, bytes.byteLength, name)
  }
}

function contentOf(sizes: readonly number[], seed = 'content'): ArchiveContent[] {
  return sizes.map((size, index) => {
    const bytes = randomBytes(`${seed}/${index}`, size)
    const digest = digestOf(bytes, index % 5 === 3 ? 'sha512' : 'sha256')
    return { digest, bytes, ...(index % 3 === 2 && { mediaType: mediaTypes.ociManifest }) }
  })
}

const samples = fc
  .record({
    sizes: fc.array(fc.oneof(fc.nat(3000), fc.nat(60_000), fc.constantFrom(1, 511, 512, 513)), { maxLength: 12 }),
    blocks: fc.nat(80),
    plan: fc.nat(20_000),
    seed: fc.string({ maxLength: 4 }),
    holes: fc.array(fc.nat(11), { maxLength: 3 }),
  })
  .map(({ sizes, blocks, plan, seed, holes }): ArchiveSample => {
    const made = contentOf(sizes, seed)
    const carried = [...new Map(made.map((content) => [content.digest, content])).values()]
    return {
      carried,
      volumeBytes: (20 + blocks) * 512,
      plan: 'p'.repeat(plan),
      holes: carried.filter((_, index) => holes.includes(index)).map(({ digest }) => digest),
    }
  })

test('whatever is carried, in volumes of whatever size, the bytes are those that the format says', async (t) => {
  await fc.assert(
    fc.asyncProperty(samples, fc.constantFrom(1, 3, 16), async (sample, concurrency) => {
      const { directory } = await write(t, sample, { concurrency, chunkBytes: 1000 })
      assertSame(await filesIn(directory), makeArchive(sample).files)
    }),
    { numRuns: 100 },
  )
})
