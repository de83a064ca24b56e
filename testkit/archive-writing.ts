/** Archives written by the writer itself, from content that a test has in memory. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ArchiveDraft } from '../src/archive/format/compose-front.ts'
import { archiveStem } from '../src/archive/format/volume-names.ts'
import { type ArchiveWriteOptions, ArchiveWriter } from '../src/archive/write/write-archive.ts'
import type { OpenBlob } from '../src/oci/content.ts'
import { digestOf } from '../src/oci/digest.ts'
import { mediaTypes } from '../src/oci/media-type.ts'
import { parseReference } from '../src/oci/reference.ts'
import type { ArchiveContent, ArchiveSample } from './archive.ts'
import { randomBytes } from './random-bytes.ts'

const repository = parseReference('registry.test/some/where')

/** What `makeArchive` makes of the same sample is what the writer has to write. */
export function draftOf(sample: ArchiveSample): ArchiveDraft {
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

export function openWriter(
  directory: string,
  sample: ArchiveSample,
  options: Partial<ArchiveWriteOptions> = {},
): Promise<ArchiveWriter> {
  const { signal } = new AbortController()
  const stem = archiveStem(sample.sequence ?? 1)
  const { signer } = sample
  return ArchiveWriter.open({ directory, stem, draft: draftOf(sample), signal, ...(signer && { signer }), ...options })
}

/** @param chunkBytes how many bytes the source gives at a time */
export async function pushContent(
  writer: ArchiveWriter,
  { digest, bytes, mediaType = '' }: ArchiveContent,
  open: OpenBlob = chunksOf(bytes),
): Promise<void> {
  const descriptor = { digest, size: bytes.byteLength, mediaType }
  if (mediaType) await writer.pushManifest({ ...repository, digest }, { descriptor, bytes })
  else await writer.pushBlob(repository, descriptor, open)
}

export function chunksOf(bytes: Uint8Array, chunkBytes = 64 * 1024): OpenBlob {
  return async function* (offset) {
    for (let at = offset; at < bytes.byteLength; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  }
}

/** Blobs and manifests of these sizes, with digests of both kinds; no two are the same. */
export function sampleContent(sizes: readonly number[], seed = 'content'): readonly ArchiveContent[] {
  const made = sizes.map((size, index): ArchiveContent => {
    const bytes = randomBytes(`${seed}/${index}`, size)
    const digest = digestOf(bytes, index % 5 === 3 ? 'sha512' : 'sha256')
    return { digest, bytes, ...(index % 3 === 2 && { mediaType: mediaTypes.ociManifest }) }
  })
  return [...new Map(made.map((content) => [content.digest, content])).values()]
}

export async function filesIn(directory: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(directory)).sort()
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name))] as const)))
}

/** The first difference between two archives, in words; undefined where they are the same. */
export function firstDifference(
  actual: ReadonlyMap<string, Buffer>,
  expected: ReadonlyMap<string, Buffer>,
): string | undefined {
  const names = [...actual.keys()].join(' ')
  if (names !== [...expected.keys()].join(' ')) return `files are ${names}, expected ${[...expected.keys()].join(' ')}`
  for (const [name, bytes] of expected) {
    const other = actual.get(name) ?? Buffer.alloc(0)
    if (bytes.equals(other)) continue
    const at = bytes.findIndex((byte, index) => byte !== other[index])
    return `${name} differs at ${at}; it has ${other.byteLength} bytes, expected ${bytes.byteLength}`
  }
  return undefined
}
