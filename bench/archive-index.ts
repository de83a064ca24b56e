/**
 * How long it takes to open an archive whose index names 200,000 blobs, and what memory that takes.
 *
 * `node bench/archive-index.ts [BLOBS]`. The archive is made in a temporary directory; its content is left out: the files are
 * sparse.
 */
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { frontEntries, layoutAfter } from '../src/archive/format/archive-index.ts'
import { closingEntries, endRecord, holesOf, volumeRecord } from '../src/archive/format/closing-entries.ts'
import { type ArchiveFront, composeFront } from '../src/archive/format/compose-front.ts'
import { entryNames, sizes } from '../src/archive/format/format.ts'
import { Layout, type LayoutEntry, type Segment } from '../src/archive/format/layout.ts'
import type { ArchiveImage } from '../src/archive/format/records.ts'
import { volumeName } from '../src/archive/format/volume-names.ts'
import { findArchives } from '../src/archive/read/find-archives.ts'
import { openArchive } from '../src/archive/read/read-archive.ts'
import { fileHeader } from '../src/archive/tar/ustar.ts'
import { digestOf } from '../src/oci/digest.ts'
import { measure } from './measure.ts'

const runs = 5
const volumeBytes = 4 * 1024 ** 3
const plan = '{}\n'

function frontOf(count: number): ArchiveFront {
  const mediaType = 'application/vnd.oci.image.manifest.v1+json'
  const manifests = Array.from({ length: Math.ceil(count / 10) }, (_, index) => {
    return { digest: digestOf(`manifest ${index}`), size: 1500, mediaType }
  })
  const blobs = Array.from({ length: count - manifests.length }, (_, index) => {
    return { digest: digestOf(`blob ${index}`), size: 5_000_000 - index * 20 }
  })
  const images = manifests.map(({ digest }, index): ArchiveImage => {
    const source = `quay.io/openshift-release-dev/ocp-v4.0-art-dev@${digest}`
    const destination = `openshift/release:4.18.9-x86_64-component-${index}`
    return { source, destination, digest, class: 'release', why: `component ${index} of release 4.18.9` }
  })
  const carried = [...blobs.filter(({ size }) => size > 0), ...manifests]
  const header = { kind: 'full', sequence: 1, volumeBytes, configuration: '' } as const
  return composeFront({ ...header, images, carried, held: [], plan: () => [plan] })
}

/** Writes what is not content; what would be is a hole in the file. */
class SparseArchive {
  readonly #directory: string
  readonly #files: FileHandle[] = []

  constructor(directory: string) {
    this.#directory = directory
  }

  async write(front: ArchiveFront): Promise<void> {
    const { record, recordBytes, blobsBytes } = front
    const first = new Layout(record.volumeBytes)
    const bytes = [recordBytes, blobsBytes, Buffer.from(plan)]
    const entries = frontEntries(recordBytes.byteLength, { blobs: blobsBytes.byteLength, plan: plan.length })
    for (const [index, entry] of entries.entries()) await this.#put(first.place(entry), bytes[index] ?? Buffer.alloc(0))
    const layout = layoutAfter(front, recordBytes.byteLength)
    const holes = holesOf(front, [], [])
    for (const { name, bytes: content } of closingEntries(front, holes)) {
      await this.#put(layout.place({ name, size: content.byteLength }), content)
    }
    const end: LayoutEntry = { name: entryNames.end, size: sizes.endRecord, isWhole: true }
    const segments = layout.place(end)
    const checksum = '0'.repeat(64)
    await this.#put(segments, endRecord(front, { volumes: layout.volume, checksum, holes }))
    for (let volume = 1; volume <= layout.volume; volume += 1) {
      const file = await this.#file(volume)
      const header = fileHeader(entryNames.volume, sizes.volumeRecord, { pax: false })
      await file.write(
        Buffer.concat([header, volumeRecord(front, volume, volume > 1 ? checksum : null)]),
        0,
        undefined,
        0,
      )
      await file.truncate(volume < layout.volume ? record.volumeBytes : layout.position + sizes.tarEnd)
      await file.close()
    }
  }

  async #put(segments: readonly Segment[], content: Uint8Array): Promise<void> {
    for (const { volume, name, headerOffset, start, length } of segments) {
      const header = fileHeader(name, length, { pax: false })
      const file = await this.#file(volume)
      await file.write(Buffer.concat([header, content.subarray(start, start + length)]), 0, undefined, headerOffset)
    }
  }

  async #file(volume: number): Promise<FileHandle> {
    this.#files[volume] ??= await open(join(this.#directory, volumeName('sallyport-v1-000001', volume)), 'w')
    return this.#files[volume]
  }
}

async function openOnce(directory: string): Promise<{ milliseconds: number; blobs: number; images: number }> {
  const startedAt = performance.now()
  const [found] = await findArchives(directory)
  if (!found) throw new Error(`no archive in ${directory}`)
  const archive = await openArchive(found)
  const milliseconds = performance.now() - startedAt
  await archive.close()
  return { milliseconds, blobs: archive.blobs.size, images: archive.record.images.length }
}

async function compare(count: number): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  try {
    await new SparseArchive(directory).write(frontOf(count))
    for (let run = 0; run < runs; run += 1) {
      const { wallSeconds, peakMiB, failure } = await measure([process.execPath, script, '--open', directory])
      if (failure !== undefined) throw new Error(failure)
      process.stdout.write(`process ${wallSeconds.toFixed(2)} s, peak ${peakMiB.toFixed(0)} MiB\n`)
    }
    const { milliseconds, blobs, images } = await openOnce(directory)
    process.stdout.write(`${blobs} blobs, ${images} images: opened in ${milliseconds.toFixed(0)} ms\n`)
  } finally {
    await rm(directory, { recursive: true })
  }
}

const script = fileURLToPath(import.meta.url)
const [mode = '200000', directory = ''] = process.argv.slice(2)
if (mode === '--open') process.stdout.write(`${(await openOnce(directory)).milliseconds.toFixed(0)} ms\n`)
else await compare(Number(mode))
