/** The catalog image that was made last, kept with its blobs: what was made of the same is not made again. */
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { parsedJson } from '../errors/parsed-json.ts'
import type { FetchBlobOptions, RawManifest } from '../oci/content.ts'
import { type Digest, hexOf } from '../oci/digest.ts'
import { digestText } from '../oci/digest-text.ts'
import { KeptManifest, keptManifest, rawManifest } from '../oci/kept-manifest.ts'
import { ifThere } from '../store/presence.ts'
import { writeFlushed } from '../store/staged-write.ts'
import { isIntact, openBlob } from './rebuild-layer.ts'

const Kept = z.object({
  version: z.literal(1),
  /** What the image was made of. */
  inputs: digestText(),
  /** The image itself last. */
  manifests: z.array(KeptManifest).min(1),
  blobs: z.array(digestText()),
})

export interface KeptCatalogImage {
  readonly manifests: readonly RawManifest[]
  readonly blobs: ReadonlyMap<Digest, (options: FetchBlobOptions) => AsyncIterable<Uint8Array>>
}

interface FreshImage {
  readonly inputs: Digest
  readonly manifests: readonly RawManifest[]
  /** They are in the directory. */
  readonly blobs: ReadonlySet<Digest>
}

const recordName = 'image.json'

/** Keeps an image whose blobs are in `directory`, in place of the one before. */
export async function keepImage(
  directory: string,
  { inputs, manifests, blobs }: FreshImage,
): Promise<KeptCatalogImage> {
  const kept: z.input<typeof Kept> = {
    version: 1,
    inputs,
    manifests: manifests.map(keptManifest),
    blobs: [...blobs],
  }
  await writeFlushed(join(directory, recordName), `${JSON.stringify(kept)}\n`)
  const current = new Set([...blobs].map(hexOf))
  for (const name of await readdir(join(directory, 'blobs')))
    if (!current.has(name)) await rm(join(directory, 'blobs', name), { force: true })
  return { manifests, blobs: openAll(directory, [...blobs]) }
}

/**
 * The image that is kept; undefined where there is none, or not all of it is there.
 *
 * @param inputs what it has to be made of; absent for whatever it is
 */
export async function readKeptImage(directory: string, inputs?: Digest): Promise<KeptCatalogImage | undefined> {
  const kept = await readRecord(join(directory, recordName))
  if (!kept || (inputs !== undefined && kept.inputs !== inputs)) return undefined
  for (const digest of kept.blobs) if (!(await isIntact(directory, digest))) return undefined
  return {
    manifests: kept.manifests.map(rawManifest),
    blobs: openAll(directory, kept.blobs),
  }
}

/** What cannot be read is as good as absent: the image is made anew. */
async function readRecord(path: string): Promise<z.infer<typeof Kept> | undefined> {
  const bytes = await ifThere(readFile(path))
  return bytes && Kept.safeParse(parsedJson(bytes)).data
}

function openAll(directory: string, digests: readonly Digest[]) {
  return new Map(digests.map((digest) => [digest, openBlob(directory, digest)]))
}
