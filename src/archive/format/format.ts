/**
 * What an archive is made of: names, sizes, and the documents in it. `docs/archive-format.md` says it for other readers.
 *
 * An archive is a sequence of volumes. Each volume is a plain tar file; together they are one OCI image layout, with an
 * index in front and an end record at the end.
 */
export const formatName = 'sallyport-archive'
export const formatVersion = 1

/** Entries that are not content. */
export const entryNames = {
  volume: 'sallyport/volume.json',
  archive: 'sallyport/archive.json',
  blobs: 'sallyport/blobs.txt',
  plan: 'sallyport/plan.json',
  holes: 'sallyport/holes.json',
  layout: 'oci-layout',
  index: 'index.json',
  end: 'sallyport/end.json',
} as const

/** Sizes in bytes that a reader may rely on. */
export const sizes = {
  tarBlock: 512,
  /** Content of `sallyport/volume.json`. */
  volumeRecord: 512,
  /** Content of `sallyport/end.json`. */
  endRecord: 4096,
  /** The two empty blocks that close a tar. */
  tarEnd: 1024,
  /** A smaller volume would hold little but headers. */
  smallestVolume: 1024 * 1024,
} as const

/** JSON of exactly `size` bytes: spaces before the closing line feed. */
export function fixedJson(value: object, size: number): Buffer {
  const text = JSON.stringify(value)
  const padding = size - 1 - Buffer.byteLength(text)
  if (padding < 0) throw new RangeError(`the record has ${Buffer.byteLength(text)} bytes, more than ${size - 1}`)
  return Buffer.from(`${text}${' '.repeat(padding)}\n`)
}
