/** The entries behind the last blob: they tell what became of the plan. Pure. */

import { type Digest, digestOf } from '../../oci/digest.ts'
import { mediaTypes } from '../../oci/media-type.ts'
import type { ArchiveBlob, ArchiveIndex } from './archive-index.ts'
import { entryNames, fixedJson, formatName, formatVersion, sizes } from './format.ts'
import type { ArchiveHole, ArchiveHoles, EndRecord, VolumeRecord } from './records.ts'
import { type ArchiveSigner, archiveMessage } from './signature.ts'

interface ClosingEntry {
  readonly name: string
  readonly bytes: Uint8Array
}

/** The entries between the last blob and the end record, in their order. */
export function closingEntries({ record, blobs }: ArchiveIndex, holes: ArchiveHoles): readonly ClosingEntry[] {
  const missing = new Set<string>([...holes.blobs, ...holes.images.map(({ destination }) => destination)])
  const carried = new Map(blobs.flatMap((blob) => (blob.place ? [[blob.digest, blob] as const] : [])))
  const lines = new Set(
    record.images.flatMap(({ digest, destination }) => {
      const manifest = carried.get(digest)
      if (!manifest || missing.has(digest) || missing.has(destination)) return []
      return [JSON.stringify(descriptorOf(manifest, destination))]
    }),
  )
  const index = { schemaVersion: 2, mediaType: mediaTypes.ociIndex }
  const layout = { imageLayoutVersion: '1.0.0' }
  return [
    { name: entryNames.holes, bytes: holesText(holes) },
    { name: entryNames.layout, bytes: Buffer.from(`${JSON.stringify(layout)}\n`) },
    { name: entryNames.index, bytes: withLines(index, { manifests: [...lines] }) },
  ]
}

/** What is missing, together with what was already missing when the archive was planned. */
export function holesOf(
  { record }: ArchiveIndex,
  images: readonly ArchiveHole[],
  blobs: readonly Digest[],
): ArchiveHoles {
  const all = new Map([...(record.failed ?? []), ...images].map((hole) => [`${hole.destination} ${hole.source}`, hole]))
  return { format: formatName, version: formatVersion, images: [...all.values()], blobs: [...blobs] }
}

export function endRecord(
  { id, record }: ArchiveIndex,
  { volumes, checksum, holes }: { volumes: number; checksum: string; holes: ArchiveHoles },
  signer?: ArchiveSigner,
): Uint8Array {
  const end: EndRecord = {
    format: formatName,
    version: formatVersion,
    id,
    sequence: record.sequence,
    volumes,
    checksum,
    holes: holes.images.length + holes.blobs.length,
  }
  if (!signer) return fixedJson(end, sizes.endRecord)
  const { key, value } = signer.sign(archiveMessage(end))
  const sum = digestOf(`${key} ${value}`).slice('sha256:'.length, 'sha256:'.length + 16)
  return fixedJson({ ...end, signature: { key, value, sum } }, sizes.endRecord)
}

/** @param previous checksum of the volume before; null in the first */
export function volumeRecord({ id, record }: ArchiveIndex, volume: number, previous: string | null): Uint8Array {
  const { sequence } = record
  const document: VolumeRecord = { format: formatName, version: formatVersion, id, sequence, volume, previous }
  return fixedJson(document, sizes.volumeRecord)
}

function holesText({ images, blobs, ...fields }: ArchiveHoles): Buffer {
  return withLines(fields, {
    images: images.map((image) => JSON.stringify(image)),
    blobs: blobs.map((digest) => JSON.stringify(digest)),
  })
}

/** A document with lists that have a line for each item. */
function withLines(fields: object, lists: Readonly<Record<string, readonly string[]>>): Buffer {
  const rendered = Object.entries(lists).map(([name, lines]) => `"${name}":[\n${lines.join(',\n')}\n]`)
  return Buffer.from(`${JSON.stringify(fields).slice(0, -1)},${rendered.join(',')}}\n`)
}

/** Named as tools look for it: `REPOSITORY:TAG` (image-spec annotations.md); what has no tag is found by its digest. */
function descriptorOf({ digest, size, mediaType = '' }: ArchiveBlob, destination: string): object {
  const isTagged = !destination.includes('@')
  const annotations = { 'org.opencontainers.image.ref.name': destination }
  return { mediaType, digest, size, ...(isTagged && { annotations }) }
}
