/**
 * Archives made in memory, one entry after the other, straight from `docs/archive-format.md`: a second implementation of the
 * format, which shares no layout, header or record with the first.
 */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { ArchiveHole, ArchiveImage } from '../src/archive/format/records.ts'
import type { ArchiveSigner } from '../src/archive/format/signature.ts'
import type { Digest } from '../src/oci/digest.ts'
import type { SampleImage } from '../src/quickstart/sample-image.ts'

export interface ArchiveContent {
  readonly digest: Digest
  readonly bytes: Uint8Array
  /** Of a manifest. */
  readonly mediaType?: string
}

export interface ArchiveSample {
  /** In the order in which they lie. */
  readonly carried: readonly ArchiveContent[]
  readonly held?: readonly ArchiveContent[]
  readonly images?: readonly ArchiveImage[]
  readonly volumeBytes?: number
  readonly sequence?: number
  readonly kind?: 'full' | 'increment' | 'repair'
  readonly parent?: Digest
  readonly repairs?: Digest
  readonly target?: string
  readonly configuration?: string
  readonly plan?: string
  /** Of `carried`: zeros are written in their place. */
  readonly holes?: readonly Digest[]
  readonly failed?: readonly ArchiveHole[]
  readonly signer?: ArchiveSigner
  /** Changes the index before its digests are taken, so that all of them are right and the index is not. */
  readonly tamper?: {
    readonly record?: (record: Readonly<Record<string, unknown>>) => object
    readonly table?: (text: string) => string
    readonly end?: (record: Readonly<Record<string, unknown>>) => object
  }
  /** What the file names have after the sequence number: `repair-1f0c…`. */
  readonly part?: string
}

export interface MadeArchive {
  readonly id: Digest
  /** By file name, in order. */
  readonly files: ReadonlyMap<string, Buffer>
}

const format = { format: 'sallyport-archive', version: 1 }

/** What the archive of these images carries: blobs, largest first, then manifests. */
export async function contentOfImages(images: readonly SampleImage[]): Promise<readonly ArchiveContent[]> {
  const blobs = new Map<Digest, ArchiveContent>()
  for (const { descriptor, open } of images.flatMap((image) => image.blobs)) {
    blobs.set(descriptor.digest, { digest: descriptor.digest, bytes: await buffer(open()) })
  }
  const manifests = images
    .flatMap((image) => image.manifests)
    .map(({ descriptor, bytes }): ArchiveContent => {
      return { digest: descriptor.digest, bytes, mediaType: descriptor.mediaType }
    })
  const largestFirst = [...blobs.values()].sort((a, b) => b.bytes.byteLength - a.bytes.byteLength)
  return [...largestFirst, ...new Map(manifests.map((one) => [one.digest, one])).values()]
}

export async function writeSampleArchive(directory: string, sample: ArchiveSample): Promise<MadeArchive> {
  const made = makeArchive(sample)
  for (const [name, bytes] of made.files) await writeFile(join(directory, name), bytes)
  return made
}

export function makeArchive(sample: ArchiveSample): MadeArchive {
  const { carried, held = [], volumeBytes = 1024 * 1024, sequence = 1, holes = [], plan = '{}\n' } = sample
  const planBytes = Buffer.from(plan)
  // Sizes are the same whatever the places are: a first pass finds the places, a second one writes.
  const pass = (places: readonly Place[]): { tape: Tape; id: Digest; places: readonly Place[] } => {
    const lines = [...carried, ...held].map((content, index) => lineOf(content, places[index]))
    const text = lines.join('')
    const table = Buffer.from(sample.tamper?.table?.(text) ?? text, 'latin1')
    const record = recordOf(sample, { table, planBytes })
    const tape = new Tape(volumeBytes, { id: sha256(record), sequence })
    tape.add('sallyport/archive.json', record)
    tape.add('sallyport/blobs.txt', table)
    tape.add('sallyport/plan.json', planBytes)
    const found = carried.map(({ digest, bytes }) => {
      const name = `blobs/${digest.replace(':', '/')}`
      return tape.add(name, bytes, { isHole: holes.includes(digest) })
    })
    return { tape, id: sha256(record), places: found }
  }
  const { tape, id } = pass(pass([]).places)
  close(tape, sample, id)
  const stem = [`sallyport-v1-${String(sequence).padStart(6, '0')}`, sample.part].filter(Boolean).join('-')
  const named = tape.volumes.map((bytes, index): [string, Buffer] => [
    `${stem}-${String(index + 1).padStart(4, '0')}.tar`,
    bytes,
  ])
  return { id, files: new Map(named) }
}

function recordOf(sample: ArchiveSample, { table, planBytes }: { table: Buffer; planBytes: Buffer }): Buffer {
  const { carried, images = [], volumeBytes = 1024 * 1024, sequence = 1, kind = 'full', failed } = sample
  const { parent, repairs, target, configuration = '' } = sample
  const manifests = carried.filter(({ mediaType }) => mediaType !== undefined)
  const header = {
    ...format,
    kind,
    sequence,
    ...(parent && { parent }),
    ...(repairs && { repairs }),
    ...(target !== undefined && { target }),
    volumeBytes,
    configuration,
    ...(failed && { failed }),
    totals: {
      blobs: carried.length - manifests.length,
      manifests: manifests.length,
      bytes: carried.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
    },
    files: {
      blobs: { digest: sha256(table), size: table.byteLength },
      plan: { digest: sha256(planBytes), size: planBytes.byteLength },
    },
  }
  const { images: list = [], ...fields } = (sample.tamper?.record?.({ ...header, images }) ?? {
    ...header,
    images,
  }) as {
    images?: readonly unknown[]
  }
  return withLists(fields, { images: list })
}

function close(tape: Tape, sample: ArchiveSample, id: Digest): void {
  const { carried, images = [], sequence = 1, holes = [], failed = [], signer } = sample
  tape.add('sallyport/holes.json', withLists(format, { images: failed, blobs: holes }))
  tape.add('oci-layout', Buffer.from('{"imageLayoutVersion":"1.0.0"}\n'))
  const manifests = images.flatMap(({ digest, destination }) => {
    const manifest = carried.find((content) => content.digest === digest)
    const isHole = holes.includes(digest) || failed.some((hole) => hole.destination === destination)
    if (!manifest || isHole) return []
    const annotations = { 'org.opencontainers.image.ref.name': destination }
    const { mediaType, bytes } = manifest
    return [{ mediaType, digest, size: bytes.byteLength, ...(!destination.includes('@') && { annotations }) }]
  })
  const unique = [...new Map(manifests.map((one) => [JSON.stringify(one), one])).values()]
  const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json' }
  tape.add('index.json', withLists(index, { manifests: unique }))
  if (tape.room() < 512 + 4096) tape.turn()
  const count = failed.length + holes.length
  const end = { ...format, id, sequence, volumes: tape.volumes.length, checksum: tape.checksum(), holes: count }
  const text = `sallyport-archive-v1\n${id}\n${end.volumes}\n${end.checksum}\n${count}\n`
  const signature = signer?.sign(text)
  const sum = createHash('sha256').update(`${signature?.key} ${signature?.value}`).digest('hex').slice(0, 16)
  const signed = signature ? { ...end, signature: { ...signature, sum } } : end
  tape.end(spaced(sample.tamper?.end?.(signed) ?? signed, 4096))
}

interface Place {
  readonly volume: number
  readonly offset: number
}

/** Volumes that fill up one after the other. */
class Tape {
  readonly volumes: Buffer[] = []
  readonly #size: number
  readonly #header: { readonly id: Digest; readonly sequence: number }
  #current: Buffer[] = []
  #position = 0
  #list = ''

  constructor(size: number, header: { id: Digest; sequence: number }) {
    this.#size = size
    this.#header = header
    this.#begin(null)
  }

  /** Bytes before the two empty blocks at the end. */
  room(): number {
    return this.#size - 1024 - this.#position
  }

  checksum(): string {
    return sha256(Buffer.from(this.#list)).slice('sha256:'.length)
  }

  /** Where the first byte of the content is. */
  add(name: string, bytes: Uint8Array, { isHole = false } = {}): Place {
    const isLarge = bytes.byteLength > 8 ** 11 - 1
    const head = (text: string) => (text.length > 100 || isLarge ? 1536 : 512)
    const part = (number: number) => `parts/${name}/${String(number).padStart(6, '0')}`
    const whole = head(name) + Math.ceil(bytes.byteLength / 512) * 512
    if (whole > this.room() && (bytes.byteLength === 0 || this.room() < head(part(1)) + 512)) this.turn()
    if (whole <= this.room()) return this.#put(name, bytes, { isHole, head: head(name) })
    let first: Place | undefined
    for (let number = 1, start = 0; start < bytes.byteLength; number += 1) {
      if (number > 1) this.turn()
      const piece = bytes.subarray(start, start + this.room() - head(part(number)))
      const place = this.#put(part(number), piece, { isHole, head: head(part(number)) })
      first ??= place
      start += piece.byteLength
    }
    return first ?? { volume: 0, offset: 0 }
  }

  turn(): void {
    this.#append(Buffer.alloc(this.#size - this.#position))
    const checksum = this.checksum()
    this.#seal()
    this.#begin(checksum)
  }

  end(record: Buffer): void {
    this.#append(Buffer.concat([tarHeader('sallyport/end.json', record.byteLength), record, Buffer.alloc(1024)]))
    this.#seal()
  }

  #begin(previous: string | null): void {
    this.#current = []
    this.#position = 0
    this.#list = ''
    // The number is that of the volume now begun.
    this.volumes.push(Buffer.alloc(0))
    const record = { ...format, ...this.#header, volume: this.volumes.length, previous }
    this.#put('sallyport/volume.json', spaced(record, 512), { isHole: false, head: 512 })
  }

  #seal(): void {
    this.volumes[this.volumes.length - 1] = Buffer.concat(this.#current)
  }

  #put(name: string, bytes: Uint8Array, { isHole, head }: { isHole: boolean; head: number }): Place {
    const title = isHole ? `holes/${name}` : name
    this.#append(head === 512 ? tarHeader(title, bytes.byteLength) : paxHeader(title, bytes.byteLength))
    const place = { volume: this.volumes.length, offset: this.#position }
    this.#append(isHole ? Buffer.alloc(bytes.byteLength) : Buffer.from(bytes))
    this.#append(Buffer.alloc((512 - (bytes.byteLength % 512)) % 512))
    this.#list += `${isHole ? '0'.repeat(64) : sha256(bytes).slice('sha256:'.length)}  ${title}\n`
    return place
  }

  #append(bytes: Buffer): void {
    this.#current.push(bytes)
    this.#position += bytes.byteLength
  }
}

function lineOf({ digest, bytes, mediaType = '-' }: ArchiveContent, place: Place = { volume: 0, offset: 0 }): string {
  const size = String(bytes.byteLength).padStart(15, '0')
  const volume = String(place.volume).padStart(9, '0')
  return `${digest} ${size} ${volume} ${String(place.offset).padStart(15, '0')} ${mediaType}\n`
}

/** One object a line in each list. */
function withLists(fields: object, lists: Readonly<Record<string, readonly unknown[]>>): Buffer {
  const rendered = Object.entries(lists).map(
    ([name, items]) => `"${name}":[\n${items.map((item) => JSON.stringify(item)).join(',\n')}\n]`,
  )
  return Buffer.from(`${JSON.stringify(fields).slice(0, -1)},${rendered.join(',')}}\n`)
}

function spaced(record: object, size: number): Buffer {
  return Buffer.from(`${JSON.stringify(record).padEnd(size - 1)}\n`)
}

function sha256(bytes: Uint8Array): Digest {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

function tarHeader(name: string, size: number, type = '0'): Buffer {
  const octal = Math.min(size, 8 ** 11 - 1)
    .toString(8)
    .padStart(11, '0')
  const fields = [
    name.slice(0, 100).padEnd(100, '\0'),
    '0000644\0',
    '0000000\0',
    '0000000\0',
    `${octal}\0`,
    '00000000000\0',
  ]
  const before = fields.join('')
  const after = `${type}${'\0'.repeat(100)}ustar\u000000`.padEnd(512 - 156, '\0')
  const sum = [...`${before}${' '.repeat(8)}${after}`].reduce((total, char) => total + char.charCodeAt(0), 0)
  return Buffer.from(`${before}${sum.toString(8).padStart(6, '0')}\0 ${after}`, 'latin1')
}

function paxHeader(name: string, size: number): Buffer {
  const line = (text: string) => {
    const length = [1, 2, 3]
      .map((digits) => digits + text.length)
      .find((total, index) => String(total).length === index + 1)
    return `${length}${text}`
  }
  const records = Buffer.from(`${line(` path=${name}\n`)}${line(` size=${size}\n`)}`)
  const filled = Buffer.concat([records, Buffer.alloc(512 - records.byteLength)])
  return Buffer.concat([tarHeader('PaxHeader', records.byteLength, 'x'), filled, tarHeader(name, size)])
}
