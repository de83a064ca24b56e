/**
 * Images that were made here, kept in the workspace: a run that goes on where another stopped needs the very bytes that the
 * plan names, whatever has become of what they were made from.
 */
import { createReadStream } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { parsedJson } from '../errors/parsed-json.ts'
import { type Digest, hexOf } from '../oci/digest.ts'
import { digestText } from '../oci/digest-text.ts'
import { KeptManifest, keptManifest, rawManifest } from '../oci/kept-manifest.ts'
import { formatReference, parseReference } from '../oci/reference.ts'
import { sizeIfThere } from '../store/presence.ts'
import type { MadeImage, OpenMadeBlob } from './made-content.ts'
import { readIfPresent, writeIfChanged, writeWhole } from './workspace.ts'

const Kept = z.object({
  version: z.literal(1),
  reference: z.string(),
  base: z.string().optional(),
  /** The image itself last. */
  manifests: z.array(KeptManifest).min(1),
  blobs: z.array(z.object({ digest: digestText(), size: z.int() })),
})

/** An image with the bytes of its blobs at hand. */
export interface FreshImage extends Omit<MadeImage, 'blobs'> {
  readonly blobs: ReadonlyMap<Digest, Uint8Array>
}

/** Keeps an image in `directory`, in place of the one that is there. */
export async function keepMadeImage(directory: string, image: FreshImage): Promise<MadeImage> {
  const { reference, base, manifests, blobs } = image
  for (const [digest, bytes] of blobs) {
    const path = blobPath(directory, digest)
    // A disk can return other bytes than were written: what is there is not believed for its name.
    if (!(await holds(path, bytes))) await writeWhole(path, bytes)
  }
  const kept: z.input<typeof Kept> = {
    version: 1,
    reference: formatReference(reference),
    ...(base && { base: formatReference(base) }),
    manifests: manifests.map(keptManifest),
    blobs: [...blobs].map(([digest, { byteLength }]) => ({ digest, size: byteLength })),
  }
  await writeIfChanged(join(directory, 'image.json'), `${JSON.stringify(kept)}\n`)
  const current = new Set([...blobs.keys()].map(hexOf))
  for (const name of await readdir(join(directory, 'blobs')))
    if (!current.has(name)) await rm(join(directory, 'blobs', name), { force: true })
  return { ...image, blobs: openBlobs(directory, [...blobs.keys()]) }
}

/** The image that was kept in `directory`; undefined where there is none, or not all of it. */
export async function readMadeImage(directory: string): Promise<MadeImage | undefined> {
  const text = await readIfPresent(join(directory, 'image.json'))
  // What cannot be read is as good as absent: it is made anew.
  const parsed = text === undefined ? undefined : Kept.safeParse(parsedJson(text)).data
  if (!parsed) return undefined
  const { reference, base, manifests, blobs } = parsed
  const sizes = await Promise.all(blobs.map(({ digest }) => sizeIfThere(blobPath(directory, digest))))
  if (blobs.some(({ size }, index) => sizes[index] !== size)) return undefined
  return {
    reference: parseReference(reference),
    manifests: manifests.map(rawManifest),
    blobs: openBlobs(
      directory,
      blobs.map(({ digest }) => digest),
    ),
    ...(base !== undefined && { base: parseReference(base) }),
  }
}

function openBlobs(directory: string, digests: readonly Digest[]): ReadonlyMap<Digest, OpenMadeBlob> {
  const open = (digest: Digest): OpenMadeBlob => {
    return ({ offset = 0 }) => createReadStream(blobPath(directory, digest), { start: offset })
  }
  return new Map(digests.map((digest) => [digest, open(digest)]))
}

function blobPath(directory: string, digest: Digest): string {
  return join(directory, 'blobs', hexOf(digest))
}

async function holds(path: string, bytes: Uint8Array): Promise<boolean> {
  if ((await sizeIfThere(path)) !== bytes.byteLength) return false
  return (await readFile(path)).equals(bytes)
}
