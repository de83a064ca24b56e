/** The JSON documents of an archive. `docs/archive-format.md` says them for other readers. */
import * as z from 'zod'
import { digestText } from '../../oci/digest-text.ts'
import { formatName, formatVersion } from './format.ts'

const DigestText = digestText()
const Hex64 = z.string().regex(/^[0-9a-f]{64}$/)

const FormatFields = { format: z.literal(formatName), version: z.literal(formatVersion) }

/** The first entry of a volume. */
export const VolumeRecord = z.object({
  ...FormatFields,
  /** Digest of `sallyport/archive.json`. */
  id: DigestText,
  sequence: z.number().int().positive(),
  /** From 1. */
  volume: z.number().int().positive(),
  /** Checksum of the volume before; null in the first. */
  previous: Hex64.nullable(),
})
export type VolumeRecord = z.infer<typeof VolumeRecord>

/** The last entry of the last volume. */
export const EndRecord = z.object({
  ...FormatFields,
  id: DigestText,
  sequence: z.number().int().positive(),
  volumes: z.number().int().positive(),
  /** Of the last volume, without this record; it stands for all, because each volume names the one before. */
  checksum: Hex64,
  /** How many images and blobs `sallyport/holes.json` names. */
  holes: z.number().int().nonnegative(),
  /** `sum`: the first 16 hex digits of the sha256 of `KEY VALUE`, since without the key nothing else tells a flipped bit. */
  signature: z.object({ key: z.string(), value: z.base64(), sum: z.string() }).optional(),
})
export type EndRecord = z.infer<typeof EndRecord>

/** An image that is wanted at the other side; its content is here, or there already. */
export const ArchiveImage = z.object({
  /** As the configuration or the payload names it. */
  source: z.string(),
  /** Where it goes below the target: `REPOSITORY:TAG`, or `REPOSITORY@DIGEST` for what is attached without a tag. */
  destination: z.string(),
  digest: DigestText,
  class: z.enum(['release', 'operator', 'additional', 'helm']),
  why: z.string(),
  isReleaseImage: z.literal(true).optional(),
  /** An operator catalog: its CatalogSource is written when it arrives. */
  isCatalog: z.literal(true).optional(),
  /** The only platforms of it that are carried, each as `linux/amd64`; absent for all. */
  platforms: z.array(z.string()).optional(),
  /** What this one is a signature or another artifact of. */
  attachedTo: DigestText.optional(),
})
export type ArchiveImage = z.infer<typeof ArchiveImage>

/** An image that was wanted and could not be had. */
const ArchiveHole = z.object({
  source: z.string(),
  destination: z.string(),
  class: ArchiveImage.shape.class,
  code: z.string(),
  message: z.string(),
})
export type ArchiveHole = z.infer<typeof ArchiveHole>

const FileRecord = z.object({ digest: DigestText, size: z.number().int().nonnegative() })

/** What the closed side needs beside images: answers of the update graph, signatures of releases. */
const ArchiveDocument = z.object({
  /** A path without a leading slash: `graph/stable-4.18-amd64.json`, `signatures/sha256-HEX-1`. */
  name: z.string().regex(/^[a-z0-9][\w.+-]*(?:\/[a-z0-9][\w.+-]*)*$/),
  /** What is in it: gzip, then base64. */
  content: z.base64(),
})

/** `sallyport/archive.json`. Its digest is the identity of the archive. */
export const ArchiveRecord = z.object({
  ...FormatFields,
  /** `full` needs nothing at the target; `increment` needs what `parent` and those before it brought; `repair` replaces
   * damaged content of the archive `repairs`. */
  kind: z.enum(['full', 'increment', 'repair']),
  /** Counted in the workspace that makes archives, from 1; those of one target may have gaps. */
  sequence: z.number().int().positive(),
  /** The archive before, for the same target. */
  parent: DigestText.optional(),
  /** Its sequence number. */
  parentSequence: z.number().int().positive().optional(),
  repairs: DigestText.optional(),
  /** How that one ends: its last volume may be lost. */
  repaired: z.object({ volumes: EndRecord.shape.volumes, checksum: EndRecord.shape.checksum }).optional(),
  /** The target this is for: the name it was given, or that of the receipt. Absent: for any. */
  target: z.string().optional(),
  /** Size of every volume but the last. */
  volumeBytes: z.number().int().positive(),
  configuration: z.string(),
  /** Sums of what is carried. */
  totals: z.object({ blobs: z.number().int(), manifests: z.number().int(), bytes: z.number().int() }),
  files: z.object({ blobs: FileRecord, plan: FileRecord }),
  documents: z.array(ArchiveDocument).optional(),
  images: z.array(ArchiveImage),
  /** Wanted, but already missing when the archive was planned; repeated in `sallyport/holes.json`. */
  failed: z.array(ArchiveHole).optional(),
})
export type ArchiveRecord = z.infer<typeof ArchiveRecord>

/** What should be here and is not, in `sallyport/holes.json`. */
export const ArchiveHoles = z.object({
  ...FormatFields,
  images: z.array(ArchiveHole),
  blobs: z.array(DigestText),
})
export type ArchiveHoles = z.infer<typeof ArchiveHoles>
