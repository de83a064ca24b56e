/** What the archives of a history brought: their images, their content, and what each of their manifests needs. */
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { KnownError } from '../../errors/known-error.ts'
import { type Digest, digestOf, hasherFor, isDigest } from '../../oci/digest.ts'
import { digestText } from '../../oci/digest-text.ts'
import { parseRecord } from '../format/archive-index.ts'
import type { ArchiveImage } from '../format/records.ts'
import type { HistoryEntry } from './archive-history.ts'

interface HistoryContent {
  readonly images: readonly ArchiveImage[]
  /** Blobs and manifests that the archive carries, by its index. */
  readonly carried: readonly Digest[]
  /** Those of them that did not get into it, or not out of it. */
  readonly missing: ReadonlySet<Digest>
  /** What each manifest of the plan names: its blobs, or its manifests. */
  readonly needs: ReadonlyMap<Digest, readonly Digest[]>
}

/** What several archives brought together. */
export interface HistorySum {
  readonly carried: ReadonlySet<Digest>
  /** Of what was carried: what is missing from none of the archives, or came with another. */
  readonly arrived: ReadonlySet<Digest>
  readonly needs: ReadonlyMap<Digest, readonly Digest[]>
  /** Images by `imageKey`, each followed by what is attached to it, as the latest archive has them. */
  readonly images: ReadonlyMap<string, readonly ArchiveImage[]>
  /** Those of the last archive. */
  readonly lastImages: readonly ArchiveImage[]
}

const DigestText = digestText()
const ManifestLine = z.object({ digest: DigestText, needs: z.array(DigestText) })

/** @throws KnownError ARCHIVE_INVALID where the record is not what was recorded */
async function readHistoryContent(entry: HistoryEntry): Promise<HistoryContent> {
  const path = (name: string) => join(entry.directory, name)
  const recordBytes = await readProven(path('archive.json'), entry.id)
  const { images, files } = parseRecord(recordBytes, path('archive.json'))
  return {
    images,
    carried: carriedIn(await readProven(path('blobs.txt'), files.blobs.digest), path('blobs.txt')),
    missing: new Set(entry.missing),
    needs: await readNeeds(path('plan.json'), files.plan.digest),
  }
}

/**
 * @param entries the oldest first
 * @throws KnownError ARCHIVE_INVALID
 */
export async function sumHistory(entries: readonly HistoryEntry[]): Promise<HistorySum> {
  const carried = new Set<Digest>()
  const arrived = new Set<Digest>()
  const needs = new Map<Digest, readonly Digest[]>()
  const images = new Map<string, readonly ArchiveImage[]>()
  let lastImages: readonly ArchiveImage[] = []
  // One after the other: each lists every image that was wanted, and what a later one says again is let go.
  for (const entry of entries) {
    const content = await readHistoryContent(entry)
    for (const digest of content.carried) {
      carried.add(digest)
      if (!content.missing.has(digest)) arrived.add(digest)
    }
    for (const [digest, list] of content.needs) needs.set(digest, list)
    for (const group of groupsOf(content.images)) images.set(imageKey(group[0]), group)
    lastImages = content.images
  }
  return { carried, arrived, needs, images, lastImages }
}

export function imageKey({ source, destination }: Pick<ArchiveImage, 'source' | 'destination'>): string {
  return `${source} ${destination}`
}

function groupsOf(images: readonly ArchiveImage[]): readonly [ArchiveImage, ...ArchiveImage[]][] {
  const groups: [ArchiveImage, ...ArchiveImage[]][] = []
  for (const image of images) {
    if (image.attachedTo === undefined) groups.push([image])
    else groups.at(-1)?.push(image)
  }
  return groups
}

async function readProven(path: string, digest: Digest): Promise<Buffer> {
  let bytes: Buffer
  try {
    bytes = await readFile(path)
  } catch (cause) {
    throw damagedRecord(path, cause)
  }
  if (digestOf(bytes) !== digest) throw damagedRecord(path)
  return bytes
}

const space = 0x20
const lineFeed = 0x0a
const digestEnd = 'sha256:'.length + 64
/** Of the size, and of the volume, in a line of `blobs.txt`; 0 is the volume of what is not carried. */
const [sizeDigits, volumeDigits] = [15, 9]

/** Only the digests are kept of a hundred thousand lines. What is not carried comes last. */
function carriedIn(table: Buffer, path: string): Digest[] {
  const carried: Digest[] = []
  for (let start = 0; start < table.length; start = table.indexOf(lineFeed, start) + 1) {
    const end = table[start + digestEnd] === space ? start + digestEnd : table.indexOf(space, start)
    const digest = table.toString('latin1', start, end)
    const volume = end + 1 + sizeDigits + 1
    const isCarried = /[1-9]/.test(table.toString('latin1', volume, volume + volumeDigits))
    if (!isDigest(digest)) throw damagedRecord(path)
    if (!isCarried) break
    carried.push(digest)
  }
  return carried
}

const manifestsMark = Buffer.from('\n"manifests":[\n')

/** Manifests are the last part of a plan, one a line: the rest of it, which is many times as long, is only hashed. */
async function readNeeds(path: string, digest: Digest): Promise<Map<Digest, readonly Digest[]>> {
  const needs = new Map<Digest, readonly Digest[]>()
  const hash = hasherFor('sha256')
  let rest: Buffer = Buffer.alloc(0)
  let isInside = false
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
      hash.update(chunk)
      rest = Buffer.concat([rest, chunk])
      const mark: number = isInside ? -1 : rest.indexOf(manifestsMark)
      if (mark >= 0) rest = rest.subarray(mark + manifestsMark.length)
      isInside ||= mark >= 0
      rest = isInside ? takeManifests(rest, needs) : rest.subarray(Math.max(0, rest.length - manifestsMark.length))
    }
  } catch (cause) {
    throw damagedRecord(path, cause)
  }
  if (`sha256:${hash.digest('hex')}` !== digest) throw damagedRecord(path)
  return needs
}

/** @returns what is left after the last whole line */
function takeManifests(bytes: Buffer, needs: Map<Digest, readonly Digest[]>): Buffer {
  let start = 0
  for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, start)) {
    const line = bytes.toString('utf8', start, end)
    start = end + 1
    if (!line.startsWith('{')) continue
    const manifest = ManifestLine.parse(JSON.parse(line.replace(/,$/, '')))
    needs.set(manifest.digest, manifest.needs)
  }
  return bytes.subarray(start)
}

function damagedRecord(path: string, cause?: unknown): KnownError {
  return new KnownError('ARCHIVE_INVALID', `${path} is damaged: it is not what was recorded`, {
    details: { file: path },
    hint: 'Make a full archive (--full), or delete the directory of this file: what that archive carried is then carried again.',
    cause,
  })
}
