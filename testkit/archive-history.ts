/** Archives as a workspace records them, made of names instead of bytes. */

import { composeFront } from '../src/archive/format/compose-front.ts'
import type { ArchiveImage, ArchiveRecord } from '../src/archive/format/records.ts'
import type { ArchiveToRecord } from '../src/archive/history/archive-history.ts'
import { type Digest, digestOf } from '../src/oci/digest.ts'

export interface SampleImage {
  readonly name: string
  /** Names of its blobs. */
  readonly blobs: readonly string[]
  /** Names of signatures that come with it. */
  readonly signatures?: readonly string[]
}

export interface SampleArchive {
  readonly sequence: number
  readonly images: readonly SampleImage[]
  readonly kind?: ArchiveRecord['kind']
  readonly parent?: Digest
  readonly target?: string
  /** Names of blobs that the other side holds; manifests are carried always. */
  readonly held?: readonly string[]
  readonly missing?: readonly Digest[]
  readonly recordedAt?: string
}

export interface RecordedSample extends ArchiveToRecord {
  readonly id: Digest
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json'

/** The digest that stands for a blob of this name. */
export function blobNamed(name: string): Digest {
  return digestOf(`blob ${name}`)
}

export function manifestNamed(name: string): Digest {
  return digestOf(`manifest ${name}`)
}

export function sampleArchive(sample: SampleArchive): RecordedSample {
  const { sequence, kind = sequence === 1 ? 'full' : 'increment', parent, target } = sample
  const content = contentOf(sample)
  const text = planText(content.manifests)
  const front = composeFront({
    ...{ kind, sequence, volumeBytes: 1024 * 1024, configuration: 'kind: ImageSetConfiguration\n' },
    ...{ images: content.images, carried: content.carried, held: content.held, plan: () => [text] },
    ...(parent !== undefined && { parent }),
    ...(target !== undefined && { target }),
  })
  return {
    id: front.id,
    front,
    plan: [text],
    end: { volumes: 1, checksum: '0'.repeat(64) },
    missing: sample.missing ?? [],
    recordedAt: sample.recordedAt ?? `2026-11-${String(sequence).padStart(2, '0')}T00:00:00.000Z`,
  }
}

function contentOf({ images, held = [] }: SampleArchive) {
  const heldHere = new Set(held.map(blobNamed))
  const all = images.flatMap((image) => [image, ...signaturesOf(image)])
  const blobs = [...new Set(all.flatMap((image) => image.blobs.map(blobNamed)))].map((digest) => ({
    digest,
    size: 1000,
  }))
  const manifests = all.map(({ name, blobs: names }) => ({ digest: manifestNamed(name), needs: names.map(blobNamed) }))
  const documents = manifests.map(({ digest }) => ({ digest, size: 500, mediaType: manifestType }))
  return {
    images: images.flatMap(recordsOf),
    carried: [...blobs.filter(({ digest }) => !heldHere.has(digest)), ...documents],
    held: blobs.filter(({ digest }) => heldHere.has(digest)),
    manifests,
  }
}

function signaturesOf({ signatures = [] }: SampleImage): SampleImage[] {
  return signatures.map((name) => ({ name, blobs: [`of ${name}`] }))
}

function recordsOf(image: SampleImage): ArchiveImage[] {
  const digest = manifestNamed(image.name)
  const record = (name: string): ArchiveImage => ({
    ...{ source: `quay.io/sample/${name}:1`, destination: `sample/${name}:1`, digest: manifestNamed(name) },
    ...{ class: 'additional', why: 'asked for' },
  })
  const attached = (image.signatures ?? []).map((name) => ({ ...record(name), attachedTo: digest }))
  return [record(image.name), ...attached]
}

function planText(manifests: readonly { digest: Digest; needs: readonly Digest[] }[]): string {
  const lines = manifests.map((manifest) => JSON.stringify({ ...manifest, size: 500, mediaType: manifestType }))
  return `{"version":1,"target":"archive.invalid",\n"totals":{},\n"images":[\n],\n"blobs":[\n],\n"manifests":[\n${lines.join(',\n')}\n]\n}\n`
}
