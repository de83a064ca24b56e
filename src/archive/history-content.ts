/** What an archive in the history brought: its images, its content, and what each of its manifests needs. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { KnownError } from '../errors/known-error.ts'
import { type Digest, digestOf, isDigest } from '../oci/digest.ts'
import type { HistoryEntry } from './archive-history.ts'
import { parseBlobs, parseRecord } from './archive-index.ts'
import type { ArchiveImage } from './records.ts'

export interface HistoryContent {
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

const DigestText = z.custom<Digest>((value) => typeof value === 'string' && isDigest(value))
const ManifestLine = z.object({ digest: DigestText, needs: z.array(DigestText) })

/** @throws KnownError ARCHIVE_INVALID where the record is not what was recorded */
export async function readHistoryContent(entry: HistoryEntry): Promise<HistoryContent> {
  const path = (name: string) => join(entry.directory, name)
  const recordBytes = await readProven(path('archive.json'), entry.id)
  const { images, files } = parseRecord(recordBytes, path('archive.json'))
  const blobs = parseBlobs(await readProven(path('blobs.txt'), files.blobs.digest), path('blobs.txt'))
  return {
    images,
    carried: blobs.filter(({ place }) => place !== undefined).map(({ digest }) => digest),
    missing: new Set(entry.missing),
    needs: needsOf(await readProven(path('plan.json'), files.plan.digest), path('plan.json')),
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

/** Manifests are the last part of a plan, one a line: the rest of it, which is many times as long, need not be parsed. */
function needsOf(plan: Buffer, path: string): Map<Digest, readonly Digest[]> {
  const start = plan.lastIndexOf('\n"manifests":[\n')
  const manifests = start < 0 ? [] : plan.toString('utf8', start).split('\n').slice(2, -3)
  const needs = new Map<Digest, readonly Digest[]>()
  try {
    for (const line of manifests) {
      const manifest = ManifestLine.parse(JSON.parse(line.replace(/,$/, '')))
      needs.set(manifest.digest, manifest.needs)
    }
  } catch (cause) {
    throw damagedRecord(path, cause)
  }
  return needs
}

function damagedRecord(path: string, cause?: unknown): KnownError {
  return new KnownError('ARCHIVE_INVALID', `${path} is damaged: it is not what was recorded`, {
    details: { file: path },
    hint: 'Make a full archive (--full), or delete the directory of this file: what that archive carried is then carried again.',
    cause,
  })
}
